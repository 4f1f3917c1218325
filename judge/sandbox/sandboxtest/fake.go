// Package sandboxtest holds the conformance suite that every sandbox.Runner
// passes and a scripted Fake for tests of the floors above, which need reports
// and not a kernel. It is for tests only.
package sandboxtest

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// Program is a scripted program. It runs in the test's process, in Run's
// goroutine, and returns its exit status.
type Program func(p *Proc) int

// Proc is what a Program sees and what it claims to have used.
type Proc struct {
	Args, Env []string
	Stdin     io.Reader
	Stdout    io.Writer // past the limit a write ends the program, as a kill would
	Stderr    io.Writer
	Files     map[string][]byte // the work directory; what is added may be collected; see Write
	Mounts    []sandbox.Mount
	Limits    judge.Limits
	Done      <-chan struct{} // closed when the run is cancelled

	open map[string]bool // files that may be written to; nil: all

	// Set by the program: what its run shall have used. Beyond a limit the
	// report has that limit's cause, as the real box would give it.
	CPU, Wall time.Duration
	Memory    judge.Bytes
	Signal    int    // not 0: ended by this signal instead of exiting
	Syscall   string // not "": ended by the tracer for this call, in strict mode
}

// Write writes a file of the work directory and reports whether the program may.
func (p *Proc) Write(name string, data []byte) bool {
	if p.open != nil && !p.open[name] {
		return false
	}
	p.Files[name] = data
	return true
}

// Fake runs scripted programs. The zero value runs nothing; it is safe for
// concurrent use.
type Fake struct {
	Programs map[string]Program // by Args[0] or its last element
	Default  Program            // for every other name; nil: the exec fails

	mu    sync.Mutex
	specs []sandbox.Spec
}

// Specs returns what was run so far, in order of arrival.
func (f *Fake) Specs() []sandbox.Spec {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]sandbox.Spec(nil), f.specs...)
}

// Enforced implements sandbox.Runner; a fake enforces nothing.
func (f *Fake) Enforced() judge.Enforced {
	return judge.Enforced{
		Isolation: "fake", CPU: judge.None, Wall: judge.None,
		Memory: judge.None, Output: judge.Exact, Tasks: judge.None, Disk: judge.None,
		Files: judge.None, Network: judge.None, Processes: judge.None,
	}
}

// Run implements sandbox.Runner.
func (f *Fake) Run(ctx context.Context, spec sandbox.Spec) (*sandbox.Report, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f.mu.Lock()
	f.specs = append(f.specs, spec)
	f.mu.Unlock()

	prog, ok := f.Programs[spec.Args[0]]
	if !ok {
		prog, ok = f.Programs[path.Base(spec.Args[0])]
	}
	if !ok {
		prog = f.Default
	}
	if prog == nil {
		return &sandbox.Report{
			Cause: sandbox.CauseExec, Exit: -1,
			Evidence: sandbox.Evidence{ExecError: syscall.ENOENT.Error(), TasksPeak: -1},
		}, nil
	}
	run := newFakeRun(ctx, spec)
	exit := run.call(prog)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return run.report(exit), nil
}

type fakeRun struct {
	spec           sandbox.Spec
	proc           *Proc
	stdout, stderr *capture
}

func newFakeRun(ctx context.Context, spec sandbox.Spec) *fakeRun {
	r := &fakeRun{spec: spec, stdout: newCapture(spec.Stdout, spec.Limits.Output)}
	r.stderr = newCapture(spec.Stderr, spec.Limits.Output)
	if spec.Stderr.Merge {
		r.stderr = r.stdout
	}
	var stdin io.Reader = bytes.NewReader(nil)
	if spec.Stdin != nil {
		stdin = spec.Stdin
	}
	files := map[string][]byte{}
	var open map[string]bool
	if spec.Sealed {
		open = map[string]bool{}
	}
	for _, file := range spec.Files {
		files[file.Name] = bytes.Clone(file.Data)
		if spec.Sealed && file.Open {
			open[file.Name] = true
		}
	}
	r.proc = &Proc{
		Args: spec.Args, Env: spec.Env, Stdin: stdin, Stdout: r.stdout, Stderr: r.stderr,
		Files: files, Mounts: spec.Mounts, Limits: spec.Limits, Done: ctx.Done(), open: open,
	}
	return r
}

// killed is panicked with to end a program from within a write.
type killed struct{}

func (r *fakeRun) call(prog Program) (exit int) {
	defer func() {
		switch v := recover(); v.(type) {
		case nil:
		case killed:
			exit = -1
		default:
			panic(v)
		}
	}()
	return prog(r.proc)
}

func (r *fakeRun) report(exit int) *sandbox.Report {
	p, lim := r.proc, r.spec.Limits
	rep := &sandbox.Report{
		Cause: sandbox.CauseExit, Exit: exit, CPU: p.CPU, User: p.CPU,
		Wall: max(p.Wall, p.CPU), Memory: p.Memory, Stdout: r.stdout.output(),
		Evidence: sandbox.Evidence{TasksPeak: -1},
	}
	if !r.spec.Stderr.Merge {
		rep.Stderr = r.stderr.output()
	}
	end := func(cause sandbox.Cause, by string) {
		rep.Cause, rep.Evidence.KilledBy = cause, by
		rep.Exit, rep.Signal = -1, int(syscall.SIGKILL)
	}
	switch {
	case p.Memory > lim.Memory+r.spec.Slack:
		end(sandbox.CauseMemory, "memory")
		rep.Memory, rep.Evidence.OOMKills = lim.Memory+r.spec.Slack, 1
	case r.stdout.over || r.stderr.over:
		end(sandbox.CauseOutput, "output")
	case p.CPU > lim.CPU:
		end(sandbox.CauseCPU, "cpu")
	case rep.Wall > lim.Wall && p.CPU*20 < lim.Wall:
		end(sandbox.CauseIdle, "wall")
	case rep.Wall > lim.Wall:
		end(sandbox.CauseWall, "wall")
	case p.Syscall != "":
		end(sandbox.CauseSyscall, "")
		rep.Evidence.Syscall = p.Syscall
	case p.Signal == int(syscall.SIGSYS):
		rep.Cause, rep.Exit, rep.Signal = sandbox.CauseSyscall, -1, p.Signal
	case p.Signal == int(syscall.SIGXFSZ):
		rep.Cause, rep.Exit, rep.Signal = sandbox.CauseFileSize, -1, p.Signal
	case p.Signal != 0:
		rep.Cause, rep.Exit, rep.Signal = sandbox.CauseSignal, -1, p.Signal
	}
	rep.Files = r.collect()
	return rep
}

func (r *fakeRun) collect() []sandbox.Collected {
	var out []sandbox.Collected
	for _, c := range r.spec.Collect {
		left, names := c.Max, []string{c.Name}
		if c.Dir {
			names = below(r.proc.Files, c.Name)
			if len(names) == 0 && c.Name != "." { // a fake has no empty directories
				out = append(out, sandbox.Collected{Name: c.Name, Err: fs.ErrNotExist})
			}
		}
		for _, name := range names {
			data, ok := r.proc.Files[name]
			if !ok {
				out = append(out, sandbox.Collected{Name: name, Err: fs.ErrNotExist})
				continue
			}
			if left -= judge.Bytes(len(data)); left < 0 {
				out = append(out, sandbox.Collected{Name: name, Err: sandbox.ErrTooLarge})
				break
			}
			out = append(out, sandbox.Collected{Name: name, Mode: 0o644, Data: data})
		}
	}
	return out
}

func below(files map[string][]byte, dir string) []string {
	var names []string
	for name := range maps.Keys(files) {
		if dir == "." || strings.HasPrefix(name, dir+"/") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// capture is one output stream, cut at its limit.
type capture struct {
	file  io.Writer
	limit int64
	keep  bool
	spill *os.File
	buf   bytes.Buffer
	more  int64 // bytes in spill
	total int64
	over  bool
}

func newCapture(s sandbox.Stream, limit judge.Bytes) *capture {
	c := &capture{limit: int64(limit), keep: s.Keep, spill: s.Spill}
	if s.Limit != 0 {
		c.limit = int64(s.Limit)
	}
	if s.File != nil {
		c.file = s.File
	}
	return c
}

// Write takes what fits and ends the program at the first byte that does not,
// unless the stream keeps on.
func (c *capture) Write(b []byte) (int, error) {
	if c.file != nil {
		return c.file.Write(b)
	}
	kept := b[:min(int64(len(b)), max(c.limit-c.total, 0))]
	c.total += int64(len(b))
	if c.spill != nil {
		room := min(int64(len(kept)), int64(sandbox.SpillAfter-c.buf.Len()))
		n, err := c.spill.WriteAt(kept[room:], c.more)
		if err != nil {
			return n, err
		}
		c.more, kept = c.more+int64(n), kept[:room]
	}
	c.buf.Write(kept)
	if c.total > c.limit && !c.keep {
		c.over = true
		panic(killed{})
	}
	return len(b), nil
}

func (c *capture) output() sandbox.Output {
	return sandbox.Output{Data: c.buf.Bytes(), Spilled: c.more, Total: c.total, Cut: c.total > c.limit}
}
