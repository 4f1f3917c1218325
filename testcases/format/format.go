// Package format opens problem packages: it detects a package's format by its
// content and hands it to that format's reader, unpacks archives from strangers
// safely, and packs a folder into an archive whose bytes are always the same. It
// runs nothing: generators and compilers are testcases/build and judge/compile.
package format

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format/plain"
)

// maxMemory bounds the data of an archive that Open keeps in memory.
const maxMemory = 256 << 20

// reader is one package format.
type reader struct {
	name   string
	detect func(dir string) bool
	open   func(dir string) (*testcases.Problem, error)
}

// readers lists the formats, the most particular first.
func readers() []reader {
	return []reader{
		{"plain", plain.Detect, plain.Open},
	}
}

// Open reads a package: a folder, whose data stays where it is, or an archive
// (zip, tar, tar.gz) of at most 256 MiB of data, which is kept in memory. A larger
// archive is for OpenArchive. The problem's ID is the folder's or archive's name
// where that can be one. A *judge.BadRequest names every fault of the package;
// errors.Is fs.ErrNotExist tells that there is none.
func Open(path string) (*testcases.Problem, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open problem: %w", err)
	}
	if info.IsDir() {
		return openFolder(path, true)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open problem: %w", err)
	}
	defer f.Close()
	dir, err := os.MkdirTemp("", "judgefarm-problem-")
	if err != nil {
		return nil, fmt.Errorf("open problem: %w", err)
	}
	defer os.RemoveAll(dir)
	p, err := OpenArchive(f, info.Size(), dir)
	if err != nil {
		return nil, err
	}
	if err := toMemory(p); err != nil {
		return nil, err
	}
	if id := stem(filepath.Base(path)); testcases.CheckName(id) == "" {
		p.ID = id
	}
	return p, nil
}

// openFolder finds the reader of a folder. An archive often has the package one
// folder down; a folder that somebody points to is taken as it is, unless it
// holds that one folder and nothing else.
func openFolder(dir string, named bool) (*testcases.Problem, error) {
	root := locate(dir)
	for _, r := range readers() {
		if r.detect(root) {
			p, err := r.open(root)
			if err != nil {
				return nil, err
			}
			if !named {
				p.ID = ""
			}
			return p, nil
		}
	}
	return nil, judge.Refuse(&judge.FieldError{Field: "package",
		Reason: "is of no known format: needs problem.yaml and data/secret/NAME.in with NAME.ans, or pairs NAME.in with NAME.out"})
}

// locate returns dir, or the one folder that is all that dir holds.
func locate(dir string) string {
	for _, r := range readers() {
		if r.detect(dir) {
			return dir
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return dir
	}
	var only fs.DirEntry
	for _, e := range entries {
		if plain.Noise(e.Name()) {
			continue
		}
		if only != nil || !e.IsDir() {
			return dir
		}
		only = e
	}
	if only == nil {
		return dir
	}
	return filepath.Join(dir, only.Name())
}

// toMemory replaces the data of files by copies.
func toMemory(p *testcases.Problem) error {
	left := int64(maxMemory)
	hold := func(d testcases.Data) (testcases.Data, error) {
		b, err := testcases.ReadAll(d, left)
		left -= int64(len(b))
		return testcases.BytesData(b), err
	}
	for _, g := range p.Groups {
		for i := range g.Cases {
			c := &g.Cases[i]
			if c.Input.Size()+c.Answer.Size() > left {
				return judge.Refuse(&judge.FieldError{Field: "package",
					Reason: "holds more than 256 MiB of data: unpack it and name the folder"})
			}
			var errInput, errAnswer error
			c.Input, errInput = hold(c.Input)
			c.Answer, errAnswer = hold(c.Answer)
			if err := errors.Join(errInput, errAnswer); err != nil {
				return fmt.Errorf("open problem: %w", err)
			}
		}
	}
	return nil
}

// stem is an archive's name without its endings.
func stem(name string) string {
	for _, suffix := range []string{".zip", ".tar.gz", ".tgz", ".tar"} {
		if rest, ok := strings.CutSuffix(name, suffix); ok {
			return rest
		}
	}
	return name
}
