package sandbox

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// canary lies outside of the tree that is collected from.
const canary = "what no collection may bring out"

// litterTree does as a hostile program would below dir: each three bytes are an
// operation, a name and another name or a size. Names are few, so that they meet. We
// may be root and links lead everywhere, so all is done by an os.Root: nothing is
// followed out of dir.
func litterTree(dir, outside string, ops []byte) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	defer root.Close()
	name := func(b byte) string {
		parts := []string{"a", "b", "c", "d", ".x", "é", "out"}
		n := parts[int(b)%len(parts)]
		for depth := b >> 6; depth > 0; depth-- {
			n = path.Join(parts[int(b>>2)%len(parts)], n)
		}
		return n
	}
	for ; len(ops) >= 3; ops = ops[3:] {
		to, arg := name(ops[1]), ops[2]
		switch ops[0] % 14 {
		case 0:
			root.MkdirAll(to, 0o755)
		case 1:
			if f, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NONBLOCK, 0o644); err == nil { // a pipe may be there
				f.Write(bytes.Repeat([]byte{arg}, int(arg)))
				f.Close()
			}
		case 2:
			if f, err := root.OpenFile(to, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
				f.Truncate(int64(arg) << 32)
				f.Close()
			}
		case 3:
			root.Symlink(outside, to)
		case 4:
			root.Symlink([]string{"/", "..", ".", "/proc/self/fd/0", "/dev/zero", "a", "../..", outside + "/canary"}[arg%8], to)
		case 5:
			litterNode(root, to, func(fd int, base string) { unix.Mkfifoat(fd, base, 0o644) })
		case 6:
			os.Link(filepath.Join(outside, "canary"), filepath.Join(dir, "hard")) // then it is of the tree
			root.Remove("hard")
		case 7:
			root.Rename(to, name(arg))
		case 8:
			root.Remove(to)
		case 9:
			root.Chmod(to, os.FileMode(arg)&0o777)
		case 10:
			litterNode(root, to, func(fd int, base string) { unix.Mknodat(fd, base, unix.S_IFCHR|0o666, 0) })
		case 11:
			if fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
				litterNode(root, to, func(at int, base string) {
					unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", at, base)})
				})
				unix.Close(fd)
			}
		case 12:
			deep := to
			for range int(arg) % 80 {
				deep = path.Join(deep, "d")
			}
			root.MkdirAll(deep, 0o755)
		case 13:
			root.Link(to, name(arg))
		}
	}
}

// litterNode makes what an os.Root cannot, in a directory that it opened.
func litterNode(root *os.Root, name string, make func(dir int, base string)) {
	d, err := root.OpenFile(path.Dir(name), os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer d.Close()
	make(int(d.Fd()), path.Base(name))
}

// FuzzCollect: of whatever a program leaves, only regular files of the tree come
// out, no more of them than was allowed, and it never hangs or follows a link.
func FuzzCollect(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 1, 9, 2, 1, 16, 3, 2, 0, 4, 3, 4, 5, 4, 0}, "a", uint16(100))
	f.Add([]byte{3, 0, 0, 4, 1, 7, 10, 2, 0, 11, 3, 0, 12, 4, 70}, ".", uint16(1000))
	f.Add([]byte{1, 6, 255, 13, 6, 1, 13, 6, 2, 7, 1, 3, 9, 6, 0}, "out", uint16(255))
	f.Add([]byte{0, 200, 0, 1, 200, 30, 3, 72, 0, 1, 136, 40}, "a/b", uint16(50))
	outside := f.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "canary"), []byte(canary), 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, ops []byte, name string, most uint16) {
		if len(ops) > 300 || judge.CheckFileName(name) != nil && name != "." {
			return
		}
		dir := t.TempDir()
		litterTree(dir, outside, ops)
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		began, before := time.Now(), lowestFree(t)
		got, err := collectFiles(fd, []Collect{
			{Name: name, Max: judge.Bytes(most)}, {Name: name, Max: judge.Bytes(most), Dir: true}, {Name: ".", Max: judge.Bytes(most), Dir: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("took %v", took)
		}
		if after := lowestFree(t); after != before {
			t.Errorf("descriptor %d leaked", before)
		}
		checkCollected(t, dir, got, int(most))
	})
}

func checkCollected(t *testing.T, dir string, got []Collected, most int) {
	t.Helper()
	total := 0
	for _, c := range got {
		total += len(c.Data)
		if bytes.Contains(c.Data, []byte(canary)) {
			t.Errorf("%q brought out what lies outside", c.Name)
		}
		if c.Err != nil {
			if c.Data != nil || strings.Contains(fmt.Sprint(c.Err), dir) {
				t.Errorf("%q: %d bytes and %v", c.Name, len(c.Data), c.Err)
			}
			continue
		}
		if err := plainFile(dir, c); err != nil {
			t.Errorf("%q came out: %v", c.Name, err)
		}
	}
	if total > 3*most { // of three collections
		t.Errorf("%d bytes came out, %d were allowed to each", total, most)
	}
}

// plainFile checks that no part of the name is a link and the file has these bytes.
func plainFile(dir string, c Collected) error {
	if strings.HasPrefix(c.Name, "/") || strings.Contains("/"+c.Name+"/", "/../") {
		return fmt.Errorf("it leads out")
	}
	at := dir
	parts := strings.Split(c.Name, "/")
	for i, p := range parts {
		at = filepath.Join(at, p)
		st, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if last := i == len(parts)-1; last && !st.Mode().IsRegular() || !last && !st.IsDir() {
			return fmt.Errorf("%s is %v", p, st.Mode().Type())
		}
	}
	if os.Geteuid() != 0 {
		return nil
	}
	data, err := os.ReadFile(at)
	if err == nil && !bytes.Equal(data, c.Data) {
		err = fmt.Errorf("%d bytes, it has %d: %w", len(c.Data), len(data), fs.ErrInvalid)
	}
	return err
}
