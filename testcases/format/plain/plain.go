// Package plain reads problems in the plain format: a folder with problem.yaml
// and data/{sample,secret}/NAME.in with NAME.ans, or a bare folder of such pairs.
// docs/problems.md describes it. Archives are unpacked by testcases/format; this
// package reads folders only, and runs nothing.
package plain

import (
	"os"
	"path/filepath"

	"judgefarm/internal/manifest"
	"judgefarm/testcases"
)

// The parts of a package.
const (
	manifestName   = "problem.yaml"
	dataFolder     = "data"
	checkerFolder  = "checker"
	submissions    = "submissions"
	submissionsMap = "submissions/submissions.yaml"
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
	f, err := manifest.Open(dir, manifest.Options{Skip: Noise})
	if err != nil {
		return nil, err
	}
	r := &reader{f}
	p := &testcases.Problem{Format: "plain"}
	described := r.Has(manifestName)
	if described {
		r.readManifest(p)
	}
	if described || r.HasFolder(dataFolder) {
		p.Groups = r.groups()
	} else {
		p.Groups = r.bare()
	}
	p.Submissions = r.labelled()
	if err := r.Refusal(); err != nil {
		return nil, err
	}
	if err := p.Seal(); err != nil {
		return nil, err
	}
	if base := filepath.Base(f.Dir); testcases.CheckName(base) == "" {
		p.ID = base
	}
	return p, nil
}

// reader is a package while it is read.
type reader struct{ *manifest.Folder }

// Noise reports whether a file or folder of this name is what systems and
// editors leave behind, and no part of a package. One name that begins with a dot
// is a part: the time limit of ICPC packages.
func Noise(name string) bool {
	return name[0] == '.' && name != ".timelimit" || name == "__MACOSX" || name == "__pycache__" || name[len(name)-1] == '~'
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
