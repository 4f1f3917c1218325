package format_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

// entry is one entry of a test archive.
type entry struct {
	name string
	text string
	kind byte // a tar type flag; 0 is a regular file
}

func tarball(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o644}
		switch e.kind {
		case 0:
			h.Typeflag, h.Size = tar.TypeReg, int64(len(e.text))
		case tar.TypeXGlobalHeader:
			h = &tar.Header{Typeflag: e.kind, PAXRecords: map[string]string{"comment": e.text}}
		default:
			h.Linkname, e.text = e.text, ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, e.text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.kind == tar.TypeSymlink {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packaged is a good package below a folder.
func packaged(folder string) []entry {
	return []entry{
		{name: folder + "problem.yaml", text: "name: x\n"},
		{name: folder + "data/secret/1.in", text: "1"},
		{name: folder + "data/secret/1.ans", text: "2"},
	}
}

func openBytes(t *testing.T, b []byte) (*testcases.Problem, error) {
	t.Helper()
	return format.OpenArchive(bytes.NewReader(b), int64(len(b)), filepath.Join(t.TempDir(), "new"))
}

func TestOpenArchive(t *testing.T) {
	t.Parallel()
	noise := []entry{{name: "__MACOSX/._x", text: "z"}, {name: "x/.DS_Store", text: "z"}}
	dirs := []entry{{name: "./", kind: tar.TypeDir}, {name: "./data/", kind: tar.TypeDir}}
	archives := map[string][]byte{
		"zip":              zipped(t, packaged("")...),
		"zip, one folder":  zipped(t, append(noise, packaged("x/")...)...),
		"tar":              tarball(t, append(dirs, packaged("./")...)...),
		"tar.gz":           gzipped(t, tarball(t, packaged("x/")...)),
		"tar of git":       tarball(t, append([]entry{{kind: tar.TypeXGlobalHeader, text: "commit"}}, packaged("x/")...)...),
		"pairs in a zip":   zipped(t, entry{name: "1.in", text: "1"}, entry{name: "1.out", text: "2"}),
		"problem.yaml zip": zipped(t, append(packaged(""), entry{name: "README.md", text: "z"})...),
	}
	for name, b := range archives {
		p, err := openBytes(t, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		answer, err := testcases.ReadAll(p.Cases()[0].Answer, 10)
		if len(p.Cases()) != 1 || err != nil || string(answer) != "2" || p.ID != "" {
			t.Errorf("%s: got id %q, %d cases, answer %q, %v", name, p.ID, len(p.Cases()), answer, err)
		}
	}
}

// What strangers send to harm: nothing of it may leave the folder, be followed
// or fill the disk, and each is told apart.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	with := func(e ...entry) []entry { return append(packaged(""), e...) }
	var many []entry
	for i := range 21 {
		many = append(many, entry{name: strconv.Itoa(i)})
	}
	var folders []entry
	for i := range 6000 {
		folders = append(folders, entry{name: strconv.Itoa(i) + "/", kind: tar.TypeDir})
	}
	noise := make([]byte, 3<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	zeros := strings.Repeat("\x00", 5<<18)
	archives := map[string]struct {
		b    []byte
		want string
	}{
		"traversal in a zip":    {zipped(t, with(entry{name: "../evil", text: "z"})...), "bad name"},
		"traversal in a tar":    {tarball(t, with(entry{name: "a/../../evil", text: "z"})...), "bad name"},
		"absolute":              {tarball(t, with(entry{name: "/evil", text: "z"})...), "bad name"},
		"backslash":             {zipped(t, with(entry{name: `..\evil`, text: "z"})...), "bad name"},
		"traversal folder":      {tarball(t, with(entry{name: "../evil/", kind: tar.TypeDir})...), "bad name"},
		"NUL in a name":         {zipped(t, with(entry{name: "a\x00b", text: "z"})...), "bad name"},
		"symlink in a tar":      {tarball(t, with(entry{name: "evil", text: "/etc/passwd", kind: tar.TypeSymlink})...), "links and devices"},
		"symlink in a zip":      {zipped(t, with(entry{name: "evil", text: "/etc/passwd", kind: tar.TypeSymlink})...), "links and devices"},
		"hard link":             {tarball(t, with(entry{name: "evil", text: "problem.yaml", kind: tar.TypeLink})...), "links and devices"},
		"device":                {tarball(t, with(entry{name: "evil", kind: tar.TypeChar})...), "links and devices"},
		"fifo":                  {tarball(t, with(entry{name: "evil", kind: tar.TypeFifo})...), "links and devices"},
		"twice in a tar":        {tarball(t, with(entry{name: "./problem.yaml", text: "z"})...), "twice"},
		"twice in a zip":        {zipped(t, with(entry{name: "problem.yaml", text: "z"})...), "twice"},
		"file and folder":       {tarball(t, with(entry{name: "problem.yaml/a", text: "z"})...), "both a file and a folder"},
		"folder and file":       {zipped(t, with(entry{name: "data", text: "z"})...), "both a file and a folder"},
		"bomb in a zip":         {zipped(t, with(entry{name: "bomb", text: zeros})...), "unpacks to too much"},
		"bomb in a tar.gz":      {gzipped(t, tarball(t, with(entry{name: "bomb", text: zeros})...)), "unpacks to too much"},
		"too many files":        {zipped(t, many...), "at most 20 files"},
		"too many folders":      {zipped(t, with(entry{name: strings.Repeat("d/", 21) + "f", text: "z"})...), "at most 20 folders"},
		"bomb that is left out": {gzipped(t, tarball(t, with(entry{name: ".bomb", text: zeros})...)), "unpacks to too much"},
		"headers without end":   {gzipped(t, tarball(t, with(folders...)...)), "unpacks to too much"},
		"too much in all":       {zipped(t, with(entry{name: "large", text: string(noise)})...), "unpacks to too much"},
		"cut zip":               {zipped(t, packaged("")...)[:200], "cannot be read"},
		"cut tar":               {tarball(t, packaged("")...)[:1100], "cannot be read"},
		"gzip of nothing":       {[]byte("\x1f\x8b\x08"), "cannot be read"},
		"something else":        {[]byte("#!/bin/sh\n"), "must be a folder, zip"},
		"nothing":               {nil, "must be a folder, zip"},
		"no package in it":      {zipped(t, entry{name: "a.txt", text: "z"}), "no known format"},
		"empty zip":             {zipped(t), "no known format"},
		"faults of the format":  {zipped(t, with(entry{name: "data/secret/2.in", text: "z"})...), "data/secret/2.in: has no answer"},
	}
	for name, tt := range archives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "inner", "package")
			_, err := format.OpenSmall(bytes.NewReader(tt.b), int64(len(tt.b)), dir)
			if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a bad request with %q", err, tt.want)
			}
			if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
				t.Errorf("something was written beside the folder: %v", entries)
			}
		})
	}
}

// A header that lies about the size gets no further than the bound.
func TestZipThatLies(t *testing.T) {
	t.Parallel()
	b := zipped(t, append(packaged(""), entry{name: "bomb", text: strings.Repeat("\x00", 5<<18)})...)
	size := []byte{0, 0, 20, 0} // 5<<18, little endian
	for i := range b[:len(b)-4] {
		if bytes.Equal(b[i:i+4], size) {
			copy(b[i:], []byte{9, 0, 0, 0})
		}
	}
	if _, err := format.OpenSmall(bytes.NewReader(b), int64(len(b)), t.TempDir()); !judge.IsBadRequest(err) {
		t.Errorf("got %v, want a bad request", err)
	}
}

func TestOpenArchiveWantsAnEmptyFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	b := zipped(t, packaged("")...)
	if _, err := format.OpenArchive(bytes.NewReader(b), int64(len(b)), dir); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v, want that the folder is not empty", err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	archive := filepath.Join(base, "sum.tar.gz")
	if err := os.WriteFile(archive, gzipped(t, tarball(t, packaged("inner/")...)), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := format.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := testcases.ReadAll(p.Cases()[0].Answer, 10)
	if p.ID != "sum" || err != nil || string(answer) != "2" {
		t.Errorf("got id %q, answer %q, %v", p.ID, answer, err)
	}
	if _, err := format.Open(filepath.Join(base, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that it does not exist", err)
	}
	if _, err := format.Open(t.TempDir()); !judge.IsBadRequest(err) {
		t.Errorf("empty folder: got %v, want a bad request", err)
	}
}

// The bytes of a packed folder depend on names and contents alone, and what is
// packed opens as the same problem.
func TestPack(t *testing.T) {
	t.Parallel()
	write := func(names ...string) string {
		dir := filepath.Join(t.TempDir(), "sum")
		for _, name := range names {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("name: "+name), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	pack := func(dir string) []byte {
		var b bytes.Buffer
		if err := format.Pack(dir, &b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	a := write("problem.yaml", "data/secret/1.in", "data/secret/1.ans", "submissions/accepted/a.py")
	b := write(".git/config", "submissions/accepted/a.py", "data/secret/1.ans", "data/secret/1.in", "problem.yaml")
	old := time.Unix(1e9, 0)
	if err := errors.Join(os.Chtimes(filepath.Join(b, "problem.yaml"), old, old), os.Chmod(filepath.Join(b, "problem.yaml"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pack(a), pack(b)) {
		t.Error("equal packages pack to different bytes")
	}
	fromFolder, err := format.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	fromArchive, err := openBytes(t, pack(a))
	if err != nil {
		t.Fatal(err)
	}
	if fromFolder.Digest != fromArchive.Digest || fromFolder.ID != "sum" || len(fromArchive.Submissions) != 1 {
		t.Errorf("got %+v and %+v", fromFolder, fromArchive)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(a, "link")); err != nil {
		t.Fatal(err)
	}
	if err := format.Pack(a, io.Discard); !judge.IsBadRequest(err) {
		t.Errorf("link: got %v, want a bad request", err)
	}
}

func FuzzOpenArchive(f *testing.F) {
	f.Add([]byte("PK\x05\x06"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := openBytes(t, b); err == nil && len(p.Cases()) == 0 {
			t.Errorf("%q: opened without cases", b)
		}
	})
}

// Opening a pipe would wait for who writes into it.
func TestOpenPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := format.Open(path); !judge.IsBadRequest(err) {
		t.Errorf("got %v", err)
	}
}
