package sandbox

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// held counts files that nobody finds any more, since their last name was removed, and
// that processes hold still: open, mapped or executed.
type held struct {
	dir     string      // the run's own
	dev     uint64      // of it
	largest judge.Bytes // that a file may be
	files   map[uint64]judge.Bytes
	text    int64 // of mappings that may still be read
}

// maxMaps bounds the text of mappings that one count reads, some 100,000 of them and
// 40 ms: no program that is within its limits has as many.
const maxMaps = 8 << 20

// heldUse is what such files take. errOverDisk says that it cannot be told.
func (t *lineage) heldUse(dir string, dev uint64, largest judge.Bytes) (judge.Bytes, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := held{dir: dir + "/", dev: dev, largest: largest, files: map[uint64]judge.Bytes{}, text: maxMaps}
	for pid := range t.clocks {
		first, _ := living(pid)
		if first == 0 {
			continue
		}
		if err := errors.Join(h.open(first), h.mapped(first)); err != nil {
			return 0, err
		}
		h.look("/proc/" + strconv.Itoa(first) + "/exe")
		for tid, k := range t.tasks { // a thread may have descriptors of its own
			if k.process == pid && tid != first && !sameTable(first, tid) {
				if err := h.open(tid); err != nil {
					return 0, err
				}
			}
		}
	}
	var sum judge.Bytes
	for _, n := range h.files {
		sum += n
	}
	return sum, nil
}

// open looks at the files that a task has open.
func (h *held) open(tid int) error {
	dir := "/proc/" + strconv.Itoa(tid) + "/fd/"
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, unix.EACCES) && memoryStatus(tid) != "": // else it is dead
		return errOverDisk // it executes what its owner may not read
	case err != nil && hostsOwn(err):
		return err
	}
	for _, e := range entries { // none, when it is dead
		h.look(dir + e.Name())
	}
	return nil
}

// look counts the file that a link of /proc leads to, and reports whether it could.
func (h *held) look(link string) bool {
	var st unix.Stat_t
	if unix.Stat(link, &st) != nil {
		return false
	}
	if st.Nlink == 0 && uint64(st.Dev) == h.dev && st.Mode&unix.S_IFMT == unix.S_IFREG {
		h.files[st.Ino] = judge.Bytes(st.Blocks) * 512
	}
	return true
}

// mapped looks at what a process has mapped; proc(5), maps and map_files. What is mapped
// may be a small part of its file, and only a privileged worker may look at that.
func (h *held) mapped(tid int) error {
	proc := "/proc/" + strconv.Itoa(tid)
	f, err := os.Open(proc + "/maps")
	if err != nil {
		if hostsOwn(err) {
			return err
		}
		return nil // dead, or one that open has told of
	}
	defer f.Close()
	rest := &io.LimitedReader{R: f, N: h.text}
	lines := bufio.NewReader(rest)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // its end, or that of the process
		}
		at := strings.Index(line, h.dir)
		fields := strings.Fields(line)
		if at < 0 || len(fields) < 6 || !strings.HasSuffix(line, " (deleted)\n") {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		if h.look(proc + "/map_files/" + shorter(from) + "-" + shorter(to)) {
			continue
		}
		if ino, err := strconv.ParseUint(fields[4], 10, 64); err == nil && h.files[ino] == 0 {
			h.files[ino] = h.largest
		}
	}
	if h.text = rest.N; h.text <= 0 {
		return errOverDisk
	}
	return nil
}

// shorter is an address as map_files has it.
func shorter(address string) string {
	if s := strings.TrimLeft(address, "0"); s != "" {
		return s
	}
	return "0"
}

// sameTable reports whether two tasks have one table of descriptors; kcmp(2). Where the
// kernel does not tell, not.
func sameTable(a, b int) bool {
	const kcmpFiles = 2
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpFiles, 0, 0, 0)
	return errno == 0 && order == 0
}
