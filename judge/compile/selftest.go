package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
)

// SelfTest is what a definition's self-test program did.
type SelfTest struct {
	Compile judge.Usage // zero without a compiler
	Run     judge.Usage
}

// A self-test is to end on a busy machine, too: what it tests is whether the
// toolchain works, not how fast it is.
const (
	selfTestCPU  = 10 * time.Second
	selfTestWall = time.Minute
)

// SelfTest compiles and runs a definition's own program under the default limits
// and compares what it prints token by token. The error says what went wrong: a
// *judge.Failed of kind toolchain when the language does not work here.
func (c *Compiler) SelfTest(ctx context.Context, l *languages.Language) (*SelfTest, error) {
	return c.selfTest(ctx, l, false)
}

// StrictSelfTest is SelfTest with the program in strict mode.
func (c *Compiler) StrictSelfTest(ctx context.Context, l *languages.Language) (*SelfTest, error) {
	return c.selfTest(ctx, l, true)
}

func (c *Compiler) selfTest(ctx context.Context, l *languages.Language, strict bool) (*SelfTest, error) {
	broken := func(format string, args ...any) error {
		return &judge.Failed{
			Kind: judge.FailToolchain, Retryable: true,
			Reason: "self-test of " + l.ID + ": " + fmt.Sprintf(format, args...),
		}
	}
	if l.Prepare != nil {
		// A compile may go without; a self-test tells that it does not work.
		tc, err := c.toolchain(ctx, l)
		if err != nil {
			return nil, err
		}
		_, release, err := c.prepare(ctx, tc)
		if err != nil {
			return nil, err
		}
		defer release()
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
	lim.CPU, lim.Wall, lim.Ptrace = max(lim.CPU, selfTestCPU), max(lim.Wall, selfTestWall), strict
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
		return nil, broken("ended by %s, status %d, signal %d, %s%s: %s",
			rep.Cause, rep.Exit, rep.Signal, rep.Evidence.ExecError, rep.Evidence.Syscall, bytes.TrimSpace(rep.Stderr.Data))
	}
	got, want := strings.Fields(string(rep.Stdout.Data)), strings.Fields(l.SelfTest.Expected)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		return nil, broken("printed %q, want %q", got, want)
	}
	if l.Check != nil {
		checked, err := c.Check(ctx, Request{Language: l, Files: l.SelfTest.Files})
		if err != nil {
			return nil, err
		}
		if checked.Verdict != "" {
			return nil, broken("its check says %s: %s", checked.Verdict, checked.Log)
		}
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
