package engine

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// DefaultKeepOutput is Config.KeepOutput where none is stated.
const DefaultKeepOutput = 1 * judge.MiB

// produced is what a run left to be ruled on: bytes in memory and, behind them, those
// in a file, so that no output makes this process large.
type produced struct {
	data   []byte
	rest   *os.File // nil for none
	more   int64    // bytes in it
	absent string   // what the program did instead of leaving a file; "" for nothing
	large  bool     // more than allowed
}

// spill makes the file for what a run prints beyond what is held, nil where it cannot
// be so much. It has no name any more: it is gone with its last user, us.
func (s *session) spill() (*os.File, error) {
	if s.lim.Output <= sandbox.SpillAfter {
		return nil, nil
	}
	f, err := os.CreateTemp(s.Dir, "output-")
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err != nil {
		return nil, judge.Fail(judge.FailStorage, fmt.Errorf("make file for output: %w", err))
	}
	return f, nil
}

func (p produced) open() (io.ReadCloser, error) {
	var r io.Reader = bytes.NewReader(p.data)
	if p.more > 0 {
		r = io.MultiReader(r, io.NewSectionReader(p.rest, 0, p.more))
	}
	return io.NopCloser(r), nil
}

// first returns at most so many bytes, for the artifacts, and how many there are.
func (p produced) first(most judge.Bytes) (data []byte, total int64, err error) {
	total = int64(len(p.data)) + p.more
	if want := min(int64(most), total) - int64(len(p.data)); want > 0 && p.more > 0 {
		data = make([]byte, int64(len(p.data))+want)
		_, err = p.rest.ReadAt(data[copy(data, p.data):], 0)
		return data, total, err
	}
	return p.data[:min(int64(len(p.data)), max(int64(most), 0))], total, nil
}

func (p produced) close() {
	if p.rest != nil {
		p.rest.Close()
	}
}
