package sandbox

import (
	"fmt"
	"slices"

	"judgefarm/judge"
)

// Isolation is a level: what stands between a program and the host, and what
// bounds it. A lower one than full is chosen by the operator and never by us.
type Isolation string

// The levels, best first.
const (
	Full   Isolation = "full"   // namespaces, pivot_root, seccomp and a cgroup
	Userns Isolation = "userns" // all of that but the cgroup: for hosts without a writable one
	Ptrace Isolation = "ptrace" // neither namespaces nor a cgroup: every process traced, seccomp, Landlock
)

// Levels returns all levels, best first.
func Levels() []Isolation { return []Isolation{Full, Userns, Ptrace} }

// level returns the level that i names: "" is full. The error names all of them.
func (i Isolation) level() (Isolation, error) {
	if i == "" {
		return Full, nil
	}
	if !slices.Contains(Levels(), i) {
		return "", fmt.Errorf("isolation: must be one of %s, %s and %s, is %q", Full, Userns, Ptrace, string(i))
	}
	return i, nil
}

// Enforced says how a level holds each limit and what of the host it keeps away.
func (i Isolation) Enforced() judge.Enforced {
	e := judge.Enforced{
		Isolation: string(i), CPU: judge.Exact, Wall: judge.Exact, Memory: judge.Exact,
		Output: judge.Exact, Tasks: judge.Exact, Disk: judge.Exact,
		Files: judge.Exact, Network: judge.Exact, Processes: judge.Exact,
	}
	switch i {
	case Userns: // CPU time where the kernel lets us count it; see Sandbox.Enforced
		e.Memory = judge.Sampled
	case Ptrace:
		// Other processes of the host are seen, and out of reach all the same.
		e.Memory, e.Disk, e.Processes = judge.Sampled, judge.Sampled, judge.None
	}
	return e
}
