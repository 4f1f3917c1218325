// Package languages says what a language is: how its sources are named, compiled
// and run, and whether this host has what it takes. Languages are data, one file
// each in defs; no Go code knows one by name. Running compilers is judge/compile.
package languages

import (
	"time"

	"judgefarm/judge"
)

// Language is one definition, read from a file of defs or of the operator's
// directory. Command words may hold {source} (the main file), {stem} (the same
// without its suffix), {sources} (all files of the language, one word each), {exe}
// (sandbox.ExeDir), {class} (what main_class found), {memory_mib} and {tasks}
// (limits of the run), {box_mib} (the memory limit with the language's own
// allowance: what the kernel enforces) and {prepared} (PreparedDir; an argument or
// variable with it is left out where nothing is prepared for the sources).
type Language struct {
	ID      string   `yaml:"id" json:"id"`
	Name    string   `yaml:"name" json:"name"`         // "C++17 (GCC)"
	Aliases []string `yaml:"aliases" json:"aliases"`   // other ids; unique over all languages
	Source  string   `yaml:"source" json:"source"`     // default main file name: main.cpp
	Suffix  []string `yaml:"suffixes" json:"suffixes"` // ".cpp", ".cc": tells the language of a file, see Set.ForFile
	Rank    int      `yaml:"rank" json:"rank"`         // where several share a suffix the lowest rank wins, then the first id
	// Signature, where set, is a regular expression that tells this language's files
	// from others of the same suffix by what is in them, see Set.ForSource.
	Signature *Pattern `yaml:"signature" json:"signature,omitempty"`
	// IDs are what other systems call the language, by system, see Systems.
	IDs  map[string][]string `yaml:"ids" json:"ids,omitempty"`
	Core bool                `yaml:"core" json:"core"` // part of the small core that "make demo" installs

	// Main, where set, is a regular expression that finds the main file among several.
	Main *Pattern `yaml:"main" json:"main,omitempty"`
	// MainClass, where set, finds the class that starts the program ({class}) and
	// the name that its file must bear.
	MainClass *MainClass `yaml:"main_class" json:"main_class,omitempty"`

	// Verbatim says that what is handed in is itself what such a program prints. In a
	// problem that asks for outputs the files are taken as those, and nothing is run.
	Verbatim bool `yaml:"verbatim" json:"verbatim,omitempty"`

	// Define is what goes before a name to have the compiler define it, as "-D": an
	// argument of its own, after the compiler's name.
	Define string `yaml:"define" json:"define,omitempty"`

	// Prepare, where set, is made once for each toolchain; see Prepare.
	Prepare *Prepare `yaml:"prepare" json:"prepare,omitempty"`

	Compile *Step `yaml:"compile" json:"compile,omitempty"` // nil: no compiler; the sources are the executable
	// Check, where set, tells a syntax error of a language without a compiler; see Check.
	Check *Check `yaml:"check" json:"check,omitempty"`
	Run   Step   `yaml:"run" json:"run"`

	Environment Environment `yaml:"environment" json:"environment"`
	Allowance   Allowance   `yaml:"allowance" json:"allowance"`
	Toolchain   Tools       `yaml:"toolchain" json:"toolchain"`
	SelfTest    SelfTest    `yaml:"self_test" json:"-"`
}

// Step is one command in the box.
type Step struct {
	Args   []string    `yaml:"args" json:"args"`
	Env    []string    `yaml:"env" json:"env"`
	Limits *StepLimits `yaml:"limits" json:"limits,omitempty"` // of a compiler only
	Output string      `yaml:"output" json:"output"`           // of a compiler only: the file below the work dir that is kept, or with a trailing slash the directory whose content is; "" is all
}

// StepLimits are limits in a definition's words; sizes are binary ("1G"). What is
// not stated is as in DefaultStepLimits, of a check as in DefaultCheckLimits.
type StepLimits struct {
	CPU      time.Duration `yaml:"cpu" json:"cpu"`
	Wall     time.Duration `yaml:"wall" json:"wall"`
	Memory   Size          `yaml:"memory" json:"memory"`
	Tasks    int           `yaml:"tasks" json:"tasks"`
	Log      Size          `yaml:"log" json:"log"`           // compiler output kept
	Disk     Size          `yaml:"disk" json:"disk"`         // executable and temporary files, and the largest file
	Artifact Size          `yaml:"artifact" json:"artifact"` // the executable alone
}

// DefaultStepLimits bound a compiler whose definition states nothing else.
func DefaultStepLimits() StepLimits {
	return StepLimits{
		CPU: 10 * time.Second, Wall: 30 * time.Second, Memory: Size(judge.GiB), Tasks: 128,
		Log: Size(64 * judge.KiB), Disk: Size(256 * judge.MiB), Artifact: Size(64 * judge.MiB),
	}
}

// Environment is the file system a language runs in.
type Environment struct {
	Root   string     `yaml:"root" json:"root"`     // absolute directory, or sha256:HEX of a tar, see Prober; "" is the host's system directories
	Mounts []EnvMount `yaml:"mounts" json:"mounts"` // read-only, for a venv, conda or /opt prefix
	Env    []string   `yaml:"env" json:"env"`       // for compiler and program alike
}

// EnvMount is one read-only bind.
type EnvMount struct {
	Source string `yaml:"source" json:"source"`
	Target string `yaml:"target" json:"target"` // "" is the source's path; filled in by Load
}

// Allowance is what a runtime needs for itself, on top of the problem's limits.
type Allowance struct {
	TimeFactor float64       `yaml:"time_factor" json:"time_factor"` // multiplies CPU and wall, 1 when 0
	Time       time.Duration `yaml:"time" json:"time"`               // added to CPU and wall
	Memory     Size          `yaml:"memory" json:"memory"`           // added to the memory limit
	Tasks      int           `yaml:"tasks" json:"tasks"`             // floor of the task limit
}

// Tools names the parts whose versions and digests make the toolchain.
type Tools struct {
	Programs []string `yaml:"programs" json:"programs"` // absolute paths in the box that must exist: /usr/bin/g++
	Files    []string `yaml:"files" json:"files"`       // further files, globs or directories in the box whose content counts; each must match something
	Version  []string `yaml:"version" json:"version"`   // command that prints the version, on its first line
	Packages []string `yaml:"packages" json:"packages"` // Debian packages that bring it
	Npm      []string `yaml:"npm" json:"npm"`           // npm packages with version, installed below NpmPrefix
}

// NpmPrefix is where scripts/toolchains.sh installs npm packages: a system
// directory that every box sees.
const NpmPrefix = "/usr/local/lib/judgefarm/npm"

// SelfTest is a program that a working toolchain judges AC.
type SelfTest struct {
	Source   string       `yaml:"source"` // the main file
	Files    []judge.File `yaml:"-"`      // the same as a submission; Load fills it in
	Stdin    string       `yaml:"stdin"`
	Expected string       `yaml:"expected"` // compared token by token
}
