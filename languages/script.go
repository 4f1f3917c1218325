package languages

import (
	"time"

	"judgefarm/judge"
)

// Script is what stands for a language where a program of a package says by itself how
// it is made and started: files among which are shell scripts called build, run or
// both. It is in no Set: submissions are never in it.
//
// build runs in a copy of the program's folder and must leave a file called run there.
// run starts in a folder of its own in which it finds all of that, as links.
func Script() *Language { return &script }

// What is installed of this counts for the digest: nobody knows which programs a
// script starts. The format promises it a shell, python3, cc and c++.
var scriptPackages = []string{
	"dash", "coreutils", "make", "libc6-dev", "gcc", "gcc-12", "g++", "g++-12", "libstdc++-12-dev",
	"python3", "python3.11", "pypy3", "openjdk-17-jdk-headless", "rustc", "golang-go",
}

var script = Language{
	ID: "script", Name: "build and run scripts", Source: "run",
	Suffix: []string{""}, // every file belongs to it
	Compile: &Step{
		Args: []string{"/bin/sh", "-c",
			`chmod -R u+x . && if [ -e build ]; then ./build || exit; fi; [ -f run ] || { echo 'there is no file called run'; exit 1; }; chmod u+x run`},
		Limits: &StepLimits{
			CPU: time.Minute, Wall: 3 * time.Minute, Memory: Size(2 * judge.GiB), Tasks: 256,
			Log: Size(64 * judge.KiB), Disk: Size(512 * judge.MiB), Artifact: Size(128 * judge.MiB),
		},
	},
	Allowance: Allowance{Tasks: 128}, // it may start a virtual machine
	Run:       Step{Args: []string{"/bin/sh", "-c", `cp -Rs "$0/." . && exec ./run "$@"`, "{exe}"}},
	Toolchain: Tools{Programs: []string{"/bin/sh"}, Version: []string{"/bin/sh", "-c", "echo POSIX shell"}, Packages: scriptPackages},
}
