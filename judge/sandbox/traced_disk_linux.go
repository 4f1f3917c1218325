package sandbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// How often files are counted: as soon as they could be over the limit at the fastest
// that programs were seen to write, within bounds, and so that counting takes a small
// part of the time. When exactly is left to chance, so that no program can have its
// files out of sight each time.
const (
	writeSpeed    = 2 // bytes a nanosecond
	shortestCount = 10 * time.Millisecond
	longestCount  = 100 * time.Millisecond
	countShare    = 4 // a count takes a fifth of the time at most
)

// errOverDisk is what ends a count: the run is over its limit of bytes or files, or
// keeps us from counting, which no program does that is within it.
var errOverDisk = errors.New("files are over the limit of disk or inodes")

// diskOver reports whether the run's files are over a limit. It looks when it is time.
func (r *tracedRun) diskOver(now time.Time) (bool, error) {
	if now.Before(r.diskAt) {
		return false, nil
	}
	bytes, err := r.diskUse()
	if errors.Is(err, errOverDisk) {
		return true, nil
	}
	after := time.Now()
	next := min(max(time.Duration((r.lim.Disk-bytes)/writeSpeed), shortestCount), longestCount)
	next = max(next, countShare*after.Sub(now)) // thousands of directories take tens of milliseconds
	r.diskAt = after.Add(next/2 + rand.N(next))
	return false, err
}

// diskUse is what the run's files take. Links are not followed; a file with several
// names counts once for its bytes.
func (r *tracedRun) diskUse() (bytes judge.Bytes, err error) {
	err = asUser(r.uid, r.t.switchUser, func() (err error) {
		bytes, err = r.countDisk()
		return err
	})
	return bytes, err
}

func (r *tracedRun) countDisk() (bytes judge.Bytes, err error) {
	files := -2 // work and tmp are ours
	bytes = -r.empty
	linked := map[uint64]bool{}
	err = walkTree(r.root, func(st *unix.Stat_t) error {
		files++
		if st.Nlink > 1 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			if linked[st.Ino] {
				st.Blocks = 0
			}
			linked[st.Ino] = true
		}
		bytes += judge.Bytes(st.Blocks) * 512
		if files > r.lim.Inodes || bytes > r.lim.Disk {
			return errOverDisk
		}
		return nil
	})
	switch {
	case err == nil:
	case hostsOwn(err):
		return 0, fmt.Errorf("count files: %w", err)
	default: // whatever a program does to its directories
		return 0, errOverDisk
	}
	var st unix.Stat_t
	if err := unix.Fstat(r.root, &st); err != nil {
		return 0, fmt.Errorf("count files: %w", err)
	}
	held, err := r.line.heldUse(r.dir, uint64(st.Dev), r.lim.FileSize)
	if bytes += held; err == nil && bytes > r.lim.Disk {
		err = errOverDisk
	}
	return bytes, err
}

// hostsOwn tells what the host lacks from what a program did.
func hostsOwn(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.EIO)
}
