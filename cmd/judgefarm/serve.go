package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"judgefarm/dispatcher/queue"
	"judgefarm/internal/daemon"
)

type serveCmd struct {
	apiFlags
	storeFlags
	workerFlags
	localFlags
	DataDir string `help:"Directory of blobs where --blobs states no other place; by default /var/lib/judgefarm, or the user's own data directory when not root." placeholder:"DIR"`
}

// Run is the whole farm in one process, until a signal.
func (c *serveCmd) Run(env *daemon.Env) error {
	if err := errors.Join(c.check(), c.blobDir()); err != nil {
		return err
	}
	take, work, stop := env.Contexts(c.Drain)
	defer stop()
	redisURL := c.Redis
	if redisURL == "" {
		embedded, err := queue.StartEmbedded(context.WithoutCancel(work))
		if err != nil {
			return err
		}
		defer embedded.Close()
		redisURL = embedded.URL
	}
	s, err := c.open(env, redisURL)
	if err != nil {
		return err
	}
	return errors.Join(c.serve(env, s, take, work), s.Close())
}

func (c *serveCmd) serve(env *daemon.Env, s *stores, take, work context.Context) error {
	if err := ready(take, s); err != nil {
		return err
	}
	reg := newRegistry()
	j, err := openWorker(take, env, &c.workerFlags, &c.localFlags, s, reg)
	if err != nil {
		return err
	}
	service, handler, err := openService(env, serviceParts{
		stores: s, languages: j.languages, infos: j.infos, metrics: reg, stopping: take.Done(), packages: c.options(),
		checks: []daemon.Check{diskCheck(j.cacheDir), daemon.Draining(take)},
	})
	if err != nil {
		return errors.Join(err, j.Close())
	}
	g := daemon.NewGroup(take, work)
	address, err := runService(take, env, g, &c.apiFlags, s, service, handler)
	if err != nil {
		return errors.Join(err, j.Close())
	}
	g.Go("worker", j.worker.Run)
	c.greet(env, address, j.worker.Slots)
	return errors.Join(g.Wait(), j.Close())
}

// greet says where the server is, what a crash loses, and what to try.
func (c *serveCmd) greet(env *daemon.Env, address string, slots int) {
	env.Log.Info("serving", "address", "http://"+address, "slots", slots, "blobs", c.URL)
	if c.Redis == "" {
		env.Log.Warn("queue and results are in memory: a crash or stop of this process loses waiting submissions and all judgements not fetched; --redis keeps them")
	}
	if env.Common.LogFormat == "text" {
		fmt.Fprintf(env.Stderr, "try:  %s submit FILE --stdin IN --expect OUT --wait --server http://%s\n", os.Args[0], address)
		fmt.Fprintf(env.Stderr, "docs: http://%s/openapi.json\n", address)
	}
}

// blobDir settles where blobs are.
func (c *serveCmd) blobDir() error {
	if c.URL != "" {
		return nil
	}
	dir := c.DataDir
	if dir == "" && os.Geteuid() == 0 {
		dir = "/var/lib/judgefarm"
	}
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return daemon.Usage("--data-dir: %w; state it", err)
		}
		dir = filepath.Join(home, ".local", "share", "judgefarm")
	}
	c.URL = filepath.Join(dir, "blobs")
	if err := os.MkdirAll(c.URL, 0o700); err != nil {
		return daemon.Usage("--data-dir: %w", err)
	}
	return nil
}

// ready refuses to start with stores that cannot be used, so that a wrong address
// or password is told at once and not by the first submission.
func ready(ctx context.Context, s *stores) error {
	checks := []daemon.Check{
		{Name: "--redis", Run: s.line.Ready, Fix: "start Redis there, or mend the URL"},
		{Name: "--redis", Run: s.results.Ready, Fix: "start Redis there, or mend the URL"},
		{Name: "--blobs", Run: s.blobs.Ready, Fix: "start the store there, or mend the URL, bucket or credentials"},
	}
	var errs []error
	told := map[string]bool{} // one part of a flag is enough
	for _, r := range daemon.RunChecks(ctx, checks) {
		if !r.OK && !told[r.Name] {
			told[r.Name] = true
			errs = append(errs, fmt.Errorf("%s: %s; fix: %s", r.Name, r.Error, r.Fix))
		}
	}
	return errors.Join(errs...)
}
