package main

import (
	"fmt"
	"strings"
	"time"

	client "judgefarm/clients/go"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
)

type problemsCmd struct {
	Push     problemsPushCmd     `cmd:"" help:"Upload packages; each becomes the current version of its problem."`
	List     problemsListCmd     `cmd:"" help:"List the problems of a server."`
	Versions problemsVersionsCmd `cmd:"" help:"List the versions of a problem, the newest first."`
	Rollback problemsRollbackCmd `cmd:"" help:"Make an earlier version of a problem the current one."`
	Release  problemsReleaseCmd  `cmd:"" help:"Let a problem out of quarantine: submissions to it are judged again."`
	Delete   problemsDeleteCmd   `cmd:"" help:"Delete problems with all their versions. What was submitted is judged all the same."`
}

// serverFlag is of every command that talks to a server.
type serverFlag struct {
	Server string `help:"Base URL of the server." default:"http://127.0.0.1:8080"`
}

// open returns a client that says so when it has to wait.
func (f *serverFlag) open(env *daemon.Env) (*client.Client, error) {
	c, err := client.New(client.Config{URL: f.Server, Pause: told(env)})
	if err != nil {
		return nil, daemon.Usage("--server: %w", err)
	}
	return c, nil
}

// answered names the server in what it did not do.
func (f *serverFlag) answered(err error) error {
	switch {
	case err == nil || judge.IsBadRequest(err):
		return err
	case client.IsNotFound(err):
		return daemon.Usage("%w", err)
	}
	return fmt.Errorf("--server %s: %w", f.Server, err)
}

type problemsListCmd struct {
	JSON bool `help:"Print the list as JSON." name:"json"`
	serverFlag
}

// Run prints the current version of every problem.
func (c *problemsListCmd) Run(env *daemon.Env) error {
	ctx, stop := env.Context()
	defer stop()
	server, err := c.open(env)
	if err != nil {
		return err
	}
	list, err := server.Problems(ctx)
	switch {
	case err != nil:
		return c.answered(err)
	case c.JSON:
		return printJSON(env.Stdout, append([]judge.ProblemInfo{}, list...))
	}
	return printProblems(env, list)
}

type problemsVersionsCmd struct {
	Name string `arg:"" help:"Name of a problem."`
	JSON bool   `help:"Print the versions as JSON." name:"json"`
	serverFlag
}

// Run prints what is kept of a problem.
func (c *problemsVersionsCmd) Run(env *daemon.Env) error {
	ctx, stop := env.Context()
	defer stop()
	server, err := c.open(env)
	if err != nil {
		return err
	}
	v, err := server.ProblemVersions(ctx, c.Name)
	switch {
	case err != nil:
		return c.answered(err)
	case c.JSON:
		return printJSON(env.Stdout, v)
	}
	var rows []string
	for _, info := range v.Versions {
		mark := inQuarantine(info)
		if info.Version == v.Current {
			mark = strings.TrimSpace("current " + mark)
		}
		rows = append(rows, fmt.Sprintf("%d\t%s\t%d\t%s\t%s\t%s", info.Version, mark, info.Cases,
			info.UpdatedAt.Format(time.DateTime), shortDigest(info.Digest), firstLine(info.Name)))
	}
	return printTable(env.Stdout, "VERSION |  | CASES | MADE (UTC) | DIGEST | TITLE", rows)
}

type problemsRollbackCmd struct {
	Name    string `arg:"" help:"Name of a problem."`
	Version int    `arg:"" optional:"" help:"Number of a version; by default the newest before the current one."`
	serverFlag
}

// Run points the name to the version, and says which it is.
func (c *problemsRollbackCmd) Run(env *daemon.Env) error {
	ctx, stop := env.Context()
	defer stop()
	server, err := c.open(env)
	if err != nil {
		return err
	}
	version := c.Version
	if version == 0 {
		v, err := server.ProblemVersions(ctx, c.Name)
		if err != nil {
			return c.answered(err)
		}
		for _, info := range v.Versions {
			if info.Version < v.Current {
				version = max(version, info.Version)
			}
		}
		if version == 0 {
			return daemon.Usage("<version>: problem %s has none before its current version %d", c.Name, v.Current)
		}
	}
	if version < 1 {
		return daemon.Usage("<version>: must be 1 or more, is %d", version)
	}
	info, err := server.RollbackProblem(ctx, c.Name, version)
	if err != nil {
		return c.answered(err)
	}
	return printProblems(env, []judge.ProblemInfo{info})
}

type problemsReleaseCmd struct {
	Name    string `arg:"" help:"Name of a problem."`
	Version int    `arg:"" optional:"" help:"Number of a version; by default the current one."`
	serverFlag
}

// Run lets the version out, and shows it.
func (c *problemsReleaseCmd) Run(env *daemon.Env) error {
	ctx, stop := env.Context()
	defer stop()
	server, err := c.open(env)
	if err != nil {
		return err
	}
	info, err := server.ReleaseProblem(ctx, c.Name, c.Version)
	if err != nil {
		return c.answered(err)
	}
	return printProblems(env, []judge.ProblemInfo{info})
}

type problemsDeleteCmd struct {
	Names []string `arg:"" name:"name" help:"Names of problems."`
	serverFlag
}

// Run deletes one after the other, and ends at the first that is not there.
func (c *problemsDeleteCmd) Run(env *daemon.Env) error {
	ctx, stop := env.Context()
	defer stop()
	server, err := c.open(env)
	if err != nil {
		return err
	}
	for _, name := range c.Names {
		if err := server.DeleteProblem(ctx, name); err != nil {
			return fmt.Errorf("delete %s: %w", name, c.answered(err))
		}
		fmt.Fprintf(env.Stdout, "deleted %s\n", name)
	}
	return nil
}

func printProblems(env *daemon.Env, list []judge.ProblemInfo) error {
	rows := make([]string, len(list))
	for i, p := range list {
		rows[i] = fmt.Sprintf("%s\t%d\t%d\t%s\t%s\t%s\t%s", p.ID, p.Version, p.Cases,
			p.UpdatedAt.Format(time.DateTime), shortDigest(p.Digest), inQuarantine(p), firstLine(p.Name))
	}
	if err := printTable(env.Stdout, "NAME | VERSION | CASES | MADE (UTC) | DIGEST |  | TITLE", rows); err != nil {
		return err
	}
	for _, p := range list {
		if p.Quarantine != nil {
			fmt.Fprintf(env.Stdout, "%s: %s\n", p.ID, firstLine(p.Quarantine.Reason))
		}
	}
	return nil
}

// inQuarantine marks a version that is not judged with.
func inQuarantine(p judge.ProblemInfo) string {
	if p.Quarantine == nil {
		return ""
	}
	return "QUARANTINE"
}

// shortDigest is enough of a digest to tell versions apart by eye.
func shortDigest(digest string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return hex[:min(12, len(hex))]
}
