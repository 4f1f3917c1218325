// Package compile turns source files into an executable: in a box, once for each
// sources, toolchain and flags, kept on disk within a bound. It also asks
// toolchains for their versions and runs the self-tests of definitions. It does
// not judge: running executables on cases is judge/engine.
//
//	Compile --> in the cache? ---------------------------> pinned executable
//	               | no                                          ^
//	               v                                             |
//	            somebody compiles the same? --- yes: wait -------+
//	               | no                                          |
//	               v                                             |
//	            box: compiler ---> temporary directory --rename--+--> or CE, CTL
//
// Executables are written by this multi-threaded process, and a descriptor open
// for writing that a fork inherits makes a later exec fail with ETXTBSY
// (golang/go#22315). Here it cannot: descriptors are close-on-exec and closed
// before the rename that makes the file visible, and boxes are started by a
// process that was forked before.
package compile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
)

// Config is what a Compiler works with. Runner, Languages and Dir are required.
type Config struct {
	Runner    sandbox.Runner
	Languages *languages.Set

	// Dir is the cache, used by one Compiler at a time and kept over restarts.
	// Every directory on its path must let the boxes' users through (o+x).
	Dir string

	// MaxBytes bounds the cache; what runs are using stays beyond it. 0 is 1 GiB.
	MaxBytes judge.Bytes

	// Recheck is how long a toolchain that was found counts as unchanged; 0 is a
	// minute. One that was missing is looked for every time.
	Recheck time.Duration

	Clock  func() time.Time // nil is time.Now
	Logger *slog.Logger     // nil is slog.Default()
}

// Compiler compiles submissions. It is safe for concurrent use; each Compile
// occupies one box at most, so its callers bound how many run at a time.
type Compiler struct {
	cfg     Config
	prober  *languages.Prober
	cache   *cache
	flights flights

	mu         sync.Mutex
	found      map[string]found     // toolchains by language id
	unprepared map[string]time.Time // when preparing failed last, by key
}

// found is a toolchain and when it was looked at.
type found struct {
	toolchain *languages.Toolchain
	at        time.Time
}

// New opens the cache and drops what is broken in it. It fails when the
// directory cannot be used or another Compiler uses it.
func New(cfg Config) (*Compiler, error) {
	if cfg.Runner == nil || cfg.Languages == nil || cfg.Dir == "" {
		return nil, errors.New("make compiler: runner, languages and dir must be set")
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = judge.GiB
	}
	if cfg.Recheck == 0 {
		cfg.Recheck = time.Minute
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("open compile cache: %w", err)
	}
	c := &Compiler{cfg: cfg, found: map[string]found{}, unprepared: map[string]time.Time{}}
	if c.cache, err = openCache(dir, cfg.MaxBytes, cfg.Clock, cfg.Logger); err != nil {
		return nil, fmt.Errorf("open compile cache: %w", err)
	}
	probe := languages.ProberConfig{Cache: dir}
	if own := cfg.Languages.Dir(); own != "" {
		probe.Roots = filepath.Join(own, "roots")
	}
	c.prober = languages.NewProber(probe)
	return c, nil
}

// Close stops compiles that still run, waits for them and gives up the cache
// directory. Executables must have been released.
func (c *Compiler) Close() error {
	c.flights.close()
	return c.cache.close()
}

// Compile returns the executable of the sources, or the verdict on them. The
// error is a *judge.BadRequest for files that cannot be laid out, a *judge.Failed
// when the toolchain is missing or something of ours broke, or ctx's cause.
func (c *Compiler) Compile(ctx context.Context, req Request) (*Result, error) {
	began := c.cfg.Clock()
	if err := checkFiles(req.Files); err != nil {
		return nil, err
	}
	if err := checkFlags(req.Language, req.Flags); err != nil {
		return nil, err
	}
	tc, err := c.toolchain(ctx, req.Language)
	if err != nil {
		return nil, err
	}
	w := newWork(tc, req)
	if reason := w.misnamed(); reason != "" {
		return &Result{Verdict: judge.CompileError, Log: []byte(reason + "\n"), LogTotal: int64(len(reason) + 1), Took: c.cfg.Clock().Sub(began)}, nil
	}
	release := func() {}
	if w.wants && req.Language.RunUsesPrepared() {
		if w.prepared, release, err = c.prepare(ctx, tc); err != nil {
			return nil, err
		}
	}
	out, cached, err := c.obtain(ctx, w.key, func(ctx context.Context) (built, error) { return c.build(ctx, w) })
	if err != nil {
		release()
		return nil, err
	}
	res := &Result{
		Verdict: out.meta.Verdict, Log: out.meta.Log, LogTotal: out.meta.LogTotal,
		Usage: out.meta.Usage, Cached: cached,
	}
	if res.Verdict == "" {
		res.Executable = w.executable(out.entry.exeDir())
		res.Executable.release = sync.OnceFunc(func() { c.cache.unpin(out.entry); release() })
	} else {
		release()
		if out.entry != nil {
			c.cache.unpin(out.entry)
		}
	}
	res.Took = c.cfg.Clock().Sub(began)
	return res, nil
}

// obtain finds the outcome of a key or makes it with build. An entry in it is pinned.
func (c *Compiler) obtain(ctx context.Context, key string, build func(context.Context) (built, error)) (out outcome, cached bool, err error) {
	if e := c.cache.pin(key); e != nil {
		return outcome{meta: e.meta, entry: e}, true, nil
	}
	f, first, err := c.flights.join(ctx, key, func(ctx context.Context) (outcome, error) { return c.make(ctx, key, build) })
	if err != nil {
		return outcome{}, false, err
	}
	defer c.flights.leave(f, func(out outcome) {
		if out.entry != nil {
			c.cache.unpin(out.entry)
		}
	})
	select {
	case <-f.done:
	case <-ctx.Done():
		return outcome{}, false, context.Cause(ctx)
	}
	if f.err != nil {
		return outcome{}, false, f.err
	}
	if f.out.entry != nil {
		c.cache.repin(f.out.entry)
	}
	return f.out, !first, nil
}

// make builds and stores. What depends on the load of this machine, a wall
// limit that was reached, is not stored.
func (c *Compiler) make(ctx context.Context, key string, build func(context.Context) (built, error)) (outcome, error) {
	// Somebody may have finished the same between the look into the cache and now.
	if e := c.cache.pin(key); e != nil {
		return outcome{meta: e.meta, entry: e}, nil
	}
	built, err := build(ctx)
	if err != nil {
		return outcome{}, err
	}
	if !built.lasting {
		return outcome{meta: built.meta}, nil
	}
	e, err := c.cache.store(key, built.meta, built.files)
	if err != nil {
		return outcome{}, judge.Fail(judge.FailStorage, fmt.Errorf("store executable: %w", err))
	}
	return outcome{meta: e.meta, entry: e}, nil
}

// toolchain is the probed toolchain of a language; a *judge.Failed says what is
// missing and what brings it.
func (c *Compiler) toolchain(ctx context.Context, l *languages.Language) (*languages.Toolchain, error) {
	now := c.cfg.Clock()
	c.mu.Lock()
	f, ok := c.found[l.ID]
	c.mu.Unlock()
	if ok && f.toolchain.Language == l && now.Sub(f.at) < c.cfg.Recheck {
		return f.toolchain, nil
	}
	tc, err := c.prober.Probe(ctx, l)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, judge.Fail(judge.FailToolchain, err)
	}
	if len(tc.Missing) > 0 {
		return nil, &judge.Failed{Kind: judge.FailToolchain, Retryable: true, Reason: missingReason(tc)}
	}
	c.mu.Lock()
	c.found[l.ID] = found{tc, now}
	c.mu.Unlock()
	return tc, nil
}

func missingReason(tc *languages.Toolchain) string {
	reason := "language " + tc.Language.ID + " is missing here"
	for _, m := range tc.Missing {
		reason += "; " + m.What + ": " + m.Fix
	}
	return reason
}
