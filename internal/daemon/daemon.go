// Package daemon is what every subcommand of judgefarm stands on: flags,
// JUDGEFARM_ variables and a YAML file become its configuration; signals become
// contexts; logs, /metrics, /healthz and /readyz are the same everywhere, and so
// are the exit codes. It knows nothing of judging.
//
// A flag on the command line overrides the variable, the variable overrides the
// file, the file overrides the default:
//
//	--slots 4  >  JUDGEFARM_SLOTS=4  >  slots: 4  >  default:"2"
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"judgefarm/judge"

	"github.com/alecthomas/kong"
)

// App is the program.
type App struct {
	Name        string // "judgefarm"
	Description string
	Version     string // printed by --version
	// ExitCodes overrides ExitCode for commands, by name: for those that hand on
	// another program's. Bad usage of such a command is a UsageError to it.
	ExitCodes map[string]func(error) int
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
}

// Grammar is a pointer to a kong grammar that embeds Common and whose commands
// have the method Run(*Env) error.
type Grammar interface{ common() *Common }

// Env is what a command runs in.
type Env struct {
	App
	Log    *slog.Logger
	Common Common
}

// Main parses args, runs the chosen command and returns the exit code for the
// process. What a command returns is printed once, here; see ExitCode.
func Main(app App, grammar Grammar, args []string) int {
	command, run, code := prepare(app, grammar, args)
	if run == nil {
		return code
	}
	env := &Env{App: app, Common: *grammar.common()}
	env.Log = env.Common.Logger(app.Stderr)
	err := run(env)
	env.complain(err)
	return app.exitCode(command, err)
}

func (app App) exitCode(command string, err error) int {
	if own, ok := app.ExitCodes[command]; ok {
		return own(err)
	}
	return ExitCode(err)
}

// prepare parses. A nil run means that all is said: help, version or a fault.
func prepare(app App, grammar Grammar, args []string) (command string, run func(*Env) error, code int) {
	defer func() { // kong leaves --help and --version by calling Exit
		if p := recover(); p != nil {
			left, ok := p.(exited)
			if !ok {
				panic(p)
			}
			run, code = nil, int(left)
		}
	}()
	kctx, err := parse(app, grammar, args)
	if err != nil {
		fmt.Fprintf(app.Stderr, "%s: %v\n", app.Name, err)
		fmt.Fprintf(app.Stderr, "see %s --help\n", strings.TrimSpace(app.Name+" "+commandOf(err)))
		return "", nil, app.exitCode(commandOf(err), &UsageError{err: err})
	}
	return kctx.Selected().Name, func(env *Env) error { return kctx.Run(env) }, ExitOK
}

// commandOf names the command that was being parsed when err came up.
func commandOf(err error) string {
	var bad *kong.ParseError
	if !errors.As(err, &bad) || bad.Context == nil {
		return ""
	}
	for _, step := range bad.Context.Path {
		if step.Command != nil {
			return step.Command.Name
		}
	}
	return ""
}

// complain prints why the command ended, unless it ended well or said it already.
func (e *Env) complain(err error) {
	var (
		bad    *judge.BadRequest
		silent Silent
	)
	switch {
	case err == nil || errors.Is(err, ErrNotAccepted) || errors.As(err, &silent):
	case e.Common.LogFormat == "json":
		e.Log.Error("ended", "error", err.Error())
	case errors.As(err, &bad):
		for _, fault := range bad.Faults {
			fmt.Fprintf(e.Stderr, "%s: %v\n", e.Name, fault)
		}
	default:
		fmt.Fprintf(e.Stderr, "%s: %v\n", e.Name, err)
	}
}

// Contexts turns signals into the two contexts of a daemon; see the function.
func (e *Env) Contexts(drain time.Duration) (take, work context.Context, stop func()) {
	return Contexts(context.Background(), drain, e.Log)
}

// Context is for commands that have nothing to drain: the first SIGINT or SIGTERM ends it.
func (e *Env) Context() (ctx context.Context, stop func()) {
	_, work, stop := Contexts(context.Background(), 0, e.Log)
	return work, stop
}
