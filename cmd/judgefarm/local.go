package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
	"judgefarm/testcases"
	builder "judgefarm/testcases/build"
)

// isolationFlag is of every command that makes boxes.
type isolationFlag struct {
	Isolation sandbox.Isolation `help:"Isolation level of the boxes: full (namespaces, seccomp, a cgroup), userns (no cgroup) or ptrace (neither namespaces nor a cgroup). What the host cannot hold is an error, never another level." enum:"full,userns,ptrace" default:"full"`
}

// openBoxes makes the box runner, of the level that the flag says.
func (f *isolationFlag) openBoxes(env *daemon.Env, cfg sandbox.Config) (sandbox.Boxes, error) {
	cfg.Isolation, cfg.Logger = f.Isolation, env.Log
	box, err := sandbox.Open(cfg)
	if judge.IsBadRequest(err) {
		return nil, daemon.Usage("%w", flagNames(err))
	}
	if err != nil {
		return nil, fmt.Errorf("open sandbox (judgefarm doctor tells more): %w", err)
	}
	return box, nil
}

// localFlags say how programs are judged on this machine.
type localFlags struct {
	isolationFlag
	Pin          bool        `help:"Give each slot a core of its own: times are steadier, and what runs several threads shares one core. More slots than cores are an error."`
	LanguagesDir string      `help:"Directory of further language definitions (*.yaml); one with the id of a bundled one replaces it." placeholder:"DIR"`
	CacheDir     string      `help:"Directory of executables and problems that are kept between runs; by default /var/cache/judgefarm, or the user's own cache when not root." placeholder:"DIR"`
	CacheSize    judge.Bytes `help:"Bound of the cache of executables, of that of problems, and of data that problems' programs made." default:"2G"`
}

// local is what judging on this machine takes.
type local struct {
	box       sandbox.Boxes
	talkers   sandbox.Boxes // for interactors
	languages *languages.Set
	compiler  *compile.Compiler
	engine    *engine.Engine
	builder   *builder.Builder
	cacheDir  string
}

// openLocal makes the box runner, the compiler and the engine for so many runs at
// once. measure, where set, wraps the runner of everything that runs in a box.
func (f *localFlags) openLocal(env *daemon.Env, slots int, measure func(sandbox.Runner) sandbox.Runner) (*local, error) {
	set, err := f.languageSet()
	if err != nil {
		return nil, err
	}
	dir, err := f.cache()
	if err != nil {
		return nil, err
	}
	box, err := f.openBoxes(env, sandbox.Config{Slots: slots, Pin: f.Pin})
	if err != nil {
		return nil, err
	}
	// As many again for interactors, with users of their own: a program's slot never
	// waits for its interactor's. The further processes of a problem with several come
	// on top.
	const spare = testcases.MaxProcesses - 1
	talkers, err := f.openBoxes(env, sandbox.Config{Slots: slots + spare, UIDBase: sandbox.DefaultUIDBase + slots, NoAhead: true})
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	var runner, talking sandbox.Runner = box, talkers
	if measure != nil {
		runner, talking = measure(box), measure(talkers)
	}
	compiler, dir, err := openCompiler(dir, compile.Config{
		Runner: runner, Languages: set, MaxBytes: f.CacheSize, Logger: env.Log,
	})
	if err != nil {
		return nil, errors.Join(err, talkers.Close(), box.Close())
	}
	checks, err := checksDir(dir, f.Isolation)
	if err != nil {
		return nil, errors.Join(err, compiler.Close(), talkers.Close(), box.Close())
	}
	maker := checker.Maker{Runner: runner, Compiler: compiler, Languages: set, Dir: checks}
	l := &local{box: box, talkers: talkers, languages: set, compiler: compiler, cacheDir: dir}
	l.builder, err = builder.New(builder.Config{Runner: runner, Compiler: compiler, Languages: set, Talkers: talking, Log: env.Log})
	if err := errors.Join(err, builder.Trim(l.madeDir(), f.CacheSize)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.engine = engine.New(engine.Config{
		Runner: runner, Compiler: compiler, Languages: set,
		Checkers: maker.For, Talkers: maker.Interactor, Interactors: talking, Spare: spare, Dir: checks,
	})
	return l, nil
}

// madeDir is where data that problems' programs made is kept between runs.
func (l *local) madeDir() string { return filepath.Join(l.cacheDir, "made") }

// built is the problem with all of its data: what the package has programs for is
// made, unless an earlier run did.
func (l *local) built(ctx context.Context, p *testcases.Problem) (*testcases.Problem, error) {
	return l.builder.Build(ctx, p, l.madeDir())
}

// sideBySide lets idle slots run further cases of a submission; slots is openLocal's.
func (l *local) sideBySide(slots int) {
	cfg := l.engine.Config
	cfg.Slots = engine.NewSlots(slots)
	l.engine = engine.New(cfg)
}

// keep has the engine hand out so much of each output, 0 is its default, and of each
// dialogue.
func (l *local) keep(output, dialogue judge.Bytes) {
	cfg := l.engine.Config
	cfg.KeepOutput, cfg.Dialogue = output, dialogue
	l.engine = engine.New(cfg)
}

// checkSideBySide refuses --side-by-side where steady times were asked for.
func (f *localFlags) checkSideBySide(on bool) error {
	if on && f.Pin {
		return daemon.Usage("--side-by-side: not together with --pin, which is for steady times; leave one of them out")
	}
	return nil
}

// checksDir makes the directory for what custom checkers read. What a process that
// was killed left there, answers among it, goes; nobody else may look in. At level
// ptrace nothing is mounted: a checker's user must pass through to what is its own, and
// what keeps submissions out is Landlock.
func checksDir(cache string, level sandbox.Isolation) (string, error) {
	dir, mode := filepath.Join(cache, "checks"), os.FileMode(0o700)
	if level == sandbox.Ptrace {
		mode = 0o711
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("empty directory of checks: %w", err)
	}
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, mode)); err != nil {
		return "", fmt.Errorf("make directory of checks: %w", err)
	}
	return dir, nil
}

// openCompiler takes the first part of the cache directory that no other process
// uses: a command beside a running worker gets a part of its own, the same the
// next time. What else the process caches goes into the same part.
func openCompiler(base string, cfg compile.Config) (*compile.Compiler, string, error) {
	for i := range maxCaches {
		dir := filepath.Join(base, strconv.Itoa(i))
		cfg.Dir = filepath.Join(dir, "executables")
		c, err := compile.New(cfg)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return c, dir, err
		}
	}
	return nil, "", daemon.Usage("--cache-dir: %d processes use %s already; give this one another", maxCaches, base)
}

// maxCaches bounds the processes that share one --cache-dir.
const maxCaches = 64

// Close ends what openLocal started.
func (l *local) Close() error {
	return errors.Join(l.compiler.Close(), l.talkers.Close(), l.box.Close())
}

func (f *localFlags) languageSet() (*languages.Set, error) {
	set, err := languages.Load(languages.Config{Dir: f.LanguagesDir})
	if err != nil {
		return nil, daemon.Usage("--languages-dir: %w", err)
	}
	return set, nil
}

// cache returns the cache directory, made where it is missing. The box's user must
// be able to reach it, so root's default is not below root's home.
func (f *localFlags) cache() (string, error) {
	dir := f.CacheDir
	if dir == "" && os.Geteuid() == 0 {
		dir = "/var/cache/judgefarm"
	}
	if dir == "" {
		own, err := os.UserCacheDir()
		if err != nil {
			return "", daemon.Usage("--cache-dir: %w; state it", err)
		}
		dir = filepath.Join(own, "judgefarm")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", daemon.Usage("--cache-dir: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", daemon.Usage("--cache-dir: %w", err)
	}
	return dir, nil
}

// cores is how many runs go at once where nobody says otherwise.
func cores(slots int) (int, error) {
	const most = 1024 // each has a process of its own that makes its boxes
	if slots < 0 || slots > most {
		return 0, daemon.Usage("--slots: must be 0 (one for each core) to %d, is %d", most, slots)
	}
	if slots > 0 {
		return slots, nil
	}
	return daemon.Cores()
}
