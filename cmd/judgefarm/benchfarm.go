package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"judgefarm/cmd/judgefarm/internal/bench"
	"judgefarm/dispatcher"
	"judgefarm/dispatcher/queue"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/testcases/cache"
	"judgefarm/worker"
	"judgefarm/worker/artifacts"
)

// benchFarm is what serve runs, without HTTP: the whole way of a submission
// through queue, worker and results, on the engine that is measured beside it.
type benchFarm struct {
	service *dispatcher.Service
	line    *queue.Queue
	stop    func() error
	floor   []byte // as a worker has it
}

// benchFarmConfig says what the farm is made of.
type benchFarmConfig struct {
	local *local
	slots int
	redis string // URL; "" is one in this process
}

func startBenchFarm(ctx context.Context, env *daemon.Env, cfg benchFarmConfig) (farm *benchFarm, err error) {
	var ends []func() error // newest last
	stop := func() error {
		var errs []error
		for _, end := range slices.Backward(ends) {
			errs = append(errs, end())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	dir, err := os.MkdirTemp("", "judgefarm-bench-")
	if err != nil {
		return nil, err
	}
	ends = append(ends, func() error { return os.RemoveAll(dir) })
	// A prefix of its own: a Redis of somebody's farm is not disturbed.
	flags := storeFlags{Redis: cfg.redis, Prefix: "jf-bench-" + rand.Text()}
	flags.URL = filepath.Join(dir, "blobs")
	url := cfg.redis
	if url == "" {
		embedded, err := queue.StartEmbedded(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		ends = append(ends, func() error { embedded.Close(); return nil })
		url = embedded.URL
	}
	s, err := flags.open(env, url)
	if err != nil {
		return nil, err
	}
	ends = append(ends, s.Close)
	if cfg.redis != "" {
		ends = append(ends, func() error { return s.line.Purge(context.WithoutCancel(ctx)) })
	}
	problems, err := cache.New(cache.Config{Store: s.blobs, Dir: filepath.Join(dir, "problems"), Build: cfg.local.builder.Build})
	if err != nil {
		return nil, err
	}
	ends = append(ends, problems.Close)
	keeper, err := artifacts.New(artifacts.Config{Store: s.blobs})
	if err != nil {
		return nil, err
	}
	w, err := worker.New(worker.Config{
		Name: "bench", Slots: cfg.slots, Source: s.source, Line: s.line, Results: s.results, Blobs: s.blobs,
		Problems: problems, Judge: cfg.local.engine, Artifacts: keeper, Log: quiet(env),
	})
	if err != nil {
		return nil, err
	}
	service, _, err := openService(env, serviceParts{stores: s, languages: cfg.local.languages, metrics: newRegistry()})
	if err != nil {
		return nil, err
	}
	take, endTake := context.WithCancel(ctx)
	g := daemon.NewGroup(take, ctx)
	g.Go("worker", w.Run)
	g.Go("feeder", func(take, _ context.Context) error { return s.line.Feed(take) })
	ends = append(ends, func() error { endTake(); return g.Wait() })
	return &benchFarm{service: service, line: s.line, stop: stop, floor: make([]byte, heapFloor)}, nil
}

// once sends the tiny program and waits for its judgement.
func (f *benchFarm) once(ctx context.Context) (*judge.Judgement, error) {
	return f.judge(ctx, judge.Request{
		Language: "c", Files: []judge.FileJSON{{Name: "true.c", Content: bench.TrueSource()}}, Tests: []judge.TestJSON{{}},
	})
}

// judge sends a submission that will be accepted and waits for its judgement.
func (f *benchFarm) judge(ctx context.Context, req judge.Request) (*judge.Judgement, error) {
	sent, err := f.service.Submit(ctx, dispatcher.Request{Request: req})
	if err != nil {
		return nil, err
	}
	j, err := f.service.Wait(ctx, sent.ID)
	if err != nil {
		return nil, err
	}
	if !j.State.Final() {
		return nil, fmt.Errorf("submission %s is %s", j.ID, j.State)
	}
	return &j, wantAccepted(&j)
}

func (f *benchFarm) load() bench.Load {
	return bench.Load{Name: "queue", Do: func(ctx context.Context) error {
		_, err := f.once(ctx)
		return err
	}}
}

func (f *benchFarm) start(ctx context.Context) (time.Duration, error) {
	j, err := f.once(ctx)
	if err != nil {
		return 0, err
	}
	return j.Timing.Queue.Duration(), nil
}

// quiet keeps one line for each judgement out of the table.
func quiet(env *daemon.Env) *slog.Logger {
	return slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
