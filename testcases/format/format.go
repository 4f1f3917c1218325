// Package format opens problem packages: it detects a package's format by its
// content and hands it to that format's reader, unpacks archives from strangers
// safely, and packs a folder into an archive whose bytes are always the same. It
// runs nothing: generators and compilers are testcases/build and judge/compile.
package format

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format/cms"
	"judgefarm/testcases/format/kattis"
	"judgefarm/testcases/format/packed"
	"judgefarm/testcases/format/plain"
	"judgefarm/testcases/format/polygon"
)

// maxMemory bounds the data of an archive that Open keeps in memory.
const maxMemory = 256 << 20

// reader is one package format.
type reader struct {
	name   string
	detect func(dir string) bool
	open   func(dir string) (*testcases.Problem, error)
}

// Options are what a format may need beside the package. The zero value is useful:
// Open and OpenArchive have it.
type Options struct {
	Testlib string // path of a testlib.h, for packages of Polygon without one
	// Limits is a file with the limits of problems, for formats that keep them outside
	// packages: see dmoj.ReadLimits. "" is none.
	Limits string
	Code   string // of the problem there; "" is the name of its folder or archive
}

// readers lists the formats, the most particular first.
func (o Options) readers() []reader {
	return []reader{
		{"packed", packed.Detect, packed.Open},
		o.dmoj(),
		{"polygon", polygon.Detect, func(dir string) (*testcases.Problem, error) {
			return polygon.Open(dir, polygon.Options{Testlib: o.Testlib})
		}},
		{"kattis", kattis.Detect, kattis.Open},
		{"cms", cms.Detect, cms.Open},
		{"cms tps", cms.DetectTPS, cms.OpenTPS},
		{"plain", plain.Detect, plain.Open},
	}
}

// Open reads a package: a folder, whose data stays where it is, or an archive
// (zip, tar, tar.gz) of at most 256 MiB of data, which is kept in memory. A larger
// archive is for OpenArchive. The problem's ID is the folder's or archive's name
// where that can be one. A *judge.BadRequest names every fault of the package;
// errors.Is fs.ErrNotExist tells that there is none.
func Open(path string) (*testcases.Problem, error) { return Options{}.Open(path) }

// Open is the function Open with options.
func (o Options) Open(path string) (*testcases.Problem, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open problem: %w", err)
	}
	if info.IsDir() {
		return o.openFolder(path, true)
	}
	if !info.Mode().IsRegular() { // opening a pipe waits for who writes into it
		return nil, judge.Refuse(&judge.FieldError{Field: "package", Reason: "must be a folder or an archive, is a device, pipe or socket"})
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
	if o.Code == "" {
		o.Code = stem(filepath.Base(path))
	}
	p, err := o.OpenArchive(f, info.Size(), dir)
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
func (o Options) openFolder(dir string, named bool) (*testcases.Problem, error) {
	root := o.locate(dir)
	for _, r := range o.readers() {
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
		Reason: "is of no known format: needs problem.xml, task.yaml, init.yml, problem.json, or problem.yaml and data/secret/NAME.in with NAME.ans, or pairs NAME.in with NAME.out"})
}

// Root is the folder of the package that dir holds: dir, or the one folder in it.
func Root(dir string) string { return Options{}.locate(dir) }

// locate returns dir, or the one folder that is all that dir holds.
func (o Options) locate(dir string) string {
	for _, r := range o.readers() {
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

// toMemory replaces the data of files by copies: one of each, which those who share it
// share. What cannot be compared is bytes in memory already.
func toMemory(p *testcases.Problem) error {
	left := int64(maxMemory)
	held := map[testcases.Data]testcases.Data{}
	for _, d := range allData(p) {
		if *d == nil || !reflect.ValueOf(*d).Comparable() {
			continue
		}
		if _, ok := held[*d]; !ok {
			if (*d).Size() > left {
				return judge.Refuse(&judge.FieldError{Field: "package",
					Reason: "holds more than 256 MiB of data: unpack it and name the folder"})
			}
			b, err := testcases.ReadAll(*d, left)
			if err != nil {
				return fmt.Errorf("open problem: %w", err)
			}
			left -= int64(len(b))
			held[*d] = testcases.BytesData(b)
		}
		*d = held[*d]
	}
	return nil
}

// allData lists where a problem has data: of its cases, what their recipes read, and for
// verification.
func allData(p *testcases.Problem) []*testcases.Data {
	var all []*testcases.Data
	p.Walk(func(_ *testcases.Group, c *testcases.Case) {
		all = append(all, &c.Input, &c.Answer)
		for _, r := range []*testcases.Recipe{c.InputFrom, c.AnswerFrom} {
			for ; r != nil; r = r.Stdin {
				all = append(all, &r.Input)
			}
		}
		for i := range c.Files {
			all = append(all, &c.Files[i].Data)
		}
	})
	for _, samples := range [][]testcases.Sample{p.Jury.InvalidInputs, p.Jury.ValidOutputs, p.Jury.InvalidOutput} {
		for i := range samples {
			all = append(all, &samples[i].Input, &samples[i].Answer, &samples[i].Output)
		}
	}
	return all
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
