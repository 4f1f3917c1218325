package cache

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"judgefarm/testcases"
)

// An entry's folder is Dir/<digest>.<unique> with the unpacked package in "data", what
// its programs made in "made", and the note in "entry.json", which is written last:
// without it the folder is rubbish.
const (
	dataDir  = "data"
	madeDir  = "made"
	noteFile = "entry.json"
)

// entry is one problem on disk.
type entry struct {
	digest  string // of the package, hex
	dir     string
	size    int64              // bytes on disk
	problem *testcases.Problem // nil for what an earlier process left, until it is asked for
	files   []fileState

	// Guarded by Cache.mu.
	users   int
	lastUse int64
	dropped bool // not in Cache.entries any more
}

// note is what an entry says of itself to the next process.
type note struct {
	Problem string `json:"problem"` // testcases.Problem.Digest
}

// fileState is what a file looked like when it was unpacked and checked.
type fileState struct {
	path     string
	size     int64
	modified time.Time
}

// newEntry looks at an unpacked package.
func newEntry(digest, dir string, p *testcases.Problem) (*entry, error) {
	e := &entry{digest: digest, dir: dir, problem: p}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		// Whole blocks: many small files take far more room than bytes.
		e.size += (info.Size() + 4095) / 4096 * 4096
		if d.Type().IsRegular() && path != filepath.Join(dir, noteFile) {
			e.files = append(e.files, fileState{path: path, size: info.Size(), modified: info.ModTime()})
		}
		return nil
	})
	return e, err
}

// whole makes sure that no file was removed, cut or written since it was checked:
// some microseconds a file, against judging with half a test.
func (e *entry) whole() error {
	for _, f := range e.files {
		info, err := os.Lstat(f.path)
		if err != nil {
			return err
		}
		if info.Size() != f.size || !info.ModTime().Equal(f.modified) || !info.Mode().IsRegular() {
			return fmt.Errorf("%s was changed", f.path)
		}
	}
	return nil
}

// touch keeps the order of use for the next process; losing it costs a fetch.
func (e *entry) touch() {
	now := time.Now()
	_ = os.Chtimes(filepath.Join(e.dir, noteFile), now, now)
}

func (e *entry) remove() error { return os.RemoveAll(e.dir) }

func writeNote(dir string, p *testcases.Problem) error {
	doc, err := json.Marshal(note{Problem: p.Digest})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, noteFile), doc, 0o600)
}
