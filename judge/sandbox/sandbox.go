// Package sandbox runs one program once, in a box of its own, and reports what
// the kernel said about it. It knows nothing of languages, problems or verdicts.
// It is the only importer of go-sandbox.
package sandbox

import (
	"context"
	"errors"
	"os"
	"time"

	"judgefarm/judge"
)

// ErrHost is wrapped by errors that say this host cannot enforce what was asked;
// the text names the missing piece and its fix.
var ErrHost = errors.New("host cannot enforce")

// Runner runs programs in boxes. Implementations are safe for concurrent use; a
// call blocks until its box is gone. All implementations pass sandboxtest.
type Runner interface {
	// Run makes a box, runs spec's program in it, waits until every process of
	// the box is dead, collects files, removes the box and reports. A non-nil
	// error means that the box failed and nothing is known about the program; a
	// spec that cannot be run as written gives a *judge.BadRequest. When ctx ends
	// the program is killed and ctx's cause returned.
	Run(ctx context.Context, spec Spec) (*Report, error)

	// Enforced names the isolation level and how each limit is held.
	Enforced() judge.Enforced
}

// Boxes is a Runner that has to be closed: what Open makes.
type Boxes interface {
	Runner

	// Slots is how many boxes there may be at one time.
	Slots() int

	// Close waits for the runs that are under way and removes everything:
	// afterwards nothing of ours is left on the host.
	Close() error
}

// Spec is a program and what it may use. The zero value of every field but Args
// and Limits is useful.
type Spec struct {
	Args []string // Args[0] is an absolute path in the box or, without a slash, sought in the box's PATH
	Env  []string // the whole environment; nothing is inherited
	Dir  string   // absolute; "" is WorkDir

	Root   string  // host directory used as system root, read-only; "" is the host's system directories
	Mounts []Mount // read-only binds on top of the root
	Files  []File  // written into WorkDir before the start, owned by the box's user

	// Sealed keeps the program from making, changing and removing files in WorkDir. It
	// may still write to those of Files that are Open, and use /tmp and /dev/shm.
	Sealed bool

	Stdin  *os.File // "" nil is empty; read from its current offset, never closed by Run
	Stdout Stream
	Stderr Stream

	Limits judge.Limits // complete; Limits.Output bounds Stdout and Stderr where they state no limit
	Box    BoxLimits

	Collect []Collect // files taken out of WorkDir afterwards

	// Slack is added to the memory limit for what the runtime itself needs; it is
	// the language's allowance, not the program's.
	Slack judge.Bytes
}

// WorkDir is the program's writable, size-limited directory in the box. /tmp and
// /dev/shm are parts of the same file system.
const WorkDir = "/work"

// ExeDir is where an executable's directory is mounted, read-only.
const ExeDir = "/exe"

// PipesDir is where named pipes of the host are mounted. The mounts are read-only as
// all are, which does not keep a program from writing to a pipe.
const PipesDir = "/pipes"

// Mount binds a host file or directory into the box, read-only, nosuid and nodev,
// whatever is mounted below it included.
type Mount struct {
	Source string // absolute path on the host
	Target string // absolute path in the box
}

// File is written into the work directory before the program starts.
type File struct {
	Name string // relative, see judge.CheckFileName
	Data []byte
	Mode os.FileMode // 0 is 0644
	Open bool        // may be written to where the Spec is Sealed; at most 16 may be
}

// Collect takes one regular file out of the work directory when the program has
// ended. Links, devices, sparse giants and files over Max are refused, each with
// its reason in Collected.Err; nothing is followed out of the work directory.
type Collect struct {
	Name string      // relative path of a file, or a directory with Dir set: everything below it
	Max  judge.Bytes // of all files together; beyond it the collection is refused
	Dir  bool
}

// Stream is one of the program's output streams. File hands a descriptor to the
// program as it is (the caller bounds it); otherwise the output is captured.
type Stream struct {
	File  *os.File
	Limit judge.Bytes // 0 is Limits.Output; more than this is Report.Cause Output and the rest is lost
	Merge bool        // of Stderr only: write into Stdout's stream, interleaved
	Keep  bool        // beyond Limit go on and drop the rest instead of ending the run
	// Spill, where set, takes what is captured beyond SpillAfter bytes, from its start:
	// so much is held in memory at most. Its disk is the caller's, who closes it.
	Spill *os.File
}

// SpillAfter is how much of a stream with Spill is in Output.Data.
const SpillAfter = 1 << 20

// BoxLimits bound what is not part of a problem's limits.
type BoxLimits struct {
	FileSize  judge.Bytes // largest file; 0 is 64 MiB
	Disk      judge.Bytes // work directory, /tmp and /dev/shm together; 0 is 64 MiB
	Inodes    int         // files in them; 0 is 4096
	OpenFiles int         // descriptors of one process; 0 is 256
	Stack     judge.Bytes // of the main thread; 0 is the memory limit, or 8 MiB where that is less
	CPUs      []int       // cores the box may run on; empty: the worker's own
}

// Cause is what ended a run, told from evidence. One cause is reported; where
// several limits were reached docs/verdicts.md has the order.
type Cause string

// The causes.
const (
	CauseExit     Cause = "exit"     // the main program exited by itself
	CauseSignal   Cause = "signal"   // a signal ended the main program that no limit of ours explains
	CauseCPU      Cause = "cpu"      // CPU limit
	CauseWall     Cause = "wall"     // wall limit
	CauseIdle     Cause = "idle"     // wall limit with under 5 % of it used as CPU
	CauseMemory   Cause = "memory"   // memory limit: the kernel's out-of-memory counter of the box moved
	CauseOutput   Cause = "output"   // more bytes on a captured stream than allowed
	CauseFileSize Cause = "filesize" // SIGXFSZ: a file over BoxLimits.FileSize
	CauseSyscall  Cause = "syscall"  // a forbidden system call (SIGSYS by the filter, or told by the tracer in strict mode)
	CauseExec     Cause = "exec"     // the program could not be executed; Evidence.ExecError says why
)

// Report is what the kernel said about one box.
type Report struct {
	Cause  Cause
	Exit   int // exit status when the main program exited, else -1
	Signal int // signal number when one ended it, else 0

	CPU    time.Duration // user + system of every process of the box, from just before exec
	User   time.Duration
	System time.Duration
	Wall   time.Duration // from just before exec to the end of the main program
	Memory judge.Bytes   // peak of the cgroup without page cache; docs/limits.md says what is in it

	Stdout Output
	Stderr Output
	Files  []Collected

	Evidence Evidence
	Noise    *Noise // what disturbed the run; nil: nothing is known

	Setup    time.Duration // making the box
	Teardown time.Duration // from the end of the program until nothing of the box was left
}

// Evidence is what the cause was told from.
type Evidence struct {
	OOMKills     int64       `json:"oom_kills"`         // memory.events oom_kill, or v1's memory.oom_control
	OOMEvents    int64       `json:"oom_events"`        // times the limit stopped an allocation: memory.events max, or v1's failcnt
	ForksRefused int64       `json:"forks_refused"`     // pids.events max; -1 where nothing counts them
	TasksPeak    int64       `json:"tasks_peak"`        // highest count seen, -1 where the kernel does not say
	KilledBy     string      `json:"killed_by"`         // which timer or watcher of ours ended the box: "", cpu, wall, output, memory, disk (level ptrace)
	ExecError    string      `json:"exec_error"`        // errno text of a failed exec
	Peak         judge.Bytes `json:"peak_bytes"`        // of everything charged to the cgroup, page cache included
	Anon         judge.Bytes `json:"anon_bytes"`        // anonymous memory as last sampled
	Shmem        judge.Bytes `json:"shmem_bytes"`       // shared memory and files in memory as last sampled
	FileCache    judge.Bytes `json:"cache_bytes"`       // page cache of files that the box read first, at the end; not in Report.Memory
	Syscall      string      `json:"syscall,omitempty"` // strict mode: the forbidden call that ended the run, at most 512 bytes of ASCII
}

// Output is a captured stream. Data and what was spilled are at most the limit.
type Output struct {
	Data    []byte
	Spilled int64 // bytes that follow Data in Stream.Spill
	Total   int64 // bytes the program wrote as far as they were read: more than was kept when cut
	Cut     bool
}

// Collected is a file taken out of a box.
type Collected struct {
	Name string
	Mode os.FileMode
	Data []byte
	Err  error // why it was refused or absent (errors.Is fs.ErrNotExist); safe to show
}
