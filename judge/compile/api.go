package compile

import (
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
)

// Request is one submission's source files to compile.
type Request struct {
	Language *languages.Language
	Files    []judge.File
	Main     string // the name of the main file; "" leaves it to the language's rules
	// Flags are put right after the compiler's name, which must not be a shell's.
	Flags []string
	// Least is what the compiler may use at least, where its language says less.
	Least judge.Limits
	// Strict runs a check that may run code of the program in strict mode.
	Strict bool
}

// Result is what the compiler did. Executable is nil when it refused.
type Result struct {
	Executable *Executable
	Verdict    judge.Verdict // "", CompileError or CompileTimeLimit
	Log        []byte        // what the compiler printed, both streams, and a line of ours when a limit stopped it
	LogTotal   int64         // bytes of it before any cut
	Usage      judge.Usage   // of the compile that made it
	Took       time.Duration // of this call
	Cached     bool
}

// Executable is the product of a compile: a host directory, mounted read-only
// at sandbox.ExeDir, and how to start it. It is plain data so that fakes can make
// one; everybody else gets it from Compiler.Compile and calls Release.
type Executable struct {
	Dir    string   // on this host, world-readable; stays until Release
	Args   []string // as seen in the box; words that stand for limits are left to CommandOf
	Env    []string // the whole environment, likewise
	Digest string   // sha256 over source, toolchain and flags

	Root   string          // host directory used as the box's system root; "" is the host's own
	Mounts []sandbox.Mount // what the language's environment adds; Dir is not among them

	release func()
}

// Release lets the cache evict the directory. Call it when no run needs it;
// later calls do nothing.
func (e *Executable) Release() {
	if e.release != nil {
		e.release()
	}
}

// Command is how to run an executable under given limits.
type Command struct {
	Args    []string
	Env     []string
	Root    string
	Mounts  []sandbox.Mount
	Slack   judge.Bytes // the language's memory allowance, for sandbox.Spec.Slack
	Release func()      // of the executable
}
