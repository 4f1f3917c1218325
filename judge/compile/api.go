package compile

import (
	"time"

	"judgefarm/judge"
	"judgefarm/languages"
)

// Request is one submission's source files to compile.
type Request struct {
	Language *languages.Language
	Files    []judge.File
}

// Result is what the compiler did. Executable is nil when it refused.
type Result struct {
	Executable *Executable
	Verdict    judge.Verdict // "" , CompileError or CompileTimeLimit
	Log        []byte
	LogTotal   int64
	Usage      judge.Usage   // of the compile that made it
	Took       time.Duration // of this call
	Cached     bool
}

// Executable is the product of a compile: a host directory, mounted read-only
// at sandbox.ExeDir, and how to start it.
type Executable struct {
	Dir     string   // on this host, world-readable; stays until Release
	Args    []string // as seen in the box
	Env     []string
	Digest  string // sha256 over source, toolchain and flags
	release func()
}

// Release lets the cache evict the directory. Call it once, when no run needs it.
func (e *Executable) Release() {
	if e.release != nil {
		e.release()
	}
}
