package kattis

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Names of DOMjudge's and the format's own files about submissions.
const (
	entriesName = "submissions.json"
	expectName  = "submissions/submissions.yaml"
)

// maxSubmissions bounds the labelled submissions of a package.
const maxSubmissions = 5000

// The verdicts that stand for one of the format's, which knows fewer: memory and
// forbidden calls are run-time errors there, waiting is being too slow, and a
// program that prints without end is cut and runs into the time limit.
var (
	accepted  = []judge.Verdict{judge.Accepted}
	wrong     = []judge.Verdict{judge.WrongAnswer, judge.PresentationError}
	tooSlow   = []judge.Verdict{judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit, judge.OutputLimit}
	crashes   = []judge.Verdict{judge.RuntimeError, judge.MemoryLimit, judge.SecurityViolation}
	uncompile = []judge.Verdict{judge.CompileError, judge.CompileTimeLimit}
	output    = []judge.Verdict{judge.OutputLimit}
	runs      = slices.Concat(accepted, wrong, tooSlow, crashes) // every verdict of a program that compiled
	rejected  = slices.Concat(wrong, tooSlow, crashes, uncompile)
)

// labels are the folders of submissions/ with what the whole judgement must be. In
// 2025-09 it is the cases that count, see expect.go.
func labels() map[string][]judge.Verdict {
	return map[string][]judge.Verdict{
		"accepted": accepted, "slow_accepted": slices.Concat(accepted, tooSlow), "partially_accepted": accepted,
		"wrong_answer": wrong, "time_limit_exceeded": tooSlow, "run_time_error": crashes, "rejected": rejected,
		"brute_force": slices.Concat(tooSlow, crashes),
		// DOMjudge's
		"compiler_error": uncompile, "no_output": wrong, "output_limit": output, "memory_limit": crashes,
	}
}

// official are the folders in which DOMjudge does not read tags.
var official = []string{"accepted", "wrong_answer", "time_limit_exceeded", "run_time_error"}

// tags are DOMjudge's names in @EXPECTED_RESULTS@, with "_" written as "-".
func tags() map[string][]judge.Verdict {
	return map[string][]judge.Verdict{
		"CORRECT": accepted, "ACCEPTED": accepted, "WRONG-ANSWER": wrong, "TIMELIMIT": tooSlow, "TIME-LIMIT-EXCEEDED": tooSlow,
		"RUN-ERROR": crashes, "RUN-TIME-ERROR": crashes, "COMPILER-ERROR": uncompile, "NO-OUTPUT": wrong,
		"OUTPUT-LIMIT": output, "MEMORY-LIMIT": crashes,
	}
}

const (
	resultsTag = "@EXPECTED_RESULTS@:"
	scoreTag   = "@EXPECTED_SCORE@:"
)

// domjudge looks for DOMjudge's own tags, which alone tell that the package was made
// for it: tagged, it is judged as there where the format says nothing; with a score, it
// is scored as there: samples count for nothing, and accept_score is what a group is
// worth and not each of its cases.
func (r *reader) domjudge() (tagged, scored bool) {
	for _, name := range r.Below(submissions) {
		if r.Size(name) <= maxProgramSize {
			b, ok := r.Read(name, maxProgramSize)
			scored = scored || ok && bytes.Contains(b, []byte(scoreTag))
			tagged = tagged || scored || ok && bytes.Contains(b, []byte(resultsTag))
		}
	}
	return tagged || r.Has(iniName), scored
}

// readSubmissions reads submissions/LABEL/FILE and submissions/LABEL/FOLDER/FILE...
func (r *reader) readSubmissions() {
	entries := r.entries()
	_, folders := r.Children(submissions)
	for _, label := range folders {
		if r.version != v2025 && labels()[label] == nil {
			r.Note(submissions+"/"+label, "is no label of the format: what its submissions must earn is told by their tags alone")
		}
		for _, at := range r.handedIn(submissions + "/" + label) {
			if len(r.p.Submissions) == maxSubmissions {
				r.Refuse(submissions, "must hold at most %d submissions", maxSubmissions)
				return
			}
			s := testcases.Labelled{Path: at, Label: label, Files: r.programFiles(at)}
			if len(s.Files) == 0 {
				continue
			}
			s.Main = entries[at]
			s.Language = statedLanguage(s.Files)
			if r.p.Kind == testcases.OutputOnly && !slices.ContainsFunc(s.Files, func(f judge.File) bool { return source(f.Name) }) {
				s.Language = "text"
			}
			r.expectLabel(&s)
			r.p.Submissions = append(r.p.Submissions, s)
		}
	}
	if r.version == v2025 {
		r.expectations()
	}
}

// handedIn lists what a folder of submissions holds: programs, and in a problem of type
// submit-answer also answers, each a file, an archive or a folder of files.
func (r *reader) handedIn(folder string) []string {
	if r.p.Kind != testcases.OutputOnly {
		return r.programs(folder)
	}
	files, folders := r.Children(folder)
	all := make([]string, 0, len(files)+len(folders))
	for _, name := range slices.Concat(files, folders) {
		all = append(all, folder+"/"+name)
	}
	slices.Sort(all)
	return all
}

// statedLanguage names the languages whose suffixes mean something else elsewhere, and
// the first of several.
func statedLanguage(files []judge.File) string {
	switch path.Ext(files[0].Name) {
	case ".cc", ".cpp", ".cxx", ".c++", ".C":
		return languagesOf("cpp")[0]
	case ".plg":
		return "prolog"
	case ".pl":
		if bytes.Contains(files[0].Data, []byte(":-")) {
			return "prolog"
		}
	case ".py2":
		return "python2"
	case ".py":
		line, _, _ := bytes.Cut(files[0].Data, []byte("\n"))
		if bytes.HasPrefix(line, []byte("#!")) && bytes.Contains(line, []byte("python2")) {
			return "python2"
		}
	}
	return ""
}

// entries reads DOMjudge's main files of submissions, by their path.
func (r *reader) entries() map[string]string {
	if !r.Has(entriesName) {
		return nil
	}
	b, ok := r.read(entriesName, 256<<10)
	var all map[string]struct {
		Entry string `json:"entry_point"`
	}
	if err := json.Unmarshal(b, &all); ok && err != nil {
		r.Refuse(entriesName, "must be a JSON object of submissions: %v", err)
	}
	mains := map[string]string{}
	for at, e := range all {
		mains[strings.TrimSuffix(at, "/")] = e.Entry
	}
	return mains
}

// expectLabel says what folder and tags promise.
func (r *reader) expectLabel(s *testcases.Labelled) {
	results, score, at := r.tagged(s)
	switch {
	case r.version == v2025:
		s.Allowed = runs
	default:
		s.Allowed = labels()[s.Label]
	}
	if len(results) > 0 && !slices.Contains(official, s.Label) {
		s.Allowed = results
	}
	if s.Label == "check_manually" {
		s.Allowed = nil
	}
	if score != nil {
		s.Expect = append(s.Expect, testcases.Expectation{Score: &[2]judge.Score{*score, *score}, Round: true, Origin: at})
	}
	if s.Label == "partially_accepted" && r.p.Score != nil {
		s.Expect = append(s.Expect, r.partly())
	}
}

// partly is less than the best: legacy, "Submissions Correct and Incorrect".
func (r *reader) partly() testcases.Expectation {
	if r.least {
		return testcases.Expectation{Above: r.p.Score.Min}
	}
	return testcases.Expectation{Partial: true}
}

// tagged reads the tags in the files of a submission. Several different lists of
// results are as none: DOMjudge leaves those to people. at is where the score is stated.
func (r *reader) tagged(s *testcases.Labelled) (results []judge.Verdict, score *judge.Score, at string) {
	lists := map[string]bool{}
	for _, f := range s.Files {
		number := 0
		for line := range bytes.Lines(f.Data) {
			number++
			text := string(bytes.TrimSpace(line))
			if _, list, ok := strings.Cut(text, resultsTag); ok && !lists[list] {
				lists[list] = true
				results = append(results, r.verdictsOf(s.Path, list)...)
			}
			if _, points, ok := strings.Cut(text, scoreTag); ok {
				value, err := judge.ParseScore(strings.Trim(points, " */"))
				if err != nil {
					r.Note(s.Path, "%s %v", scoreTag, err)
					continue
				}
				score, at = &value, origin(f.Name, number)
			}
		}
	}
	if len(lists) > 1 {
		r.Note(s.Path, "has several different %s tags: none is read", resultsTag)
		return nil, score, at
	}
	return results, score, at
}

func (r *reader) verdictsOf(at, list string) []judge.Verdict {
	var all []judge.Verdict
	for word := range strings.SplitSeq(strings.Trim(list, " */-"), ",") {
		word = strings.ReplaceAll(strings.ToUpper(strings.TrimSpace(word)), "_", "-")
		set, known := tags()[word]
		if !known {
			r.Note(at, "%s %.64q is not known", resultsTag, word)
		}
		all = append(all, set...)
	}
	return all
}
