package checker

import (
	"errors"
	"io"
	"os"
)

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
