// Package cms reads tasks in the format of the Italian olympiads, which CMS imports as
// italy_yaml and task-maker builds from, and those that TPS exports for CMS. The truth
// is what CMS makes of them; docs/problems.md says what is done where that leaves a
// choice. It reads folders only, and runs nothing.
package cms

import (
	"slices"
	"strings"
	"time"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// The parts of a task.
const (
	inputFolder  = "input"
	outputFolder = "output"
	genFolder    = "gen"
	genName      = "gen/GEN"
	solFolder    = "sol"
	attFolder    = "att"
)

// manifests are the names that the description of a task may have.
var manifests = []string{"task.yaml", "task.yml"}

// What a task that states nothing is judged with: CMS has no limits then.
const (
	unlimitedTime   = time.Minute
	unlimitedMemory = 4 * judge.GiB
	outputLimit     = 64 * judge.MiB // CMS lets a file be 1 GiB
	noteNoLimit     = "states no %s limit, which CMS takes for none: %v is used"
)

// Detect reports whether dir looks like a task of this format: task.yaml and a folder
// of the format.
func Detect(dir string) bool {
	f, err := manifest.Open(dir, manifest.Options{Skip: noise, Links: true})
	if err != nil || f.Has("problem.yaml") {
		return false
	}
	for _, folder := range []string{inputFolder, outputFolder, genFolder, solFolder} {
		if f.HasFolder(folder) {
			return slices.ContainsFunc(manifests, f.Has)
		}
	}
	return false
}

// noise is what systems, editors, version control and CMS itself leave behind.
func noise(base string) bool {
	return base[0] == '.' || base == "__MACOSX" || base == "__pycache__" || strings.HasSuffix(base, "~")
}

// reader holds what is known of a task while it is read.
type reader struct {
	*manifest.Folder
	p    *testcases.Problem
	conf config
	used map[string]bool // files that were read

	made, answers *testcases.Program // the generator, the official solution
}

// Open reads the task in dir; its data stays there, in files that must not change
// while the problem is in use. Every fault is reported at once as a *judge.BadRequest
// whose fields are the names of files. The problem's ID is the folder's name where
// that can be one, else "".
func Open(dir string) (*testcases.Problem, error) {
	f, err := manifest.Open(dir, manifest.Options{Skip: noise, Links: true, Ignore: forPeople})
	if err != nil {
		return nil, err
	}
	r := &reader{Folder: f, p: &testcases.Problem{Format: "cms italy_yaml"}, used: map[string]bool{}}
	r.readManifest()
	cases := r.readCases()
	r.readKind()
	r.readPrograms()
	r.readScore(cases)
	r.readSolutions()
	return r.seal()
}

// seal ends the reading: all faults, or the problem.
func (r *reader) seal() (*testcases.Problem, error) {
	for _, name := range r.Names() {
		if !r.used[name] && !forPeople(name) && !strings.HasPrefix(name, genFolder+"/") {
			r.p.Jury.Unused = append(r.p.Jury.Unused, name)
		}
	}
	if err := r.p.SealFolder(r.Folder); err != nil {
		return nil, err
	}
	return r.p, nil
}

// forPeople tells the files that are not for judging.
func forPeople(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return slices.Contains([]string{
		"statement", "statements", "testo", attFolder, "attachments", "README", "README.md", "LICENSE", "Makefile",
		"docs", "editorial", "scripts", "solutions", "invocations",
	}, top)
}

// read takes a file in and remembers that somebody looked at it.
func (r *reader) read(name string, max int64) ([]byte, bool) {
	r.used[name] = true
	return r.Read(name, max)
}

// data is a file's as test data.
func (r *reader) data(name string) testcases.Data {
	r.used[name] = true
	d, err := testcases.FileData(r.Path(name))
	if err != nil {
		r.Fail(err)
	}
	return d
}
