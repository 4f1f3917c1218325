package compile

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
	"judgefarm/languages"
)

// preparing adds languages with a prepare step to a farm: pre uses it for compiles
// of sources with "wanted" in them, jit for runs.
func preparing(t *testing.T, prepare sandboxtest.Program) *farm {
	t.Helper()
	f := newFarm(t, 0)
	defs := t.TempDir()
	const step = `prepare: {args: [/usr/bin/prep, "{sources}"], output: made/%s}
compile: {args: [/usr/bin/cc, -o, prog, "-I{prepared}", "{sources}"], env: ["P={prepared}"], output: prog}
run: {args: ["{exe}/prog"%s]}`
	write(t, defs+"/pre.yaml", fmt.Sprintf(definitions, "pre", fmt.Sprintf(step, ", when: wanted", ""), f.root))
	write(t, defs+"/jit.yaml", fmt.Sprintf(definitions, "jit", fmt.Sprintf(step, "", `, "--load={prepared}/a"`), f.root))
	var err error
	if f.set, err = languages.Load(languages.Config{Dir: defs}); err != nil {
		t.Fatal(err)
	}
	f.fake.Programs["prep"] = prepare
	f.open(t, 0)
	return f
}

func prepareWell(p *sandboxtest.Proc) int {
	p.Files["made/a"] = []byte("saved")
	return 0
}

// specsOf are the boxes that a program was run in.
func (f *farm) specsOf(program string) []sandbox.Spec {
	return slices.DeleteFunc(f.fake.Specs(), func(s sandbox.Spec) bool { return s.Args[0] != program })
}

// preparedOf is the host directory that a box sees as prepared, "" for none.
func preparedOf(mounts []sandbox.Mount) string {
	for _, m := range mounts {
		if m.Target == languages.PreparedDir {
			return m.Source
		}
	}
	return ""
}

// What is prepared is made once, from the self-test's file alone, shown to the
// compiles that want it, and made anew when the toolchain changes.
func TestPrepareOnce(t *testing.T) {
	t.Parallel()
	f := preparing(t, prepareWell)
	if f.compile(t, "pre", "good"); len(f.specsOf("/usr/bin/prep")) != 0 {
		t.Error("prepared for sources that do not want it")
	}
	f.compile(t, "pre", "good wanted 1")
	f.compile(t, "pre", "good wanted 2")
	made := f.specsOf("/usr/bin/prep")
	if len(made) != 1 || len(made[0].Files) != 1 || string(made[0].Files[0].Data) != "ok" || preparedOf(made[0].Mounts) != "" {
		t.Fatalf("prepare ran as %+v", made)
	}
	compiles := f.specsOf("/usr/bin/cc")
	if got := compiles[0]; slices.Contains(got.Args, "-I/prepared") || slices.Contains(got.Env, "P=/prepared") || preparedOf(got.Mounts) != "" {
		t.Errorf("without: %q %q %v", got.Args, got.Env, got.Mounts)
	}
	for _, got := range compiles[1:] {
		if !slices.Contains(got.Args, "-I/prepared") || !slices.Contains(got.Env, "P=/prepared") {
			t.Errorf("with: %q %q", got.Args, got.Env)
		}
		data, err := os.ReadFile(filepath.Join(preparedOf(got.Mounts), "a"))
		if err != nil || string(data) != "saved" {
			t.Errorf("prepared %q, %v", data, err)
		}
	}
	f.open(t, 0)
	f.compile(t, "pre", "good wanted 3")
	if n := len(f.specsOf("/usr/bin/prep")); n != 1 {
		t.Errorf("after a restart it was prepared again: %d times", n)
	}
	write(t, f.root+"/usr/bin/cc", "compiler 2 of another size")
	f.clock.Advance(time.Minute)
	f.compile(t, "pre", "good wanted 3")
	if n := len(f.specsOf("/usr/bin/prep")); n != 2 {
		t.Errorf("with another toolchain it was prepared %d times", n)
	}
}

// What runs need is there for every run, cached compile or not, until Release.
func TestPreparedForRuns(t *testing.T) {
	t.Parallel()
	f := preparing(t, prepareWell)
	for range 2 {
		res := f.compile(t, "jit", "good")
		if !slices.Contains(res.Executable.Args, "--load=/prepared/a") || preparedOf(res.Executable.Mounts) == "" {
			t.Errorf("executable %q %v", res.Executable.Args, res.Executable.Mounts)
		}
		if _, err := os.Stat(preparedOf(res.Executable.Mounts) + "/a"); err != nil {
			t.Error(err)
		}
		res.Executable.Release()
	}
	f.compile(t, "jit", "error")
}

// A failed preparation is logged; compiles go on without, runs that need it do
// not, since their times would differ from those of other workers. It is tried
// again only after a while.
func TestPrepareFails(t *testing.T) {
	t.Parallel()
	f := preparing(t, func(p *sandboxtest.Proc) int {
		io.WriteString(p.Stdout, "no room")
		return 1
	})
	var log strings.Builder
	f.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	for _, source := range []string{"good wanted 1", "good wanted 2"} {
		if res := f.compile(t, "pre", source); res.Executable == nil {
			t.Errorf("%s: %s", res.Verdict, res.Log)
		}
	}
	if got := f.specsOf("/usr/bin/cc")[0]; slices.Contains(got.Args, "-I/prepared") || preparedOf(got.Mounts) != "" {
		t.Errorf("compiled as %q %v", got.Args, got.Mounts)
	}
	if n := len(f.specsOf("/usr/bin/prep")); n != 1 || strings.Count(log.String(), "no room") != 1 {
		t.Errorf("tried %d times, log %s", n, log.String())
	}
	f.clock.Advance(prepareAgain)
	f.compile(t, "pre", "good wanted 3")
	if n := len(f.specsOf("/usr/bin/prep")); n != 2 {
		t.Errorf("after %v tried %d times", prepareAgain, n)
	}
	_, err := f.Compile(t.Context(), Request{Language: f.lang(t, "jit"), Files: []judge.File{{Name: "a.jit", Data: []byte("good")}}})
	var failed *judge.Failed
	if !errors.As(err, &failed) || failed.Kind != judge.FailToolchain || !failed.Retryable || !strings.Contains(failed.Reason, "no room") {
		t.Errorf("a run without what it needs: %v", err)
	}
	if _, err := f.SelfTest(t.Context(), f.lang(t, "pre")); !errors.Is(err, errUnprepared) {
		t.Errorf("self-test: %v", err)
	}
}
