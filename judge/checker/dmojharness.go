package checker

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// harnessFiles are for the protocol of DMOJ's Python checkers and interactors, which
// are modules: our own program, which calls them, and the part of DMOJ's package that
// they import.
//
//go:embed all:harness
var harnessFiles embed.FS

const (
	harnessLanguage = "python3"
	harnessMain     = "__judgefarm__.py"
	harnessModule   = "problem_module.py" // as the main program imports it
	factsFile       = "facts.json"
	rulingFile      = "ruling.json"
)

// dmojHarness is the program for a package's module, the first of its files.
func dmojHarness(files []judge.File) []judge.File {
	var all []judge.File
	err := fs.WalkDir(harnessFiles, "harness", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := harnessFiles.ReadFile(name)
		all = append(all, judge.File{Name: strings.TrimPrefix(name, "harness/"), Data: b})
		return err
	})
	if err != nil || all[0].Name != harnessMain {
		panic("checker: the harness is not embedded as it should be")
	}
	return append(all, judge.File{Name: harnessModule, Data: files[0].Data})
}

// factsOf is what the harness finds in its work directory, and what is taken of it.
func factsOf(in Input) ([]sandbox.File, []sandbox.Collect, error) {
	f := in.Facts
	language := ""
	if f.Language != nil {
		language = f.Language.ID
		if names := f.Language.IDs["dmoj"]; len(names) > 0 {
			language = names[0]
		}
	}
	b, err := json.Marshal(map[string]any{
		"problem": f.Problem, "language": language, "source": append([]byte{}, f.Source...), "verdict": f.Verdict,
		"cpu": f.CPU.Seconds(), "wall": f.Wall.Seconds(), "memory": judge.KibibytesOf(f.Memory),
	})
	if err != nil {
		return nil, nil, judge.Fail(judge.FailChecker, fmt.Errorf("tell facts to the checker: %w", err))
	}
	return []sandbox.File{{Name: factsFile, Data: b}}, []sandbox.Collect{{Name: rulingFile, Max: feedbackSize}}, nil
}

// dmojRuling reads what the harness wrote down. A module that raised an exception left
// nothing, and has no verdict.
func dmojRuling(name string, rep *sandbox.Report) (Ruling, error) {
	if rep.Cause != sandbox.CauseExit || rep.Exit != 0 {
		return Ruling{}, broken(name, rep, "0")
	}
	var said struct {
		Passed   bool
		Points   *string
		Feedback string
	}
	if err := json.Unmarshal([]byte(message(rep, rulingFile, int(feedbackSize))), &said); err != nil {
		return Ruling{}, nonsense(name, "left no ruling", rep)
	}
	r := Ruling{Verdict: judge.Accepted, Message: text([]byte(said.Feedback), teamMax), Jury: text(rep.Stderr.Data, int(feedbackSize))}
	if !said.Passed {
		r = refused(judge.WrongAnswer, r.Message, r.Jury)
	}
	if said.Points != nil {
		s, err := judge.ParseScore(*said.Points)
		if err != nil || s.Sign() < 0 {
			return Ruling{}, nonsense(name, "gave points that are none", rep)
		}
		r.Points = &s
	}
	return r, nil
}
