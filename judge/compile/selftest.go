package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
)

// SelfTest is what a definition's self-test program did.
type SelfTest struct {
	Compile judge.Usage // zero without a compiler
	Run     judge.Usage
}

// SelfTest compiles and runs a definition's own program under the default limits
// and compares what it prints token by token. The error says what went wrong: a
// *judge.Failed of kind toolchain when the language does not work here.
func (c *Compiler) SelfTest(ctx context.Context, l *languages.Language) (*SelfTest, error) {
	broken := func(format string, args ...any) error {
		return &judge.Failed{
			Kind: judge.FailToolchain, Retryable: true,
			Reason: "self-test of " + l.ID + ": " + fmt.Sprintf(format, args...),
		}
	}
	res, err := c.Compile(ctx, Request{Language: l, Files: l.SelfTest.Files})
	if err != nil {
		return nil, err
	}
	if res.Executable == nil {
		return nil, broken("%s: %s", res.Verdict, res.Log)
	}
	defer res.Executable.Release()
	stdin, err := c.spool(l.SelfTest.Stdin)
	if err != nil {
		return nil, judge.Fail(judge.FailStorage, fmt.Errorf("self-test of %s: %w", l.ID, err))
	}
	defer stdin.Close()
	lim := l.Apply(judge.DefaultLimits().Complete())
	cmd, err := CommandOf(l, res.Executable, lim)
	if err != nil {
		return nil, broken("%v", err)
	}
	rep, err := c.cfg.Runner.Run(ctx, sandbox.Spec{
		Args: cmd.Args, Env: cmd.Env, Root: cmd.Root, Mounts: cmd.Mounts,
		Stdin: stdin, Limits: lim, Slack: cmd.Slack,
	})
	if err != nil {
		return nil, runnerError(ctx, err)
	}
	if rep.Cause != sandbox.CauseExit || rep.Exit != 0 {
		return nil, broken("ended by %s, status %d, signal %d, %s: %s",
			rep.Cause, rep.Exit, rep.Signal, rep.Evidence.ExecError, bytes.TrimSpace(rep.Stderr.Data))
	}
	got, want := strings.Fields(string(rep.Stdout.Data)), strings.Fields(l.SelfTest.Expected)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		return nil, broken("printed %q, want %q", got, want)
	}
	return &SelfTest{Compile: res.Usage, Run: judge.Usage{CPU: rep.CPU, Wall: rep.Wall, Memory: rep.Memory}}, nil
}

// spool is a file without a name that holds the text, to be read from its start.
func (c *Compiler) spool(text string) (*os.File, error) {
	f, err := os.CreateTemp(c.cache.path("tmp"), "stdin-")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
