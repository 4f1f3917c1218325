// Package kattis reads problem packages of the Kattis and ICPC format in the
// versions legacy (and legacy-icpc), 2023-07-draft and 2025-09, with what DOMjudge
// adds. The format is specified at https://www.kattis.com/problem-package-format;
// docs/problems.md says what is done where that leaves a choice. It reads folders
// only, and runs nothing.
package kattis

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// The parts of a package; where a part has two names, versions differ.
const (
	manifestName = "problem.yaml"
	iniName      = "domjudge-problem.ini"
	timeName     = ".timelimit"
	dataFolder   = "data"
	submissions  = "submissions"
)

// version is that of the format. The draft of 2023 is what lies between: it takes
// the keys of both.
type version int

const (
	legacy version = iota
	draft
	v2025
)

func (v version) String() string { return [...]string{"legacy", "2023-07-draft", "2025-09"}[v] }

// versions maps what problem_format_version may say.
func versions() map[string]version {
	return map[string]version{
		"legacy": legacy, "legacy-icpc": legacy,
		"2023-07-draft": draft, "2023-07": draft, "draft": v2025,
		"2025-09": v2025, "2025-09-draft": v2025,
	}
}

// ownKeys of problem.yaml are those of this format alone, plainKeys those of the
// plain one.
var (
	ownKeys = []string{
		"problem_format_version", "type", "validation", "validator_flags", "author", "credits", "source", "source_url",
		"license", "rights_owner", "uuid", "grading", "keywords", "languages", "constants", "allow_file_writing",
		"embargo_until", "version", "libraries", "domjudge",
	}
	plainKeys   = []string{"checker"}
	ownLimits   = []string{"time_limit", "time_multiplier", "time_safety_margin", "time_multipliers", "validation_passes", "code"}
	plainLimits = []string{"cpu", "wall", "tasks"}
	ownFolders  = []string{
		"output_validators", "output_validator", "input_validators", "input_format_validators", "problem_statement", "statement",
		"graders", "include", "static_validator", "submissions/time_limit_exceeded", "submissions/run_time_error",
		"submissions/partially_accepted", "submissions/rejected", "submissions/mixed", "submissions/brute_force",
	}
)

// Detect reports whether dir looks like a package of this format: it has problem.yaml or data/, and
// a file or folder, or a key of problem.yaml, that the format knows and the plain
// one does not. A key that only the plain format knows speaks against it.
func Detect(dir string) bool {
	f, err := manifest.Open(dir, manifest.Options{Skip: noise, Links: true})
	if err != nil || !f.Has(manifestName) && !f.HasFolder(dataFolder) {
		return false
	}
	own := f.Has(iniName) || f.Has(timeName)
	for _, folder := range ownFolders {
		own = own || f.HasFolder(folder)
	}
	plain := false
	if f.Has(manifestName) {
		d := f.YAML(manifestName)
		look := func(n *yaml.Node, ours, theirs []string) {
			d.Each(n, "", func(key string, _, _ *yaml.Node) {
				own = own || slices.Contains(ours, key)
				plain = plain || slices.Contains(theirs, key)
			})
		}
		look(d.Root, ownKeys, plainKeys)
		d.Each(d.Root, "", func(key string, _, v *yaml.Node) {
			if key == "limits" {
				look(v, ownLimits, plainLimits)
			}
		})
	}
	return own && !plain
}

// nameRule is the format's for every file and folder. What breaks it is "as if
// removed".
var nameRule = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,254}$`)

// noise is what systems, editors and version control leave behind. The time limit
// of DOMjudge is in a file whose name would be noise.
func noise(base string) bool {
	return base[0] == '.' && base != timeName || base == "__MACOSX" || base == "__pycache__" || strings.HasSuffix(base, "~")
}

// reader holds what is known of a package while it is read.
type reader struct {
	*manifest.Folder
	version version
	p       *testcases.Problem

	words      map[string]bool   // of validation and type: custom, interactive, multi-pass, scoring, submit-answer, score
	flags      []string          // validator_flags
	constants  map[string]string // 2025-09
	validator  judge.Limits      // of validators
	configured map[string]bool   // files that were read
	// validatorArgs are those of one input validator, by its name and the case.
	validatorArgs map[string]map[string][]string
	forDOMjudge   bool // made for DOMjudge
	dialect       bool // scored as DOMjudge does it
	least         bool // objective is min: the least score is the best
}

// Open reads the package in dir; its data stays there, in files that must not
// change while the problem is in use. Every fault is reported at once as a
// *judge.BadRequest whose fields are the names of files. The problem's ID is the
// folder's name where that can be one, else "".
//
// A package that states no time limit has Limits.CPU 0 and says in Jury.Time how it
// is derived.
func Open(dir string) (*testcases.Problem, error) {
	f, err := manifest.Open(dir, manifest.Options{Skip: noise, Links: true, Ignore: forReading})
	if err != nil {
		return nil, err
	}
	r := &reader{
		Folder: f, p: &testcases.Problem{}, words: map[string]bool{}, constants: map[string]string{}, configured: map[string]bool{},
	}
	r.forDOMjudge, r.dialect = r.domjudge()
	r.readManifest()
	r.p.Format = "kattis " + r.version.String()
	r.readTimeLimit()
	r.readChecker()
	r.wallLimit()
	r.readData()
	r.readInclude()
	r.readSubmissions()
	r.readValidators()
	r.unused()
	if err := r.p.SealFolder(r.Folder); err != nil {
		return nil, err
	}
	return r.p, nil
}

// read takes a file in and remembers that somebody looked at it.
func (r *reader) read(name string, max int64) ([]byte, bool) {
	r.configured[name] = true
	return r.Read(name, max)
}

func (r *reader) yaml(name string) manifest.Document {
	r.configured[name] = true
	return r.YAML(name)
}

// data is a file's as test data.
func (r *reader) data(name string) testcases.Data {
	r.configured[name] = true
	d, err := testcases.FileData(r.Path(name))
	if err != nil {
		r.Fail(err)
	}
	return d
}

// knownTop are the files and folders at the top that are not for judging.
var knownTop = []string{
	"problem_statement", "statement", "attachments", "solution", "generators", "input_visualizer", "output_visualizer",
	"README", "README.md", "LICENSE", "problem.pdf", "problem.html", "problem.txt", "problem.zip",
}

// forReading tells what is at the top for people.
func forReading(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return slices.Contains(knownTop, top)
}

// unused lists files that nothing refers to.
func (r *reader) unused() {
	for _, name := range r.Names() {
		if !r.configured[name] && !forReading(name) && !annotation(name) {
			r.p.Jury.Unused = append(r.p.Jury.Unused, name)
		}
	}
}

// annotation tells the files beside a case that are for people.
func annotation(name string) bool {
	return strings.HasPrefix(name, dataFolder+"/") && slices.Contains([]string{
		".hint", ".desc", ".png", ".jpg", ".jpeg", ".svg", ".interaction", ".statement", ".download", ".out", ".gitkeep",
	}, path.Ext(name))
}
