package checker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"judgefarm/judge"
)

// staged is the data of one check as files. Programs get files and no pipes:
// a checker that stops reading early, or never reads, cannot block anybody.
type staged struct {
	dir    string
	data   string // directory of input and answer
	output *os.File
}

// stage writes the data of a case below base. The caller removes it.
func stage(base string, in Input) (*staged, error) {
	dir, err := os.MkdirTemp(base, "check-")
	if err != nil {
		return nil, judge.Fail(judge.FailInternal, fmt.Errorf("stage check: %w", err))
	}
	s := &staged{dir: dir, data: filepath.Join(dir, "data")}
	if err := s.fill(in); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *staged) fill(in Input) error {
	// The box's user must be able to read what is mounted, whatever our umask is.
	if err := errors.Join(os.Mkdir(s.data, 0o755), os.Chmod(s.data, 0o755), os.Chmod(s.dir, 0o755)); err != nil {
		return judge.Fail(judge.FailInternal, fmt.Errorf("stage check: %w", err))
	}
	for _, part := range []struct {
		name string
		open opener
	}{{"input", in.Input}, {"answer", in.Answer}} {
		f, err := save(filepath.Join(s.data, part.name), part.open)
		if err != nil {
			return judge.Fail(judge.FailProblem, fmt.Errorf("stage %s of case %s: %w", part.name, in.Case, err))
		}
		f.Close()
	}
	// Beside the input: some protocols name the output, others read it.
	f, err := save(filepath.Join(s.data, "output"), in.Output)
	if err != nil {
		return judge.Fail(judge.FailInternal, fmt.Errorf("stage output of case %s: %w", in.Case, err))
	}
	s.output = f
	return nil
}

func (s *staged) remove() {
	if s.output != nil {
		s.output.Close()
	}
	os.RemoveAll(s.dir)
}

type opener = func() (io.ReadCloser, error)

// save copies data into a new file that everyone may read and returns it open
// for reading, at its start.
func save(path string, open opener) (f *os.File, err error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(w, r)
	if err := errors.Join(err, w.Chmod(0o644), w.Close()); err != nil {
		return nil, err
	}
	return os.Open(path)
}
