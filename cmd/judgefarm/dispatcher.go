package main

import (
	"errors"

	"judgefarm/internal/daemon"
)

type dispatcherCmd struct {
	apiFlags
	storeFlags
	LanguagesDir string `help:"Directory of further language definitions (*.yaml), the same as the workers'." placeholder:"DIR"`
}

// Run answers HTTP and feeds the queue, until a signal. Any number may run.
func (c *dispatcherCmd) Run(env *daemon.Env) error {
	if err := c.needReal(); err != nil {
		return err
	}
	set, err := (&localFlags{LanguagesDir: c.LanguagesDir}).languageSet()
	if err != nil {
		return err
	}
	take, work, stop := env.Contexts(0)
	defer stop()
	s, err := c.open(env, c.Redis)
	if err != nil {
		return err
	}
	if err := ready(take, s); err != nil {
		return errors.Join(err, s.Close())
	}
	service, handler, err := openService(env, serviceParts{
		stores: s, languages: set, infos: announced(env.Log, s, set), metrics: newRegistry(), stopping: take.Done(), packages: c.options(),
		checks: []daemon.Check{daemon.Draining(take)},
	})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	g := daemon.NewGroup(take, work)
	address, err := runService(take, env, g, &c.apiFlags, s, service, handler)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	env.Log.Info("dispatching", "address", "http://"+address)
	return errors.Join(g.Wait(), s.Close())
}
