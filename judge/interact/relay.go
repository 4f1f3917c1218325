package interact

import (
	"bytes"
	"os"
	"sync"

	"judgefarm/judge"
)

// relay copies one direction of a dialogue from pipe to pipe, counts and notes. A pipe
// alone cannot be looked into: without a relay nothing is known of what is said.
type relay struct {
	mark   byte
	most   int64 // 0 is no bound
	over   func()
	record *record
}

// copy ends with its source, and when more than most came: then over is called, and
// what is beyond is not handed on.
func (r relay) copy(to, from *os.File) {
	buf := make([]byte, 64<<10)
	var total int64
	for {
		n, err := from.Read(buf)
		total += int64(n)
		part := buf[:n]
		if r.most > 0 && total > r.most {
			part = part[:n-int(min(total-r.most, int64(n)))]
		}
		r.record.add(r.mark, part)
		if _, werr := to.Write(part); werr != nil {
			return // the end of what reads is held until all is dropped: it never is
		}
		if len(part) < n {
			r.over()
			return
		}
		if err != nil {
			return
		}
	}
}

// record is what both sides said, in the order in which it went through, as lines that
// begin with "> " (the program) or "< " (the interactor). Text that one of them breaks
// off in the middle of a line ends with a backslash.
type record struct {
	most judge.Bytes

	mu   sync.Mutex
	buf  bytes.Buffer
	mark byte // of the line that is not at its end; 0 is none
	cut  bool
}

const cutNote = "... cut here\n"

func (r *record) add(mark byte, said []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range bytes.Lines(said) {
		room := max(0, int(r.most)-r.buf.Len())
		if r.cut = r.cut || len(line) > room; r.cut {
			line = line[:min(len(line), room)]
		}
		if len(line) == 0 {
			return
		}
		if r.mark != 0 && r.mark != mark {
			r.buf.WriteString("\\\n")
			r.mark = 0
		}
		if r.mark == 0 {
			r.buf.Write([]byte{mark, ' '})
		}
		r.buf.Write(line)
		if r.mark = mark; line[len(line)-1] == '\n' {
			r.mark = 0
		}
	}
}

func (r *record) text() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.most == 0 {
		return nil
	}
	if r.mark != 0 {
		r.buf.WriteString("\\\n")
	}
	if r.cut {
		r.buf.WriteString(cutNote)
	}
	return r.buf.Bytes()
}
