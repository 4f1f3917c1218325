package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/languages"
)

type languagesInstallCmd struct {
	IDs          []string `arg:"" name:"id" help:"Languages to install, by id or alias."`
	DryRun       bool     `help:"Only print the commands that would be run."`
	LanguagesDir string   `help:"Directory of further language definitions (*.yaml); one with the id of a bundled one replaces it." placeholder:"DIR"`
}

// Run installs what the languages lack and looks whether they are there then. The
// programs decide, not the packages: what is there already is left alone.
func (c *languagesInstallCmd) Run(env *daemon.Env) error {
	ctx, stop := env.Context()
	defer stop()
	set, err := languages.Load(languages.Config{Dir: c.LanguagesDir})
	if err != nil {
		return daemon.Usage("--languages-dir: %w", err)
	}
	chosen, err := chosenLanguages(set, c.IDs)
	if err != nil {
		return err
	}
	prober := languages.NewProber(languages.ProberConfig{})
	missing, err := missingLanguages(ctx, prober, chosen)
	if err != nil {
		return err
	}
	for _, l := range chosen {
		if !slices.ContainsFunc(missing, func(tc *languages.Toolchain) bool { return tc.Language == l }) {
			fmt.Fprintf(env.Stdout, "%s is there\n", l.ID)
		}
	}
	commands, err := installCommands(missing)
	if err != nil || len(commands) == 0 {
		return err
	}
	for _, args := range commands {
		fmt.Fprintln(env.Stdout, strings.Join(args, " "))
	}
	if c.DryRun {
		return nil
	}
	if os.Geteuid() != 0 {
		return daemon.Usage("installing packages takes root: run the commands above with sudo, or judgefarm as root")
	}
	for _, args := range commands {
		if err := runInstaller(ctx, env.Stderr, args); err != nil {
			return err
		}
	}
	return confirmInstalled(ctx, env, languages.NewProber(languages.ProberConfig{}), missing)
}

// missingLanguages are the toolchains of languages of which something is not there.
func missingLanguages(ctx context.Context, prober *languages.Prober, chosen []*languages.Language) ([]*languages.Toolchain, error) {
	var missing []*languages.Toolchain
	for _, l := range chosen {
		tc, err := prober.Probe(ctx, l)
		if err != nil {
			return nil, err
		}
		if len(tc.Missing) > 0 {
			missing = append(missing, tc)
		}
	}
	return missing, nil
}

// installCommands bring the packages of toolchains, each once.
func installCommands(missing []*languages.Toolchain) ([][]string, error) {
	var apt, npm []string
	for _, tc := range missing {
		l := tc.Language
		switch {
		case l.Environment.Root != "":
			return nil, daemon.Usage("%s runs in a root of its own, which apt cannot fill: judgefarm languages build makes one", l.ID)
		case len(l.Toolchain.Packages)+len(l.Toolchain.Npm) == 0:
			return nil, daemon.Usage("the definition of %s names no packages (toolchain.packages)", l.ID)
		}
		apt = append(apt, l.Toolchain.Packages...)
		npm = append(npm, l.Toolchain.Npm...)
	}
	var commands [][]string
	if len(npm) > 0 {
		if _, err := exec.LookPath("npm"); err != nil {
			apt = append(apt, "npm")
		}
	}
	if len(apt) > 0 {
		commands = append(commands, []string{"apt-get", "update"},
			append([]string{"apt-get", "install", "--yes", "--no-install-recommends"}, unique(apt)...))
	}
	if len(npm) > 0 {
		commands = append(commands, append([]string{"npm", "install", "--prefix", languages.NpmPrefix,
			"--no-audit", "--no-fund", "--ignore-scripts"}, unique(npm)...))
	}
	return commands, nil
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// runInstaller runs one command with its output on our standard error.
func runInstaller(ctx context.Context, stderr io.Writer, args []string) error {
	program, err := exec.LookPath(args[0])
	if err != nil {
		return daemon.Usage("%s is not on this host: install %s by what stands for it here", args[0], strings.Join(args[2:], " "))
	}
	cmd := exec.CommandContext(ctx, program, args[1:]...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.Stdout, cmd.Stderr = stderr, stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// confirmInstalled looks again for what was missing.
func confirmInstalled(ctx context.Context, env *daemon.Env, prober *languages.Prober, missing []*languages.Toolchain) error {
	for _, old := range missing {
		tc, err := prober.Probe(ctx, old.Language)
		if err != nil {
			return err
		}
		if len(tc.Missing) > 0 {
			return &judge.Failed{Kind: judge.FailToolchain, Reason: fmt.Sprintf("%s is installed and still lacks: %s", tc.Language.ID, tc.Missing[0].What)}
		}
		fmt.Fprintf(env.Stdout, "%s is installed; judgefarm languages --self-test %s tries it\n", tc.Language.ID, tc.Language.ID)
	}
	return nil
}
