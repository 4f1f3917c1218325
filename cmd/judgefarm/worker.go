package main

import (
	"context"
	"errors"

	"judgefarm/internal/daemon"
)

type workerCmd struct {
	storeFlags
	workerFlags
	localFlags
	OpsListen string `help:"Address of /metrics, /healthz and /readyz." default:"127.0.0.1:9102"`
}

// Run judges what the queue delivers, until a signal. Any number may run.
func (c *workerCmd) Run(env *daemon.Env) error {
	if err := errors.Join(c.needReal(), c.check()); err != nil {
		return err
	}
	take, work, stop := env.Contexts(c.Drain)
	defer stop()
	s, err := c.open(env, c.Redis)
	if err != nil {
		return err
	}
	return errors.Join(c.work(env, s, take, work), s.Close())
}

func (c *workerCmd) work(env *daemon.Env, s *stores, take, work context.Context) error {
	if err := ready(take, s); err != nil {
		return err
	}
	reg := newRegistry()
	ln, err := daemon.Listen(take, "--ops-listen", c.OpsListen)
	if err != nil {
		return err
	}
	j, err := openWorker(take, env, &c.workerFlags, &c.localFlags, s, reg)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	ops := daemon.Ops(daemon.OpsConfig{Metrics: reg, Checks: []daemon.Check{
		{Name: "results", Run: s.results.Ready, Fix: "start Redis, or mend --redis"},
		{Name: "blobs", Run: s.blobs.Ready, Fix: "start the blob store, or mend --blobs"},
		diskCheck(j.cacheDir),
		daemon.Draining(take),
	}})
	g := daemon.NewGroup(take, work)
	g.Under("metrics", func(ctx context.Context) error { return daemon.Serve(ctx, ln, ops, env.Log) })
	g.Go("worker", j.worker.Run)
	g.Go("announcements", func(take, _ context.Context) error { return j.worker.Announce(take, j.infos) })
	env.Log.Info("working", "worker", j.worker.Name, "slots", j.worker.Slots, "metrics", "http://"+ln.Addr().String())
	return errors.Join(g.Wait(), j.Close())
}
