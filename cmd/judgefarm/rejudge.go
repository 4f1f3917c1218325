package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	client "judgefarm/clients/go"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
)

type rejudgeCmd struct {
	Submission  []string `help:"Submission to judge again; may be given several times." placeholder:"ID" sep:"none"`
	Problem     string   `help:"Problem of which all submissions that are final and still kept are judged again." placeholder:"NAME"`
	ID          []string `help:"Rejudge that was made before, in place of a new one; may be given several times." name:"id" placeholder:"ID" sep:"none"`
	SameVersion bool     `help:"Judge against the version of the problem that each submission was judged against, in place of the current one."`
	Apply       bool     `help:"Make the new judgements those of the submissions, once all are final."`
	Drop        bool     `help:"Leave the submissions as they are and forget the new judgements; with --id."`
	JSON        bool     `help:"Print the rejudge as JSON." name:"json"`
	serverFlag
}

// partSize is how many submissions one rejudge has at most: more are several.
const partSize = 2000

// Run makes rejudges, waits for them and shows the difference. It ends with 1 where
// there is one that was not applied.
func (c *rejudgeCmd) Run(env *daemon.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	ctx, stop := env.Context()
	defer stop()
	server, err := c.open(env)
	if err != nil {
		return err
	}
	run := &rejudgeRun{rejudgeCmd: c, env: env, server: server}
	for _, id := range c.ID {
		if !c.Drop {
			err = run.wait(ctx, id)
		} else if err = server.DropRejudge(ctx, id); err == nil {
			_, err = fmt.Fprintf(env.Stdout, "dropped %s\n", id)
		}
		if err != nil {
			return c.answered(err)
		}
	}
	if err := run.parts(ctx); err != nil {
		return c.answered(err)
	}
	return run.end()
}

func (c *rejudgeCmd) check() error {
	stated := 0
	for _, is := range []bool{len(c.Submission) > 0, c.Problem != "", len(c.ID) > 0} {
		if is {
			stated++
		}
	}
	switch {
	case stated != 1:
		return daemon.Usage("state one of --submission, --problem and --id")
	case c.SameVersion && len(c.ID) > 0:
		return daemon.Usage("--same-version: not together with --id: that rejudge was made with a version")
	case c.Drop && (len(c.ID) == 0 || c.Apply):
		return daemon.Usage("--drop: needs --id, and not --apply")
	}
	return nil
}

// rejudgeRun goes through rejudges, of which it holds one at a time.
type rejudgeRun struct {
	*rejudgeCmd
	env    *daemon.Env
	server *client.Client

	ready  []string // those that can be applied, and were not
	parted bool     // there was one
	open   bool     // there is a difference that was not applied
}

// parts makes a rejudge of every part of what is asked for.
func (r *rejudgeRun) parts(ctx context.Context) error {
	for left := r.Submission; len(left) > 0; {
		part := left[:min(partSize, len(left))]
		left = left[len(part):]
		if _, err := r.part(ctx, judge.RejudgeRequest{Submissions: part, SameVersion: r.SameVersion}); err != nil {
			return err
		}
	}
	if r.Problem == "" {
		return nil
	}
	req := judge.RejudgeRequest{Problem: r.Problem, SameVersion: r.SameVersion}
	for {
		next, err := r.part(ctx, req)
		var bad *judge.BadRequest
		if errors.As(err, &bad) && r.parted && len(bad.Faults) > 0 && bad.Faults[0].Field == "after" {
			return nil // of what is left nothing can be judged again
		}
		if err != nil || next == "" {
			return err
		}
		req.After = next
	}
}

func (r *rejudgeRun) part(ctx context.Context, req judge.RejudgeRequest) (next string, err error) {
	made, err := r.server.Rejudge(ctx, req)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(r.env.Stderr, "rejudge %s: %d submissions, %d left out\n", made.ID, made.Total, made.Skipped)
	return made.Next, r.wait(ctx, made.ID)
}

// wait waits until every new judgement of a rejudge is final, applies it where that is
// asked for, and shows it.
func (r *rejudgeRun) wait(ctx context.Context, id string) error {
	r.parted = true
	told := -1
	got, err := r.server.WaitRejudge(ctx, id, func(got judge.Rejudge) {
		if got.Final != told {
			told = got.Final
			progress(r.env.Stderr, "judged", got.Final, got.Total)
		}
	})
	if err == nil && r.Apply {
		got, err = r.server.ApplyRejudge(ctx, id)
	}
	if err != nil {
		return err
	}
	return r.show(got)
}

func (r *rejudgeRun) show(got judge.Rejudge) error {
	if got.State == judge.RejudgeReady {
		r.ready = append(r.ready, got.ID)
	}
	r.open = r.open || got.State != judge.RejudgeApplied && got.Changed+got.Failed > 0
	if r.JSON {
		return printJSON(r.env.Stdout, got)
	}
	return printRejudge(r.env, got)
}

// end says what to do next.
func (r *rejudgeRun) end() error {
	if len(r.ready) > 0 && !r.JSON {
		ids := "--id " + strings.Join(r.ready, " --id ")
		if _, err := fmt.Fprintf(r.env.Stdout, "apply it:  judgefarm rejudge %s --apply\nforget it: judgefarm rejudge %[1]s --drop\n", ids); err != nil {
			return err
		}
	}
	if r.open {
		return daemon.ErrNotAccepted
	}
	return nil
}

// printRejudge shows the matrix of old against new verdicts, then what differs and why.
func printRejudge(env *daemon.Env, r judge.Rejudge) error {
	m := matrix{}
	var rows []string
	for _, one := range r.Submissions {
		was, is := sideText(one.Old), sideText(one.New)
		m.add(was, is)
		if one.Difference != nil {
			rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s", one.Submission, was, is, firstLine(one.Difference.Cause)))
		}
	}
	if err := m.print(env.Stdout); err != nil {
		return err
	}
	if len(rows) > 0 {
		fmt.Fprintln(env.Stdout)
		if err := printTable(env.Stdout, "SUBMISSION | OLD | NEW | CAUSE", rows); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(env.Stdout, "\n%s: %d submissions, %d changed, %d that we could not judge, %d left out: %s\n",
		r.ID, r.Total, r.Changed, r.Failed, r.Skipped, r.State)
	return err
}

func sideText(s judge.RejudgeSide) string {
	text := string(s.State)
	if s.Verdict != nil {
		text = string(*s.Verdict)
	}
	if s.Score != nil && *s.Score != 0 && *s.Score != 1 {
		text += " " + score(s.Score)
	}
	return text
}
