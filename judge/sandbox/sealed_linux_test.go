package sandbox_test

import (
	"strings"
	"testing"

	"judgefarm/judge/sandbox"
)

// sealedScript tries to change a sealed work directory in every way that needs no
// program of its own, and prints what worked.
const sealedScript = `
cd /work
try() { "$@" 2>/dev/null && echo "worked: $*"; }
write() { echo other > "$1"; }
try write new
try write /proc/self/cwd/new
try write kept
try write sub/kept
exec 3<kept
try write /proc/self/fd/3
try truncate -s 0 kept
try mkdir d
try mkfifo p
try ln -s kept l
try ln kept hard
try cp kept /work/sub/copy
try rm kept
try rm open
try rmdir sub/empty
try mv kept other
try mv open other
try mv sub other
echo t > /tmp/t && echo "may use the other"
try ln /tmp/t hard
try mv /tmp/t moved
try mv /tmp/t open
try umount /work
try umount open
try mount -o remount,rw /work
ls | tr '\n' ' '
cat kept sub/kept
echo through > open && cat open
`

const sealedWant = "may use the other\nkept open sub kept\nkept too\nthrough\n"

func sealedSpec(t *testing.T) sandbox.Spec {
	spec := deed(t)
	spec.Args = []string{"/bin/bash", "-c", sealedScript}
	spec.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}
	spec.Stderr.Merge = true
	spec.Sealed = true
	spec.Files = []sandbox.File{
		{Name: "kept", Data: []byte("kept\n")}, {Name: "sub/kept", Data: []byte("kept too\n"), Mode: 0o666}, {Name: "open", Open: true},
	}
	spec.Collect = []sandbox.Collect{{Name: "open", Max: 100}, {Name: "kept", Max: 100}}
	return spec
}

func checkSealed(t *testing.T, rep *sandbox.Report) {
	t.Helper()
	if got := string(rep.Stdout.Data); got != sealedWant {
		t.Errorf("printed %q, want %q", got, sealedWant)
	}
	for i, want := range []string{"through\n", "kept\n"} {
		if f := rep.Files[i]; f.Err != nil || string(f.Data) != want {
			t.Errorf("%s: %q, %v, want %q", f.Name, f.Data, f.Err, want)
		}
	}
}

func TestSealedWorkDirectory(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{})
	checkSealed(t, run(t, s, sealedSpec(t)))
}

// Without namespaces it is Landlock's to hold; mounts cannot be told there.
func TestTracedSealed(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 0)
	checkSealed(t, runTraced(t, s, sealedSpec(t)))
}

func TestSealedLeavesFewOpen(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{})
	spec := deed(t, "exit", "0")
	spec.Sealed = true
	for _, name := range strings.Split("abcdefghijklmnop", "") {
		spec.Files = append(spec.Files, sandbox.File{Name: name, Open: true})
	}
	want(t, run(t, s, spec), sandbox.CauseExit)
	spec.Files = append(spec.Files, sandbox.File{Name: "q", Open: true})
	if _, err := s.Run(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "at most 16 that are open, are 17") {
		t.Errorf("error %v, want one that names the bound", err)
	}
}
