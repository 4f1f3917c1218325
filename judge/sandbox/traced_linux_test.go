package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// newTraced makes a runner of the level ptrace and checks at the end that nothing of it
// is left. It skips where the kernel has no Landlock, which the level needs: in user-mode
// Linux, whose script names the tests that do.
func newTraced(t testing.TB, slots int) *sandbox.Traced {
	t.Helper()
	base := 1<<20 + os.Getpid()%4096<<16 + int(bases.Add(64))
	s, err := sandbox.Open(sandbox.Config{Isolation: sandbox.Ptrace, Slots: slots, UIDBase: base})
	if err != nil {
		if strings.Contains(err.Error(), "Landlock: none") {
			t.Skipf("missing: %v", err)
		}
		t.Fatal(err)
	}
	traced := s.(*sandbox.Traced)
	t.Cleanup(func() {
		_, dir := traced.Traces()
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("directory %s is left after Close", dir)
		}
	})
	return traced
}

// runTraced is run for the level ptrace.
func runTraced(t testing.TB, s *sandbox.Traced, spec sandbox.Spec) *sandbox.Report {
	t.Helper()
	rep, err := s.Run(t.Context(), spec)
	if err != nil {
		t.Fatalf("run %q: %v", spec.Args, err)
	}
	untraced(t, s)
	return rep
}

// untraced checks that no process and no file of a run is left.
func untraced(t testing.TB, s *sandbox.Traced) {
	t.Helper()
	uids, dir := s.Traces()
	left, err := sandboxtest.Left(uids)
	files, ferr := filepath.Glob(dir + "/run*")
	if err = errors.Join(err, ferr); err != nil || len(left)+len(files) > 0 {
		t.Errorf("left of runs: %v %v, %v", left, files, err)
	}
}

func TestTracedRunner(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(t *testing.T) sandbox.Runner { return newTraced(t, 0) })
}

// tracedDiffers says where the level ends an attack otherwise than a full box, and why.
// Every other row of the table ends as there.
var tracedDiffers = map[string]struct {
	why   string
	cause []sandbox.Cause
	check func(*testing.T, *sandbox.Report)
}{
	"D07 fork bomb": {
		why:   "each refused fork is a stop of the tracer, which waits more than it works: the bomb is over, or out of wall time, before its CPU limit",
		cause: []sandbox.Cause{sandbox.CauseExit, sandbox.CauseCPU, sandbox.CauseWall},
		check: func(t *testing.T, rep *sandbox.Report) {
			if rep.Evidence.ForksRefused == 0 || rep.Evidence.TasksPeak > 64 {
				t.Errorf("evidence %+v", rep.Evidence)
			}
		},
	},
	"D08 crowd": {
		why: "memory is sampled", cause: []sandbox.Cause{sandbox.CauseMemory},
		check: func(t *testing.T, rep *sandbox.Report) {
			if rep.Memory < 200*judge.MiB || rep.Evidence.KilledBy != "memory" {
				t.Errorf("peak %d, %+v", rep.Memory, rep.Evidence)
			}
		},
	},
	"D09 hog":        {why: "memory is sampled", cause: []sandbox.Cause{sandbox.CauseMemory}},
	"D10 shared hog": {why: "memory is sampled", cause: []sandbox.Cause{sandbox.CauseMemory}},
	"D11 fills /dev/shm": {
		why: "there is no /dev/shm", cause: []sandbox.Cause{sandbox.CauseExit},
		check: func(t *testing.T, rep *sandbox.Report) {
			if rep.Exit == 0 {
				t.Error("it wrote to /dev/shm")
			}
		},
	},
	"D11 fills /tmp": {
		why: "the program's own path /tmp is not rewritten in its memory, only in its arguments; disk use is sampled, and over the limit the run ends", cause: []sandbox.Cause{sandbox.CauseFileSize},
		check: func(t *testing.T, rep *sandbox.Report) {
			if rep.Evidence.KilledBy != "disk" {
				t.Errorf("%+v", rep.Evidence)
			}
		},
	},
	"D12 shared memory segments": {why: "there is no System V IPC", cause: []sandbox.Cause{sandbox.CauseExit},
		check: func(t *testing.T, rep *sandbox.Report) {
			if rep.Exit == 0 {
				t.Error("it had segments")
			}
		}},
	"D17 many files": {why: "files are counted by sampling, and too many end the run", cause: []sandbox.Cause{sandbox.CauseFileSize}},
	"D30 sockets":    {why: "there are no sockets but pairs", cause: []sandbox.Cause{sandbox.CauseExit}},
	"D33 system calls": {
		why: "without a user namespace uid 0 exists, and Landlock may refuse a device node before the kernel does", cause: []sandbox.Cause{sandbox.CauseExit},
		check: func(t *testing.T, rep *sandbox.Report) {
			if got := string(rep.Stdout.Data); strings.TrimSuffix(got, "device node: -1 Permission denied\n") != "setuid 0: -1 Operation not permitted\n" {
				t.Errorf("not refused as they should be:\n%s", got)
			}
		},
	},
}

func TestTracedAttacks(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	for _, a := range attacks {
		name := a.id + " " + a.name
		t.Run(name, func(t *testing.T) {
			spec := deed(t, a.args...)
			if a.cause == sandbox.CauseCPU {
				spec.Limits.CPU = time.Second
			}
			if a.change != nil {
				a.change(&spec)
			}
			differs, ok := tracedDiffers[name]
			if !ok {
				differs.cause, differs.check = []sandbox.Cause{a.cause}, a.check
			}
			rep := runTraced(t, s, spec)
			for _, c := range differs.cause {
				if rep.Cause == c {
					if differs.check != nil {
						differs.check(t, rep)
					}
					return
				}
			}
			want(t, rep, differs.cause[0])
		})
	}
}

// Nothing that is not the program's can be reached, though its user is the same.
func TestTracedReachesNothing(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	uids, _ := s.Traces()
	dir := t.TempDir()
	file, sock := filepath.Join(dir, "file"), filepath.Join(dir, "sock")
	if err := os.WriteFile(file, []byte("theirs"), 0o640); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// A process of the same user: ourselves, or as root one of the slot's.
	other := exec.Command("/bin/sleep", "300")
	for uid := range uids {
		other = exec.Command("/usr/bin/setpriv", "--reuid", strconv.Itoa(uid), "--clear-groups", "/bin/sleep", "300")
		for _, p := range []string{file, dir, sock} {
			if err := os.Chown(p, uid, uid); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Process.Kill()
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := s.Run(t.Context(), deed(t, "outside", strconv.Itoa(other.Process.Pid), file, sock))
	if err != nil {
		t.Fatal(err)
	}
	want(t, rep, sandbox.CauseExit)
	if len(rep.Stdout.Data) != 0 {
		t.Errorf("it could:\n%s", rep.Stdout.Data)
	}
	after, err := os.Stat(file)
	if err != nil || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) || after.Size() != 6 {
		t.Errorf("the file changed: %+v, %v", after, err)
	}
}

// What is the program's own works.
func TestTracedOwn(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	rep := runTraced(t, s, deed(t, "inside"))
	want(t, rep, sandbox.CauseExit)
	if len(rep.Stderr.Data) != 0 {
		t.Errorf("it could not:\n%s", rep.Stderr.Data)
	}
	spec := deed(t)
	spec.Args = []string{"/bin/sh", "-c", "cat $HOME/in /work/in; pwd; echo $TMPDIR; mkdir -p d/e && chmod 000 d; echo x > /tmp/y && cat /tmp/y"}
	spec.Env = append(spec.Env, "HOME=/work", "TMPDIR=/tmp")
	spec.Files = []sandbox.File{{Name: "in", Data: []byte("in\n")}}
	rep = runTraced(t, s, spec)
	lines := strings.Fields(string(rep.Stdout.Data))
	if len(lines) != 5 || lines[0] != "in" || lines[1] != "in" || lines[4] != "x" || !strings.HasSuffix(lines[2], "/work") || filepath.Dir(lines[2]) != filepath.Dir(lines[3]) {
		t.Errorf("paths: %q, %q", rep.Stdout.Data, rep.Stderr.Data)
	}
}

// CPU time is that of every process, wherever it went.
func TestTracedCPU(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	for _, args := range [][]string{{"self", "200"}, {"threads", "4", "50"}, {"children", "2", "100"}} {
		rep := runTraced(t, s, exact(t, args...))
		want(t, rep, sandbox.CauseExit)
		if used := told(t, rep.Stdout.Data); rep.CPU < used || rep.CPU > used+50*slow*time.Millisecond {
			t.Errorf("%v: %v of CPU, want the %v that it used itself and its start", args, rep.CPU, used)
		}
	}
	spec := deed(t)
	spec.Args = []string{"/bin/sh", "-c", "for i in 1 2; do setsid /exe/deeds spin 100 & done; wait; setsid sh -c 'exec /exe/deeds spin 100'"}
	rep := runTraced(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if rep.CPU < 295*time.Millisecond || rep.CPU > 400*slow*time.Millisecond {
		t.Errorf("three processes: %v of CPU, want 300 ms", rep.CPU)
	}
}

func TestTracedRefuses(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	for field, change := range map[string]func(*sandbox.Spec){
		"root":      func(p *sandbox.Spec) { p.Root = "/usr" },
		"dir":       func(p *sandbox.Spec) { p.Dir = "/no/such" },
		"files":     func(p *sandbox.Spec) { p.Files = []sandbox.File{{Name: "x", Data: make([]byte, 65<<20)}} },
		"box.cpus":  func(p *sandbox.Spec) { p.Box.CPUs = []int{1000} },
		"mounts[0]": func(p *sandbox.Spec) { p.Mounts = []sandbox.Mount{{Source: "/no/such", Target: "/exe"}} },
	} {
		spec := deed(t, "exit", "0")
		change(&spec)
		if _, err := s.Run(t.Context(), spec); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), field+":") {
			t.Errorf("%s: %v, want a bad request that names it", field, err)
		}
	}
	untraced(t, s)
	strict := deed(t, "exit", "0")
	strict.Limits.Ptrace = true
	if _, err := s.Run(t.Context(), strict); !errors.Is(err, sandbox.ErrHost) || !strings.Contains(err.Error(), "limits.ptrace") {
		t.Errorf("strict mode: %v, want an error of the host", err)
	}
	spec := deed(t)
	spec.Files = []sandbox.File{{Name: "text", Data: []byte("no program"), Mode: 0o755}, {Name: "locked", Data: []byte("#!/bin/sh\n")}}
	for name, wantErr := range map[string]string{
		"/work/text": "exec format error", "/work/locked": "permission denied", "/work": "permission denied",
		"/work/none": "no such file or directory",
	} {
		spec.Args = []string{name}
		rep := runTraced(t, s, spec)
		want(t, rep, sandbox.CauseExec)
		if rep.Evidence.ExecError != wantErr {
			t.Errorf("%s: %q, want %q", name, rep.Evidence.ExecError, wantErr)
		}
	}
}

// tracedOrphanArg makes this test binary a worker of the level that is to be killed.
const tracedOrphanArg = "judgefarm-test-traced-orphan"

func tracedOrphan() {
	s, err := sandbox.Open(sandbox.Config{Isolation: sandbox.Ptrace, Slots: 1})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(2)
	}
	_, dir := s.(*sandbox.Traced).Traces()
	fmt.Println(dir)
	_, err = s.Run(context.Background(), sandbox.Spec{
		Args: []string{"/bin/sh", "-c", "(setsid sleep 600 &) ; echo runs; exec sleep 600"}, Env: []string{sandboxtest.Path},
		Limits: sandboxtest.Limits(), Stdout: sandbox.Stream{File: os.Stdout},
	})
	fmt.Println("error: ended", err)
	os.Exit(3)
}

// A worker that is killed in the middle takes its programs with it, and the next one
// removes its files.
func TestTracedKilledWorker(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1) // or skips
	cmd := exec.Command("/proc/self/exe", tracedOrphanArg)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	dir := ""
	for lines.Scan() && lines.Text() != "runs" {
		if strings.HasPrefix(lines.Text(), "error:") {
			t.Fatal(lines.Text())
		}
		dir = lines.Text()
	}
	if _, err := os.Stat(dir); dir == "" || err != nil {
		t.Fatalf("directory of the worker %q: %v", dir, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The pipe ends when the last process that holds it is dead.
	dead := make(chan struct{})
	go func() {
		for lines.Scan() {
		}
		close(dead)
	}()
	select {
	case <-dead:
	case <-time.After(10 * slow * time.Second):
		t.Fatal("processes of the killed worker live on")
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the worker ended by itself")
	}
	_, living := s.Traces()
	newTraced(t, 1)
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("directory %s of the dead worker is left", dir)
	}
	if _, err := os.Stat(living); err != nil {
		t.Errorf("the directory of a living worker: %v", err)
	}
}

// An ordinary user has the level too, without namespaces, cgroups or capabilities.
func TestTracedOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root, to become an ordinary user")
	}
	newTraced(t, 1) // or skips
	uid := 1<<20 + os.Getpid()%4096<<16 + int(bases.Add(64))
	dir, err := os.MkdirTemp("", "judgefarm-ordinary")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(os.Chown(dir, uid, uid), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := copyFile(binary, dir+"/test"); err != nil { // its own directory may be root's
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/usr/bin/setpriv", "--reuid", strconv.Itoa(uid), "--regid", strconv.Itoa(uid), "--clear-groups",
		"--bounding-set", "-all", "--inh-caps", "-all", dir+"/test", "-test.v", "-test.timeout", fmt.Sprint(240*slow*time.Second),
		"-test.run", "^(TestTracedRunner|TestTracedReachesNothing|TestTracedOwn|TestTracedCPU|TestTracedRefuses|TestTracedKilledWorker|TestTracedDiskHidden|TestTracedDiskHeld|TestTracedNestedDeep|TestTracedLinks|TestTracedCopies)$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "JUDGEFARM_TEST_DEEDS="+deedsDir)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "--- SKIP") || strings.Count(string(out), "\n--- PASS") != 11 {
		t.Errorf("as user %d: %v\n%s", uid, err, out)
	}
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// Signals to the tracing thread interrupt no step of a run either.
func TestTracedUnderSignals(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	underSignals(t)
	for i := range 40 {
		if rep, err := s.Run(t.Context(), deed(t, "exit", "0")); err != nil || rep.Cause != sandbox.CauseExit {
			t.Fatalf("run %d: %+v, %v", i, rep, err)
		}
	}
}

// The level ptrace lets programs write to named pipes too, where they lie.
func TestTracedNamedPipes(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	dir, out := pipes(t)
	spec := deed(t)
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: dir, Target: sandbox.PipesDir + "/0"})
	spec.Args = []string{"/bin/sh", "-c", `read x </pipes/0/in; echo "answer to $x" >/pipes/0/out; (echo x >/pipes/0/new) 2>/dev/null && echo made; echo done`}
	rep := runTraced(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if got := string(rep.Stdout.Data); got != "done\n" {
		t.Errorf("got %q, %q", got, rep.Stderr.Data)
	}
	answered(t, out)
}

// As TestMemoryThatHides.
func TestTracedMemoryThatHides(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	for _, what := range []string{"headless", "undumpable"} {
		if rep := runTraced(t, s, deed(t, what)); rep.Cause != sandbox.CauseMemory || len(rep.Stdout.Data) != 0 {
			t.Errorf("%s: cause %q, memory %d, %q", what, rep.Cause, rep.Memory, rep.Stdout.Data)
		}
	}
	if rep := runTraced(t, s, deed(t, "together")); rep.Cause != sandbox.CauseExit || rep.Memory > 200*judge.MiB {
		t.Errorf("together: cause %q, memory %d", rep.Cause, rep.Memory)
	}
	if rep := runTraced(t, s, deed(t, "spliced")); string(rep.Stdout.Data) != strconv.Itoa(int(syscall.ENOSYS)) {
		t.Errorf("pages in a pipe: errno %q", rep.Stdout.Data)
	}
}
