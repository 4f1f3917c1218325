package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	client "judgefarm/clients/go"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/testcases"
)

type problemsPushCmd struct {
	Packages []string `arg:"" name:"package" help:"Packages in any format: directories, or archives of one." type:"path"`
	Name     string   `help:"Name of the problem on the server, for one package; by default that of its directory or archive." placeholder:"NAME" env:"-"`
	Verify   bool     `help:"Verify the packages on this machine first, as judgefarm verify does: with a fault in one of them nothing is sent."`
	JSON     bool     `help:"Print what the server says of each problem as JSON." name:"json"`
	packageFlags
	limitsFlag
	serverFlag
	localFlags
}

// pushed is a package on its way to the server.
type pushed struct {
	path, name string
	problem    *testcases.Problem
}

// Run uploads one problem after the other, packed. All are read first: with a fault
// in one of them nothing is sent.
func (c *problemsPushCmd) Run(env *daemon.Env) error {
	if c.Name != "" && len(c.Packages) != 1 {
		return daemon.Usage("--name: is for one package, not for %d", len(c.Packages))
	}
	ctx, stop := env.Context()
	defer stop()
	server, err := c.open(env)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "judgefarm-push-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	problems, err := c.read(dir)
	if err != nil {
		return err
	}
	if c.Verify {
		if err := c.verify(ctx, env); err != nil {
			return err
		}
	}
	var infos []judge.ProblemInfo
	for _, p := range problems {
		info, err := push(ctx, server, p, dir)
		if err != nil {
			return fmt.Errorf("push %s: %w", p.path, c.answered(err))
		}
		infos = append(infos, info)
	}
	if c.JSON {
		return printJSON(env.Stdout, infos)
	}
	return printProblems(env, infos)
}

// verify verifies every package; its reports go to standard error.
func (c *problemsPushCmd) verify(ctx context.Context, env *daemon.Env) error {
	slots, err := daemon.Cores()
	if err != nil {
		return err
	}
	l, err := c.openLocal(env, slots, nil)
	if err != nil {
		return err
	}
	v := &verifyCmd{Packages: c.Packages, Repeat: 1, packageFlags: c.packageFlags, limitsFlag: c.limitsFlag}
	aside := *env
	aside.Stdout = env.Stderr
	reports, err := v.all(ctx, &aside, l)
	if err := errors.Join(err, l.Close()); err != nil {
		return err
	}
	return v.finish(env, reports, true)
}

// read opens every package; archives are unpacked below dir.
func (c *problemsPushCmd) read(dir string) ([]pushed, error) {
	var (
		all  []pushed
		errs []error
		from = map[string]string{} // the package by the problem's name
	)
	for i, path := range c.Packages {
		p, err := openPackage(c.limited(c.options()), "<package>", path, filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
			continue
		}
		name := cmp.Or(c.Name, p.ID)
		if name == "" {
			errs = append(errs, daemon.Usage("%s: the package's name cannot be a problem's; state --name", path))
		} else if first, twice := from[name]; twice {
			errs = append(errs, daemon.Usage("%s: the problem is called %s, as %s is", path, name, first))
		}
		from[name] = path
		all = append(all, pushed{path, name, p})
	}
	return all, errors.Join(errs...)
}

func push(ctx context.Context, server *client.Client, p pushed, dir string) (judge.ProblemInfo, error) {
	archive, size, err := packedOf(p.problem, dir)
	if err != nil {
		return judge.ProblemInfo{}, err
	}
	defer archive.Close()
	return server.PutProblemFrom(ctx, p.name, archive, size)
}
