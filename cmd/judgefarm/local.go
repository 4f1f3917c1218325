package main

import (
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
)

// localFlags say how programs are judged on this machine.
type localFlags struct {
	Isolation    string      `help:"Isolation level of the boxes. Only full exists: all namespaces, seccomp and cgroups." enum:"full" default:"full"`
	LanguagesDir string      `help:"Directory of further language definitions (*.yaml); one with the id of a bundled one replaces it." placeholder:"DIR"`
	CacheDir     string      `help:"Directory of executables and problems that are kept between runs; by default /var/cache/judgefarm, or the user's own cache when not root." placeholder:"DIR"`
	CacheSize    judge.Bytes `help:"Bound of the cache of executables, and of that of problems." default:"2G"`
}

// local is what judging on this machine takes.
type local struct {
	box       *sandbox.Sandbox
	languages *languages.Set
	compiler  *compile.Compiler
	engine    *engine.Engine
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
	box, err := sandbox.New(sandbox.Config{Slots: slots, Logger: env.Log})
	if err != nil {
		return nil, fmt.Errorf("open sandbox (judgefarm doctor tells more): %w", err)
	}
	var runner sandbox.Runner = box
	if measure != nil {
		runner = measure(box)
	}
	compiler, dir, err := openCompiler(dir, compile.Config{
		Runner: runner, Languages: set, MaxBytes: f.CacheSize, Logger: env.Log,
	})
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	checks, err := checksDir(dir)
	if err != nil {
		return nil, errors.Join(err, compiler.Close(), box.Close())
	}
	l := &local{box: box, languages: set, compiler: compiler, cacheDir: dir}
	l.engine = engine.New(engine.Config{
		Runner: runner, Compiler: compiler, Languages: set,
		Checkers: checker.Maker{Runner: runner, Compiler: compiler, Languages: set, Dir: checks}.For,
	})
	return l, nil
}

// checksDir makes the directory for what custom checkers read. What a process that
// was killed left there, answers among it, goes; nobody else may look in.
func checksDir(cache string) (string, error) {
	dir := filepath.Join(cache, "checks")
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("empty directory of checks: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
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
func (l *local) Close() error { return errors.Join(l.compiler.Close(), l.box.Close()) }

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
