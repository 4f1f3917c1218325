package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	client "judgefarm/clients/go"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/languages"
)

type submitCmd struct {
	submissionFlags
	Problem      string            `help:"Id of a problem on the server." placeholder:"ID"`
	Server       string            `help:"Base URL of the server." default:"http://127.0.0.1:8080"`
	Wait         bool              `help:"Wait for the judgement and print it; the exit code tells the verdict."`
	Priority     string            `help:"interactive, train or batch." enum:"interactive,train,batch" default:"interactive"`
	Label        map[string]string `help:"Label that comes back with the judgement." placeholder:"KEY=VALUE"`
	LanguagesDir string            `help:"Directory of further language definitions, to tell a language by a file's name." placeholder:"DIR"`
}

// Run sends the submission and, with --wait, ends as judgefarm judge does.
func (c *submitCmd) Run(env *daemon.Env) error {
	req, err := c.request()
	if err != nil {
		return err
	}
	ctx, stop := env.Context()
	defer stop()
	server, err := client.New(client.Config{URL: c.Server, Pause: told(env)})
	if err != nil {
		return daemon.Usage("--server: %w", err)
	}
	j, err := server.Submit(ctx, req)
	switch {
	case judge.IsBadRequest(err):
		return flagNames(err)
	case err != nil:
		return fmt.Errorf("--server %s: %w", c.Server, err)
	}
	if !c.Wait {
		if c.JSON {
			return printJSON(env.Stdout, j)
		}
		_, err := fmt.Fprintf(env.Stdout, "%s\n", j.ID)
		return err
	}
	return c.follow(ctx, env, server, j.ID)
}

// told waits between tries, and says at the first of them why nothing happens.
func told(env *daemon.Env) func(ctx context.Context, d time.Duration) error {
	say := sync.OnceFunc(func() {
		env.Log.Warn("the server is away or full, trying again for some minutes; check --server")
	})
	return func(ctx context.Context, d time.Duration) error {
		say()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(d):
			return nil
		}
	}
}

func (c *submitCmd) follow(ctx context.Context, env *daemon.Env, server *client.Client, id string) error {
	j, err := server.Wait(ctx, id)
	if err != nil {
		return fmt.Errorf("wait for %s (it is judged all the same): %w", id, err)
	}
	return report(env.Stdout, &j, c.JSON)
}

// request is the document to send.
func (c *submitCmd) request() (judge.Request, error) {
	sub, err := c.submission()
	if err != nil {
		return judge.Request{}, err
	}
	limits := sub.Limits.JSON()
	req := judge.Request{
		Language: sub.Language, Problem: c.Problem, Checker: sub.Checker, Limits: &limits,
		Stop: sub.Stop, Labels: c.Label, Priority: c.Priority,
	}
	if req.Language == "" {
		set, err := languages.Load(languages.Config{Dir: c.LanguagesDir})
		if err != nil {
			return req, daemon.Usage("--languages-dir: %w", err)
		}
		lang, ok := set.ForFiles(sub.Files)
		if !ok {
			return req, unknownLanguage(sub)
		}
		req.Language = lang.ID
	}
	for _, f := range sub.Files {
		req.Files = append(req.Files, judge.FileJSONOf(f))
	}
	if c.Problem != "" {
		if c.Stdin != "" || c.Expect != "" {
			return req, daemon.Usage("--problem brings its own cases: leave out --stdin and --expect")
		}
		return req, nil
	}
	test, err := c.test()
	if err != nil {
		return req, err
	}
	req.Tests = []judge.TestJSON{judge.TestJSONOf(test)}
	return req, nil
}
