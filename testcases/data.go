package testcases

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// BytesData is data in memory. The caller must not change b afterwards.
func BytesData(b []byte) Data { return bytesData(b) }

type bytesData []byte

func (d bytesData) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(d)), nil }
func (d bytesData) Size() int64                  { return int64(len(d)) }

// FileData is the data of a regular file. Its Open returns an *os.File, so that
// it can be handed to a program as it is. The file must not change while the
// problem is in use; links, folders and devices are refused.
func FileData(path string) (Data, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("stat test data: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("stat test data: %s is no regular file", path)
	}
	return fileData{path: path, size: info.Size()}, nil
}

type fileData struct {
	path string
	size int64
}

func (d fileData) Open() (io.ReadCloser, error) {
	f, err := os.Open(d.path)
	if err != nil {
		return nil, fmt.Errorf("open test data: %w", err)
	}
	return f, nil
}

func (d fileData) Size() int64 { return d.size }

// Path is where the data lies; what only shows it to a person may ask for it.
func (d fileData) Path() string { return d.path }

// ReadAll returns the bytes of d, refusing more than max.
func ReadAll(d Data, max int64) ([]byte, error) {
	if d.Size() > max {
		return nil, fmt.Errorf("read test data: %d bytes are more than %d", d.Size(), max)
	}
	r, err := d.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := make([]byte, d.Size())
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("read test data: %w", err)
	}
	return b, nil
}
