package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// handed is what a program may do with its standard input: change its mode, go to its
// end, read it, read where it lies.
func handed(t *testing.T, f *os.File, most int64) (text, path string, seeks bool) {
	t.Helper()
	in, stop, err := handIn(f, most)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := in.Chmod(0); err != nil && !errors.Is(err, unix.EPERM) {
		t.Error(err)
	}
	if path, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(in.Fd()))); err != nil {
		t.Error(err)
	}
	_, err = in.Seek(0, io.SeekCurrent)
	all, rerr := io.ReadAll(in)
	if rerr != nil {
		t.Error(rerr)
	}
	return string(all), path, err == nil
}

// The program gets what is in a file or a named pipe, and never the file or the pipe.
func TestHandIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "fifo")
	want := strings.Repeat("0123456789\n", 30000)
	if err := errors.Join(os.WriteFile(file, []byte("x\n"+want), 0o640), unix.Mkfifo(fifo, 0o640)); err != nil {
		t.Fatal(err)
	}
	open := func(name string, flags int) *os.File {
		f, err := os.OpenFile(name, flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	at := func(name string, offset int64) *os.File {
		f := open(name, os.O_RDONLY)
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		return f
	}
	r, w := open(fifo, os.O_RDWR), open(fifo, os.O_WRONLY)
	read := open(fifo, os.O_RDONLY)
	r.Close()
	go func() {
		defer w.Close()
		io.WriteString(w, want)
	}()
	version, err := os.ReadFile("/proc/version")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		f     *os.File
		most  int64
		want  string
		seeks bool
	}{
		{"file", at(file, 0), mostCopied, "x\n" + want, true},
		{"rest of a file", at(file, 2), int64(len(want)), want, true},
		{"nothing of a file", at(file, 1<<20), mostCopied, "", true},
		{"large file", at(file, 2), int64(len(want)) - 1, want, false},
		{"file without a size", open("/proc/version", os.O_RDONLY), mostCopied, string(version), false},
		{"named pipe", read, mostCopied, want, false},
	} {
		text, path, seeks := handed(t, c.f, c.most)
		if text != c.want || seeks != c.seeks || strings.Contains(path, dir) {
			t.Errorf("%s: %d bytes at %s, seeks: %t; want %d bytes, seeks: %t", c.name, len(text), path, seeks, len(c.want), c.seeks)
		}
	}
	for _, name := range []string{file, fifo} {
		if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o640 {
			t.Errorf("%s was changed: %v, %v", name, st.Mode(), err)
		}
	}
}

// What has no name is handed on as it is, and a directory not at all.
func TestHandInAsItIs(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, f := range []*os.File{r, null} {
		in, stop, err := handIn(f, mostCopied)
		if in != f || err != nil {
			t.Errorf("%s: got %v, %v", f.Name(), in, err)
			continue
		}
		stop()
	}
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if in, _, err := handIn(dir, mostCopied); err == nil {
		t.Errorf("a directory: got %v", in)
	}
}

// A pump ends with its program, whether the program reads all, a part, or nothing comes.
func TestPumpEnds(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", strings.Repeat("x", 60000)} {
		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := unix.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(fifo, os.O_RDWR, 0) // its own writer: it never ends
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in, stop, err := handIn(f, mostCopied)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, min(len(text), 1))
		if _, err := io.ReadFull(in, got); err != nil || !bytes.Equal(got, []byte(text[:len(got)])) {
			t.Errorf("read %q, %v", got, err)
		}
		stop()
	}
}
