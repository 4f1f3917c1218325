package sandbox

import (
	"time"

	"judgefarm/judge"
)

// What the kernel charges to a box is more than the program's: whoever reads a page
// of a file first is charged for it, and with cold caches that is a toolchain. Of the
// file systems that a box sees only those in memory can be written to, so what is
// charged as file and not as shared memory came from files that were there before.
// It is no part of Report.Memory. The limit counts it and yet is not reached by it:
// the kernel takes clean pages back before it gives up; Documentation/admin-guide/
// cgroup-v2.rst, memory.max, and cgroup-v1/memory.rst, section 2.5.

// parts are what a box's memory was used for at one time.
type parts struct {
	anon, shmem judge.Bytes
	file        judge.Bytes // page cache without shared memory
}

// lastSample is what the watcher saw when it last looked.
type lastSample struct{ anon, shmem judge.Bytes }

// keep takes a sample, but not that of a program that is dead and not yet known to be:
// what lives has anonymous memory, its stack at least.
func (l *lastSample) keep(anon, shmem judge.Bytes) {
	if anon > 0 {
		l.anon, l.shmem = anon, shmem
	}
}

// batch is what the kernel may charge ahead: a peak below is not worth a look.
const batch = 512 * judge.KiB

// parts reads memory.stat, which lags by up to 64 pages per core. ok is false where
// it cannot be read.
func (g *group) parts() (p parts, ok bool) {
	s, err := readAt(g.c.memory.fd, g.name+"/memory.stat")
	if err != nil {
		return parts{}, false
	}
	anon, file := "rss", "cache"
	if g.c.memory.v2 {
		anon, file = "anon", "file"
	}
	bytes := func(name string) judge.Bytes { return judge.Bytes(max(field(s, name), 0)) }
	p = parts{anon: bytes(anon), shmem: bytes("shmem")}
	p.file = max(bytes(file)-p.shmem, 0)
	return p, true
}

// sample implements meter. What cannot be read is 0.
func (g *group) sample(b *box, _ time.Time) error {
	p, ok := g.parts()
	b.keep(p.anon, p.shmem)
	file := "/memory.usage_in_bytes"
	if g.c.memory.v2 {
		file = "/memory.current"
	}
	if now, err := readInt(g.c.memory.fd, g.name+file); err == nil && ok {
		g.own = max(g.own, judge.Bytes(now)-p.file)
	}
	return nil
}

// memory fills in what is said of a dead box's memory: its peak without the page
// cache that it is still charged for. A peak from before the cache came is not to be
// had that way, so what was seen meanwhile counts too. Cache that the kernel took
// back after the peak stays in it.
func (g *group) memory(r *Report, peak judge.Bytes) {
	r.Memory, r.Evidence.Peak = peak, peak
	if peak <= batch {
		return
	}
	if left, ok := g.parts(); ok {
		r.Evidence.FileCache = left.file
		r.Memory = ownPeak(peak, left.file, g.own)
	}
}

// ownPeak is at most the peak, at least what was seen.
func ownPeak(peak, cacheLeft, seen judge.Bytes) judge.Bytes {
	return min(max(peak-cacheLeft, seen, 0), peak)
}
