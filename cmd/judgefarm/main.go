// Command judgefarm is an online judge and batch-evaluation worker farm: judging
// on this machine (judge), all of it in one process (serve), or the farm's parts
// as daemons (dispatcher, worker). One file holds one subcommand; what they share
// is in local.go (judging here), farm.go (the parts of a farm) and table.go (printing).
package main

import (
	"os"
	"runtime/debug"

	"judgefarm/internal/daemon"
)

// grammar is the command line. Names of flags are also the keys of --config.
type grammar struct {
	daemon.Common
	Judge      judgeCmd      `cmd:"" help:"Judge a submission on this machine, without a server."`
	Serve      serveCmd      `cmd:"" help:"Run everything in one process: API, queue, workers."`
	Dispatcher dispatcherCmd `cmd:"" help:"Run the API and the queue's feeder against Redis and a blob store."`
	Worker     workerCmd     `cmd:"" help:"Judge what the queue delivers."`
	Run        runCmd        `cmd:"" help:"Run one program once in a box, with a report; its exit code is handed on."`
	Verify     verifyCmd     `cmd:"" help:"Find out whether problem packages are what they say: data, checker, labelled submissions, time limit."`
	Submit     submitCmd     `cmd:"" help:"Send a submission to a server."`
	Pack       packCmd       `cmd:"" help:"Write a problem package of any format in the one form that farms keep."`
	Problems   problemsCmd   `cmd:"" help:"Put problems on a server, list them, go back to a version, delete them."`
	Rejudge    rejudgeCmd    `cmd:"" help:"Judge submissions of a server again, show the difference, apply it or drop it."`
	Replay     replayCmd     `cmd:"" help:"Judge old submissions again and compare the verdicts."`
	Languages  languagesCmd  `cmd:"" help:"Show the languages that this host really has, or install them."`
	Doctor     doctorCmd     `cmd:"" help:"Show what this host can enforce, and what to mend."`
	Bench      benchCmd      `cmd:"" help:"Measure what judging costs on this machine."`
	Demo       demoCmd       `cmd:"" help:"Judge the labelled submissions of problem packages and compare the verdicts."`
}

func main() {
	os.Exit(daemon.Main(daemon.App{
		Name:        "judgefarm",
		Description: "Judge programs in one-shot sandboxes: on this machine or on a farm of workers.",
		Version:     version(),
		ExitCodes:   map[string]func(error) int{"run": runExitCode},
		Stdin:       os.Stdin,
		Stdout:      os.Stdout,
		Stderr:      os.Stderr,
	}, &grammar{}, os.Args[1:]))
}

// version is that of the build: a tag, or the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value
		}
	}
	return v
}
