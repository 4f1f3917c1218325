// Package languages says what a language is: how its sources are named, compiled
// and run, and whether this host has what it takes. Languages are data, one file
// each in defs; no Go code knows one by name. Running compilers is judge/compile.
package languages

import (
	"time"

	"judgefarm/judge"
)

// Language is one definition, read from a file of defs or of the operator's
// directory. Command words may hold {source} (the main file), {sources} (all
// files of the language, one word each), {exe} (sandbox.ExeDir), {class} (what
// main_class found), {memory_mib} and {tasks} (limits of the run).
type Language struct {
	ID      string   `yaml:"id"`
	Name    string   `yaml:"name"`     // "C++17 (GCC)"
	Aliases []string `yaml:"aliases"`  // other ids; unique over all languages
	Source  string   `yaml:"source"`   // default main file name: main.cpp
	Suffix  []string `yaml:"suffixes"` // ".cpp", ".cc": tells the language of a file; first definition by id wins

	// MainClass, where set, is a regular expression whose first group names the
	// class that the main file must be called after ("public class X").
	MainClass string `yaml:"main_class"`

	Compile *Step `yaml:"compile"` // nil: no compiler; the sources are the executable
	Run     Step  `yaml:"run"`

	Environment Environment `yaml:"environment"`
	Allowance   Allowance   `yaml:"allowance"`
	Toolchain   Tools       `yaml:"toolchain"`
	SelfTest    SelfTest    `yaml:"self_test"`
}

// Step is one command in the box.
type Step struct {
	Args   []string    `yaml:"args"`
	Env    []string    `yaml:"env"`
	Limits *StepLimits `yaml:"limits"` // of a compiler; the defaults are CPU 10 s, wall 30 s, 1 GiB, 128 tasks
	Output string      `yaml:"output"` // of a compile: file or directory below the work dir that is kept; "" is all of it
}

// StepLimits are limits in a definition's words.
type StepLimits struct {
	CPU    time.Duration `yaml:"cpu"`
	Wall   time.Duration `yaml:"wall"`
	Memory string        `yaml:"memory"` // "1G", binary
	Tasks  int           `yaml:"tasks"`
	Log    string        `yaml:"log"`  // compiler output kept, default 64K
	Disk   string        `yaml:"disk"` // executable and temporary files, default 256M
}

// Environment is the file system a language runs in.
type Environment struct {
	Root   string     `yaml:"root"`   // directory, or a tar by digest; "" is the host's system directories
	Mounts []EnvMount `yaml:"mounts"` // read-only, for a venv, conda or /opt prefix
	Env    []string   `yaml:"env"`
}

// EnvMount is one read-only bind.
type EnvMount struct {
	Source string `yaml:"source"`
	Target string `yaml:"target"` // "" is the source's path
}

// Allowance is what a runtime needs for itself, on top of the problem's limits.
type Allowance struct {
	TimeFactor float64       `yaml:"time_factor"` // multiplies CPU and wall, 1 when 0
	Time       time.Duration `yaml:"time"`        // added to CPU and wall
	Memory     string        `yaml:"memory"`      // added to the memory limit
	Tasks      int           `yaml:"tasks"`       // floor of the task limit
}

// Tools names the parts whose versions and digests make the toolchain.
type Tools struct {
	Programs []string `yaml:"programs"` // absolute paths that must exist: /usr/bin/g++
	Files    []string `yaml:"files"`    // further files or globs whose content counts
	Version  []string `yaml:"version"`  // command that prints the version
	Packages []string `yaml:"packages"` // Debian packages that bring it
	Npm      []string `yaml:"npm"`      // npm packages with version, installed below the tool prefix
}

// SelfTest is a program that a working toolchain judges AC.
type SelfTest struct {
	Source   string       `yaml:"source"`
	Files    []judge.File `yaml:"-"`
	Stdin    string       `yaml:"stdin"`
	Expected string       `yaml:"expected"`
}
