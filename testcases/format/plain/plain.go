// Package plain reads problems in the plain format: a folder with problem.yaml
// and data/{sample,secret}/NAME.in with NAME.ans, or a bare folder of such pairs.
// docs/problems.md describes it. Archives are unpacked by testcases/format; this
// package reads folders only, and runs nothing.
package plain

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// The parts of a package.
const (
	manifestName   = "problem.yaml"
	dataFolder     = "data"
	checkerFolder  = "checker"
	submissions    = "submissions"
	submissionsMap = "submissions/submissions.yaml"

	maxFaults = 200 // reported; a package with more is told so
)

// Detect reports whether dir looks like a plain package: it has problem.yaml and
// data, or no problem.yaml and at least one NAME.in.
func Detect(dir string) bool {
	_, noManifest := os.Lstat(filepath.Join(dir, manifestName))
	info, noData := os.Lstat(filepath.Join(dir, dataFolder))
	if noManifest == nil || noData == nil && info.IsDir() {
		return true
	}
	pairs, _ := filepath.Glob(filepath.Join(escape(dir), "*.in"))
	return len(pairs) > 0
}

// Open reads the package in dir; its data stays there, in files that must not
// change while the problem is in use. Every fault is reported at once as a
// *judge.BadRequest whose fields are the names of files. The problem's ID is the
// folder's name where that can be one, else "".
func Open(dir string) (*testcases.Problem, error) {
	r := &reader{dir: dir}
	if err := r.list(); err != nil {
		return nil, err
	}
	p := &testcases.Problem{}
	_, described := r.files[manifestName]
	if described {
		r.readManifest(p)
	}
	if described || r.has(dataFolder) {
		p.Groups = r.groups()
	} else {
		p.Groups = r.bare()
	}
	p.Submissions = r.labelled()
	if err := r.refusal(); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := p.Seal(); err != nil {
		return nil, err
	}
	if abs, err := filepath.Abs(dir); err == nil && testcases.CheckName(filepath.Base(abs)) == "" {
		p.ID = filepath.Base(abs)
	}
	return p, nil
}

// reader holds what is known of a package while it is read.
type reader struct {
	dir    string
	files  map[string]int64 // regular files by slash-separated name, with their sizes
	faults []*judge.FieldError
	err    error // the first that is no fault of the package
}

func (r *reader) refuse(file, format string, args ...any) {
	r.faults = append(r.faults, &judge.FieldError{Field: file, Reason: fmt.Sprintf(format, args...)})
}

// refusal sorts the faults by file, so that one package always gives one text.
func (r *reader) refusal() error {
	slices.SortFunc(r.faults, func(a, b *judge.FieldError) int {
		return cmp.Or(natural(a.Field, b.Field), natural(a.Reason, b.Reason))
	})
	if more := len(r.faults) - maxFaults; more > 0 {
		r.faults = append(r.faults[:maxFaults], &judge.FieldError{Reason: fmt.Sprintf("and %d faults more", more)})
	}
	return judge.Refuse(r.faults...)
}

// list walks the package. Links and devices are faults: what they point to is
// not in the package.
func (r *reader) list() error {
	r.files = map[string]int64{}
	root, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		return fmt.Errorf("open problem: %w", err)
	}
	r.dir = root
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("open problem: %w", err)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		name := filepath.ToSlash(rel)
		if Noise(d.Name()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		if !d.Type().IsRegular() {
			r.refuse(name, "must be a regular file, is a %s", kind(d.Type()))
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return fmt.Errorf("open problem: %w", err)
		}
		r.files[name] = info.Size()
		return nil
	})
}

// Noise reports whether a file or folder of this name is what systems and
// editors leave behind, and no part of a package.
func Noise(name string) bool {
	return name[0] == '.' || name == "__MACOSX" || name == "__pycache__" || name[len(name)-1] == '~'
}

func kind(mode fs.FileMode) string {
	if mode&fs.ModeSymlink != 0 {
		return "link"
	}
	return "device, pipe or socket"
}

// read returns a small file of the package.
func (r *reader) read(name string, max int64) ([]byte, bool) {
	if size := r.files[name]; size > max {
		r.refuse(name, "must be at most %d bytes, is %d", max, size)
		return nil, false
	}
	d, err := testcases.FileData(r.path(name))
	if err == nil {
		var b []byte
		if b, err = testcases.ReadAll(d, max); err == nil {
			return b, true
		}
	}
	r.fail(err)
	return nil, false
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = fmt.Errorf("open problem: %w", err)
	}
}

func (r *reader) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// has reports whether the package has the folder.
func (r *reader) has(folder string) bool {
	info, err := os.Lstat(r.path(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.fail(err)
	}
	return err == nil && info.IsDir()
}

// escape makes a path that a glob takes literally.
func escape(dir string) string {
	var out []byte
	for i := range len(dir) {
		switch dir[i] {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, dir[i])
	}
	return string(out)
}
