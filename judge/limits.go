package judge

import (
	"fmt"
	"time"
)

// Limits is what one run is allowed. At the limit is within it. A zero field
// means "not stated" until Complete has filled it in.
type Limits struct {
	CPU    time.Duration // user + system time of every process of the box
	Wall   time.Duration // from the start of the program to its end
	Memory Bytes         // peak of the box's cgroup, swap off
	Output Bytes         // bytes on standard output; standard error has the same limit of its own
	Tasks  int           // processes and threads at one time
	Ptrace bool          // strict mode: only listed system calls and files, watched by a tracer
}

// DefaultLimits are applied where neither the request nor the problem states a limit.
func DefaultLimits() Limits {
	return Limits{CPU: time.Second, Memory: 256 * MiB, Output: 1 * MiB, Tasks: 64}
}

// Or returns l with every unstated field taken from d. Ptrace holds where either asks
// for it: nobody can take strict mode off what another put it on.
func (l Limits) Or(d Limits) Limits {
	if l.CPU == 0 {
		l.CPU = d.CPU
	}
	if l.Wall == 0 {
		l.Wall = d.Wall
	}
	if l.Memory == 0 {
		l.Memory = d.Memory
	}
	if l.Output == 0 {
		l.Output = d.Output
	}
	if l.Tasks == 0 {
		l.Tasks = d.Tasks
	}
	l.Ptrace = l.Ptrace || d.Ptrace
	return l
}

// Complete fills what is unstated from DefaultLimits and derives the wall limit
// from the CPU limit: the greater of 3 x CPU and CPU + 2 s.
func (l Limits) Complete() Limits {
	l = l.Or(DefaultLimits())
	if l.Wall == 0 {
		l.Wall = max(3*l.CPU, l.CPU+2*time.Second)
	}
	return l
}

// The most that a run may have.
const (
	maxCPU  = time.Hour
	maxWall = 4 * time.Hour
)

// Capped is l with no more time than a run may have: what a factor or an allowance is
// added to may have that already.
func (l Limits) Capped() Limits {
	l.CPU, l.Wall = min(l.CPU, maxCPU), min(l.Wall, maxWall)
	return l
}

// Validate reports every fault of complete limits, each as a *FieldError whose
// field is prefix plus the document's name of the limit ("limits.wall_ms").
func (l Limits) Validate(prefix string) []*FieldError {
	var faults []*FieldError
	refuse := func(field, format string, args ...any) {
		faults = append(faults, &FieldError{Field: prefix + field, Reason: fmt.Sprintf(format, args...)})
	}
	if l.CPU < time.Millisecond || l.CPU > maxCPU {
		refuse("cpu_ms", "must be 1 ms to 1 h, is %v", l.CPU)
	}
	if l.Wall < l.CPU {
		refuse("wall_ms", "must be at least the CPU limit of %v, is %v", l.CPU, l.Wall)
	} else if l.Wall > maxWall {
		refuse("wall_ms", "must be at most 4 h, is %v", l.Wall)
	}
	if l.Memory < 4*KiB || l.Memory > 1024*GiB {
		refuse("memory_kib", "must be 4 KiB to 1 TiB, is %d bytes", l.Memory)
	}
	if l.Output < 1 || l.Output > 1*GiB {
		refuse("output_kib", "must be 1 byte to 1 GiB, is %d bytes", l.Output)
	}
	if l.Tasks < 1 || l.Tasks > 32768 {
		refuse("tasks", "must be 1 to 32768, is %d", l.Tasks)
	}
	return faults
}

// Usage is what was measured of one run, or added up over several.
type Usage struct {
	CPU    time.Duration // user + system of the whole box
	Wall   time.Duration
	Memory Bytes // peak
}

// LimitsJSON is Limits as documents show them. Absent or zero means not stated.
type LimitsJSON struct {
	CPU    Millis    `json:"cpu_ms,omitempty" doc:"CPU time, user and system, of all processes, in milliseconds" minimum:"0"`
	Wall   Millis    `json:"wall_ms,omitempty" doc:"wall-clock time in milliseconds; unset: the greater of 3 x cpu_ms and cpu_ms + 2000" minimum:"0"`
	Memory Kibibytes `json:"memory_kib,omitempty" doc:"peak memory of all processes together, in KiB" minimum:"0"`
	Output Kibibytes `json:"output_kib,omitempty" doc:"standard output, and standard error apart from it, in KiB" minimum:"0"`
	Tasks  int       `json:"tasks,omitempty" doc:"processes and threads at one time" minimum:"0"`
	Ptrace bool      `json:"ptrace,omitempty" doc:"strict mode: a program that makes any but the listed system calls, or opens any but the listed files, is ended with SV; cannot be taken off a problem that states it"`
}

// JSON converts for a document.
func (l Limits) JSON() LimitsJSON {
	return LimitsJSON{
		CPU: MillisOf(l.CPU), Wall: MillisOf(l.Wall),
		Memory: KibibytesOf(l.Memory), Output: KibibytesOf(l.Output), Tasks: l.Tasks, Ptrace: l.Ptrace,
	}
}

// Limits converts back.
func (l LimitsJSON) Limits() Limits {
	return Limits{
		CPU: l.CPU.Duration(), Wall: l.Wall.Duration(),
		Memory: l.Memory.Bytes(), Output: l.Output.Bytes(), Tasks: l.Tasks, Ptrace: l.Ptrace,
	}
}

// UsageJSON is Usage as documents show it.
type UsageJSON struct {
	CPU    Millis    `json:"cpu_ms"`
	Wall   Millis    `json:"wall_ms"`
	Memory Kibibytes `json:"memory_kib"`
}

// JSON converts for a document.
func (u Usage) JSON() UsageJSON {
	return UsageJSON{CPU: MillisOf(u.CPU), Wall: MillisOf(u.Wall), Memory: KibibytesOf(u.Memory)}
}
