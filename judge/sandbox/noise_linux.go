package sandbox

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// exitNoise is what one program's own counters say.
type exitNoise struct {
	runDelay    time.Duration
	involuntary int64
}

var noExitNoise = exitNoise{Unknown, Unknown}

// noise is what disturbed the run that ended so.
func (b *box) noise(e end, wall time.Duration) *Noise {
	own := b.lastNoise
	if e.seen {
		own = e.noise
	}
	n := &Noise{
		RunDelay: own.runDelay, Involuntary: own.involuntary,
		Pressure: Pressure{Unknown, Unknown, Unknown}, Steal: Unknown,
	}
	if wall >= HostResolution && !b.hostAtStart.at.IsZero() {
		now := b.s.host.sample(time.Now())
		n.Pressure.CPU = since(b.hostAtStart.cpu, now.cpu)
		n.Pressure.Memory = since(b.hostAtStart.memory, now.memory)
		n.Pressure.IO = since(b.hostAtStart.io, now.io)
		n.Steal = since(b.hostAtStart.steal, now.steal)
	}
	return n
}

func since(before, after time.Duration) time.Duration {
	if before < 0 || after < 0 {
		return Unknown
	}
	return max(after-before, 0) // steal may step back; proc_stat(5)
}

// noise reads the counters of the main program while it lives, from outside: a box
// that is ended by us cannot tell them. It costs 40 us, so it is for the moment
// before that only.
func (g *group) noise() exitNoise {
	members, err := readAt(g.c.pids.fd, g.name+"/cgroup.procs")
	if err != nil {
		return noExitNoise
	}
	// The first is the lowest (v1) or the one that joined first (v2). Process ids may
	// have begun anew, so it is looked at: the main program is the box's second.
	pid, _, _ := strings.Cut(members, "\n")
	proc := "/proc/" + pid
	status, err := readAt(unix.AT_FDCWD, proc+"/status")
	if err != nil {
		return noExitNoise
	}
	_, inside, _ := strings.Cut(status, "\nNSpid:")
	inside, _, _ = strings.Cut(inside, "\n")
	if !strings.HasSuffix(inside, "\t2") {
		return noExitNoise
	}
	n := noExitNoise
	if v := field(status, "nonvoluntary_ctxt_switches"); v >= 0 {
		n.involuntary = v
	}
	stat, err := readAt(unix.AT_FDCWD, proc+"/schedstat")
	if f := strings.Fields(stat); err == nil && len(f) == 3 && f[2] != "0" {
		if v, err := strconv.ParseInt(f[1], 10, 64); err == nil {
			n.runDelay = time.Duration(v)
		}
	}
	return n
}
