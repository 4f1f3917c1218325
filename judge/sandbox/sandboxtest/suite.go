package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// Limits are generous ones for programs whose limits a test does not try.
func Limits() judge.Limits {
	return judge.Limits{CPU: 10 * time.Second, Wall: 30 * time.Second, Memory: 256 * judge.MiB, Output: judge.MiB, Tasks: 64}
}

// Path is the environment that the suite's programs get.
const Path = "PATH=/usr/bin:/bin"

// Run is the conformance suite: what a caller may rely on of every Runner. Its
// programs are true, false, cat, chmod, cp, env, head, mkdir and sleep as coreutils
// has them. The Runner is made once and used from several goroutines.
func Run(t *testing.T, newRunner func(t *testing.T) sandbox.Runner) {
	t.Helper()
	s := suite{newRunner(t)}
	for name, test := range map[string]func(*testing.T){
		"exit":        s.exit,
		"exec":        s.exec,
		"stdin":       s.stdin,
		"environment": s.environment,
		"output":      s.output,
		"keep":        s.keep,
		"spill":       s.spill,
		"file stream": s.fileStream,
		"files":       s.files,
		"collect":     s.collect,
		"sealed":      s.sealed,
		"idle":        s.idle,
		"cpu":         s.cpu,
		"bad request": s.badRequest,
		"cancel":      s.cancel,
		"many":        s.many,
	} {
		t.Run(name, test)
	}
}

type suite struct{ runner sandbox.Runner }

func (s suite) run(t *testing.T, spec sandbox.Spec) *sandbox.Report {
	t.Helper()
	if spec.Env == nil {
		spec.Env = []string{Path}
	}
	if spec.Limits == (judge.Limits{}) {
		spec.Limits = Limits()
	}
	rep, err := s.runner.Run(t.Context(), spec)
	if err != nil {
		t.Fatalf("run %q: %v", spec.Args, err)
	}
	return rep
}

// expect fails unless the report has the cause and exit status.
func expect(t *testing.T, rep *sandbox.Report, cause sandbox.Cause, exit int) {
	t.Helper()
	if rep.Cause != cause || rep.Exit != exit {
		t.Fatalf("cause %q exit %d signal %d, want %q %d; stderr %q, evidence %+v",
			rep.Cause, rep.Exit, rep.Signal, cause, exit, rep.Stderr.Data, rep.Evidence)
	}
}

func (s suite) exit(t *testing.T) {
	rep := s.run(t, sandbox.Spec{Args: []string{"true"}})
	expect(t, rep, sandbox.CauseExit, 0)
	if rep.Signal != 0 || rep.Evidence.KilledBy != "" || rep.Stdout.Cut || rep.Stdout.Total != 0 {
		t.Errorf("report of true: %+v", rep)
	}
	expect(t, s.run(t, sandbox.Spec{Args: []string{"false"}}), sandbox.CauseExit, 1)
}

func (s suite) exec(t *testing.T) {
	for _, name := range []string{"no-such-program", "/usr/bin/no-such-program"} {
		rep := s.run(t, sandbox.Spec{Args: []string{name}})
		expect(t, rep, sandbox.CauseExec, -1)
		if rep.Evidence.ExecError != "no such file or directory" {
			t.Errorf("exec %s: evidence %q", name, rep.Evidence.ExecError)
		}
	}
}

func (s suite) stdin(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(in, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(4, 0); err != nil {
		t.Fatal(err)
	}
	rep := s.run(t, sandbox.Spec{Args: []string{"cat"}, Stdin: f})
	expect(t, rep, sandbox.CauseExit, 0)
	if string(rep.Stdout.Data) != "two\n" {
		t.Errorf("stdout %q, want what follows the offset", rep.Stdout.Data)
	}
	rep = s.run(t, sandbox.Spec{Args: []string{"cat"}})
	expect(t, rep, sandbox.CauseExit, 0)
	if len(rep.Stdout.Data) != 0 {
		t.Errorf("stdout %q, want none for an empty stdin", rep.Stdout.Data)
	}
}

func (s suite) environment(t *testing.T) {
	rep := s.run(t, sandbox.Spec{Args: []string{"env"}, Env: []string{Path, "A=1 2"}})
	expect(t, rep, sandbox.CauseExit, 0)
	if got, want := string(rep.Stdout.Data), Path+"\nA=1 2\n"; got != want {
		t.Errorf("environment %q, want %q", got, want)
	}
}

func (s suite) files(t *testing.T) {
	rep := s.run(t, sandbox.Spec{
		Args:  []string{"cat", "a.txt", "sub/dir/b.txt"},
		Files: []sandbox.File{{Name: "a.txt", Data: []byte("A")}, {Name: "sub/dir/b.txt", Data: []byte("B")}},
	})
	expect(t, rep, sandbox.CauseExit, 0)
	if string(rep.Stdout.Data) != "AB" {
		t.Errorf("stdout %q, want AB", rep.Stdout.Data)
	}
	rep = s.run(t, sandbox.Spec{Args: []string{"cat", "a.txt"}})
	expect(t, rep, sandbox.CauseExit, 1) // a box never sees another's files
}

func (s suite) collect(t *testing.T) {
	rep := s.run(t, sandbox.Spec{
		Args:  []string{"cp", "in", "out"},
		Files: []sandbox.File{{Name: "in", Data: []byte("bytes")}, {Name: "d/x", Data: []byte("X")}},
		Collect: []sandbox.Collect{
			{Name: "out", Max: 5}, {Name: "in", Max: 4}, {Name: "none", Max: 5}, {Name: "d", Max: 10, Dir: true},
		},
	})
	expect(t, rep, sandbox.CauseExit, 0)
	if len(rep.Files) != 4 {
		t.Fatalf("collected %+v, want four", rep.Files)
	}
	if f := rep.Files[0]; f.Err != nil || string(f.Data) != "bytes" || f.Name != "out" {
		t.Errorf("out: %+v", f)
	}
	if f := rep.Files[1]; !errors.Is(f.Err, sandbox.ErrTooLarge) || f.Data != nil {
		t.Errorf("in: %+v, want too large", f)
	}
	if f := rep.Files[2]; !errors.Is(f.Err, fs.ErrNotExist) || f.Name != "none" {
		t.Errorf("none: %+v, want not exist", f)
	}
	if f := rep.Files[3]; f.Err != nil || f.Name != "d/x" || string(f.Data) != "X" {
		t.Errorf("d: %+v", f)
	}
	rep = s.run(t, sandbox.Spec{
		Args:    []string{"true"},
		Files:   []sandbox.File{{Name: "d/a", Data: []byte("12")}, {Name: "d/b", Data: []byte("34")}, {Name: "d/c"}},
		Collect: []sandbox.Collect{{Name: "none", Max: 9, Dir: true}, {Name: "d", Max: 3, Dir: true}, {Name: "d", Max: 4, Dir: true}},
	})
	var got []string
	for _, f := range rep.Files {
		switch {
		case errors.Is(f.Err, fs.ErrNotExist):
			got = append(got, f.Name+" is none")
		case errors.Is(f.Err, sandbox.ErrTooLarge):
			got = append(got, f.Name+" is too large")
		default:
			got = append(got, f.Name)
		}
	}
	if want := []string{"none is none", "d/a", "d/b is too large", "d/a", "d/b", "d/c"}; !slices.Equal(got, want) {
		t.Errorf("directories: collected %q, want %q", got, want)
	}
	rep = s.run(t, sandbox.Spec{
		Args: []string{"chmod", "000", "shut"}, Files: []sandbox.File{{Name: "shut", Data: []byte("bytes")}},
		Collect: []sandbox.Collect{{Name: "shut", Max: 5}},
	})
	if rep.Cause != sandbox.CauseExit { // with 1 at level userns, where it must stay readable
		t.Errorf("chmod 000: cause %q", rep.Cause)
	}
	if f := rep.Files[0]; f.Err != nil || string(f.Data) != "bytes" {
		t.Errorf("closed to its owner: %+v", f)
	}
}

func (s suite) idle(t *testing.T) {
	lim := Limits()
	lim.CPU, lim.Wall = time.Second, 4*time.Second
	rep := s.run(t, sandbox.Spec{Args: []string{"sleep", "20"}, Limits: lim})
	cause := sandbox.CauseIdle
	if rep.CPU >= lim.Wall/20 { // an emulated machine counts 0.1 s for the exec alone, twice that under load
		cause = sandbox.CauseWall
	}
	if rep.Cause != cause || rep.Evidence.KilledBy != "wall" || rep.Exit != -1 {
		t.Errorf("cause %q at %v of CPU, killed by %q, exit %d", rep.Cause, rep.CPU, rep.Evidence.KilledBy, rep.Exit)
	}
	if rep.Wall < lim.Wall {
		t.Errorf("ended after %v, before the wall limit of %v", rep.Wall, lim.Wall)
	}
}

func (s suite) cpu(t *testing.T) {
	lim := Limits()
	lim.CPU = 200 * time.Millisecond
	rep := s.run(t, sandbox.Spec{
		Args: []string{"cat", "/dev/zero"}, Limits: lim,
		Stdout: sandbox.Stream{Limit: 1, Keep: true},
	})
	if rep.Cause != sandbox.CauseCPU || rep.Evidence.KilledBy != "cpu" {
		t.Errorf("cause %q, killed by %q", rep.Cause, rep.Evidence.KilledBy)
	}
	if rep.CPU <= lim.CPU {
		t.Errorf("ended at %v of CPU, within the limit of %v", rep.CPU, lim.CPU)
	}
}

func (s suite) badRequest(t *testing.T) {
	good := sandbox.Spec{Args: []string{"true"}, Limits: Limits()}
	for field, spoil := range map[string]func(*sandbox.Spec){
		"args":             func(p *sandbox.Spec) { p.Args = nil },
		"args[0]":          func(p *sandbox.Spec) { p.Args = []string{"./true"} },
		"env[0]":           func(p *sandbox.Spec) { p.Env = []string{"novalue"} },
		"limits.wall_ms":   func(p *sandbox.Spec) { p.Limits.Wall = time.Millisecond },
		"mounts[0].target": func(p *sandbox.Spec) { p.Mounts = []sandbox.Mount{{Source: "/usr", Target: "/proc/x"}} },
		"files[0].name":    func(p *sandbox.Spec) { p.Files = []sandbox.File{{Name: "../x"}} },
		"collect[0].name":  func(p *sandbox.Spec) { p.Collect = []sandbox.Collect{{Name: "/etc/passwd"}} },
	} {
		spec := good
		spoil(&spec)
		_, err := s.runner.Run(t.Context(), spec)
		if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), field+":") {
			t.Errorf("%s: error %v, want a bad request that names it", field, err)
		}
	}
}

func (s suite) cancel(t *testing.T) {
	gone := errors.New("nobody wants it any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	spec := sandbox.Spec{Args: []string{"true"}, Limits: Limits()}
	if _, err := s.runner.Run(ctx, spec); !errors.Is(err, gone) {
		t.Errorf("cancelled before: error %v, want the cause", err)
	}
	// A running program: it says that it runs by the first byte on its output.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	ctx, cancel = context.WithCancelCause(t.Context())
	go func() {
		if _, err := r.Read(make([]byte, 1)); err == nil {
			cancel(gone)
		}
		r.Close()
	}()
	spec = sandbox.Spec{
		Args: []string{"cat", "/dev/zero"}, Env: []string{Path}, Limits: Limits(),
		Stdout: sandbox.Stream{File: w},
	}
	if _, err := s.runner.Run(ctx, spec); !errors.Is(err, gone) {
		t.Errorf("cancelled while running: error %v, want the cause", err)
	}
}

func (s suite) many(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			want := bytes.Repeat([]byte{byte('a' + i)}, 1000)
			rep, err := s.runner.Run(t.Context(), sandbox.Spec{
				Args: []string{"cat", "f"}, Env: []string{Path}, Limits: Limits(),
				Files: []sandbox.File{{Name: "f", Data: want}},
			})
			if err != nil || !bytes.Equal(rep.Stdout.Data, want) {
				t.Errorf("run %d: %v, %v", i, rep, err)
			}
		})
	}
	wg.Wait()
}
