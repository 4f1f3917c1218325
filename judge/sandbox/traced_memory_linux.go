package sandbox

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// sample adds up what the processes use now: anonymous and shared memory, page tables,
// swap. What processes share, as after a fork, is counted for each of them; it is an
// upper bound. Of several processes the largest is what is known to have been used.
func (t *lineage) sample() judge.Bytes {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sumLocked(false)
}

// leaving is the last look at a process that is about to end.
func (t *lineage) leaving(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clocks[pid] {
		_, status := living(pid)
		t.memory = max(t.memory, resident(status)+unshared(status))
	}
}

func resident(status string) judge.Bytes { return kibOf(status, "RssAnon", "RssShmem", "VmSwap") }

func unshared(status string) judge.Bytes { return kibOf(status, "VmPTE") }

// shares is sample with what is shared divided among those that share it. The kernel
// walks all page tables for it, so it is asked only when the upper bound says so.
func (t *lineage) shares() judge.Bytes {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := t.sumLocked(true)
	t.memory = max(t.memory, sum)
	return sum
}

// sumLocked adds up the address spaces, each once. Of one that may not be looked at
// (PR_SET_DUMPABLE), or whose thread has ended meanwhile, all counts, shared or not; one
// that has died has nothing, and of what it shared the others may have told their parts
// as if it lived.
func (t *lineage) sumLocked(exactly bool) judge.Bytes {
	var sum judge.Bytes
	var seen []int
	for pid := range t.clocks {
		tid, status := living(pid)
		if tid == 0 || slices.ContainsFunc(seen, func(other int) bool { return sameMemory(tid, other) }) {
			continue
		}
		seen = append(seen, tid)
		use := resident(status)
		t.memory = max(t.memory, use+unshared(status))
		if exactly {
			if parts, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/smaps_rollup"); err == nil {
				use = kibOf(string(parts), "Pss_Anon", "Pss_Shmem", "SwapPss")
			} else if left, _ := living(pid); left == 0 {
				continue
			}
		}
		sum += use + unshared(status)
	}
	return sum
}

// living returns a thread of a process that has its memory still, and its status: the
// first one may have ended before the others. 0 is none.
func living(pid int) (int, string) {
	if status := memoryStatus(pid); status != "" {
		return pid, status
	}
	threads, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return 0, ""
	}
	for _, e := range threads {
		if tid, err := strconv.Atoi(e.Name()); err == nil && tid != pid {
			if status := memoryStatus(tid); status != "" {
				return tid, status
			}
		}
	}
	return 0, ""
}

// memoryStatus is the status of a task, "" of one that has no memory any more.
func memoryStatus(tid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil || !strings.Contains(string(text), "\nRssAnon:") {
		return ""
	}
	return string(text)
}

// sameMemory reports whether two threads have one address space, as a child of vfork
// has its parent's until it executes; kcmp(2). Where the kernel does not tell, not.
func sameMemory(a, b int) bool {
	const kcmpVM = 1
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpVM, 0, 0, 0)
	return errno == 0 && order == 0
}

func kibOf(text string, names ...string) judge.Bytes {
	var kib int64
	for _, name := range names {
		if n, ok := lineNumber(text, name); ok {
			kib += n
		}
	}
	return judge.Bytes(kib) * judge.KiB
}
