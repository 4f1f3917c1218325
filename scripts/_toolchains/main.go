// Command toolchains reads the language definitions for scripts/toolchains.sh,
// before the program itself can be built:
//
//	packages core|all   prints lines "apt NAME" and "npm NAME@VERSION"
//	check core|all      prints what this host has; status 1 when something is missing
//	prefix              prints where npm packages go
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"judgefarm/languages"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "toolchains:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	set, err := languages.Load(languages.Config{})
	if err != nil {
		return err
	}
	langs := set.All()
	if len(args) == 2 && args[1] == "core" {
		langs = slices.DeleteFunc(langs, func(l *languages.Language) bool { return !l.Core })
	}
	switch {
	case len(args) == 1 && args[0] == "prefix":
		fmt.Println(languages.NpmPrefix)
		return nil
	case len(args) == 2 && args[0] == "packages":
		packages(langs)
		return nil
	case len(args) == 2 && args[0] == "check":
		return check(langs)
	}
	return fmt.Errorf("usage: packages core|all, check core|all, or prefix")
}

// packages prints each package once, in the order of the definitions.
func packages(langs []*languages.Language) {
	seen := map[string]bool{}
	for _, l := range langs {
		var lines []string
		for _, p := range l.Toolchain.Packages {
			lines = append(lines, "apt "+p)
		}
		for _, p := range l.Toolchain.Npm {
			lines = append(lines, "npm "+p)
		}
		for _, line := range lines {
			if !seen[line] {
				fmt.Println(line)
			}
			seen[line] = true
		}
	}
}

func check(langs []*languages.Language) error {
	prober := languages.NewProber(languages.ProberConfig{})
	missing := 0
	for _, l := range langs {
		tc, err := prober.Probe(context.Background(), l)
		if err != nil {
			return err
		}
		if len(tc.Missing) == 0 {
			fmt.Printf("%-12s there\n", l.ID)
			continue
		}
		missing++
		for _, m := range tc.Missing {
			fmt.Printf("%-12s MISSING  %s (%s)\n", l.ID, m.What, m.Fix)
		}
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d languages are missing", missing, len(langs))
	}
	return nil
}
