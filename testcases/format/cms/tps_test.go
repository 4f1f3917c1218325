package cms_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/internal/manifest/manifesttest"
	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format/cms"
)

// exported is a small task as TPS exports it, with more and without what is none.
func exported(t *testing.T, add map[string]string) string {
	t.Helper()
	files := map[string]string{
		"problem.json":  `{"protocol_version": 2, "code": "sum", "name": "Sum", "time_limit": 1.5, "memory_limit": 67108864, "task_type": "batch", "task_type_params": ["grader", ["", "out.txt"], "comparator"]}`,
		"tests/0-01.in": "1", "tests/0-01.out": "1", "tests/1-01.in": "2", "tests/1-01.out": "2",
		"subtasks/00-samples.json": `{"score": 0, "testcases": ["0-01"]}`,
		"subtasks/01-n^2.json":     `{"score": 100, "testcases": ["0-01", "1-01"]}`,
		"checker/checker.cpp":      "c", "checker/testlib.h": "t",
		"graders/grader.cpp": "g", "graders/sum.h": "h", "graders/grader.java": "j",
		"solutions/correct/a.cpp": "a", "solutions/time_limit/b.py": "b",
	}
	return manifesttest.Write(t, "folder", files, add)
}

func openTPS(t *testing.T, add map[string]string) *testcases.Problem {
	t.Helper()
	dir := exported(t, add)
	if !cms.DetectTPS(dir) || cms.Detect(dir) {
		t.Errorf("the task was not recognised")
	}
	p, err := cms.OpenTPS(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTPS(t *testing.T) {
	t.Parallel()
	p := openTPS(t, nil)
	if p.Name != "Sum" || p.Format != "cms tps" || p.Limits.CPU != 1500*time.Millisecond || p.Limits.Memory != 64*judge.MiB || p.InputFile+p.OutputFile != "out.txt" {
		t.Errorf("got %+v", p)
	}
	if got := shape(p); got != "samples min times 0 samples/0-01; subtask1 min times 100 +samples/0-01 subtask1/1-01" {
		t.Errorf("groups %q", got)
	}
	if !slices.Equal(p.Languages, []string{"cpp17", "cpp20", "cpp23", "java"}) || p.Include["cpp20"].Source != "sum.cpp" || len(p.Include["cpp20"].Files) != 2 {
		t.Errorf("languages %q, included %+v", p.Languages, p.Include["cpp20"])
	}
	if c := p.CheckerProgram; c == nil || c.Protocol != testcases.ProtocolCMS || len(c.Files) != 2 {
		t.Errorf("checker %+v", c)
	}
	if len(p.Submissions) != 2 || !slices.Contains(p.Submissions[1].Allowed, judge.TimeLimit) || slices.Contains(p.Submissions[1].Allowed, judge.Accepted) {
		t.Errorf("submissions %+v", p.Submissions)
	}
	p = openTPS(t, map[string]string{"subtasks/00-samples.json": none, "subtasks/01-n^2.json": none})
	if got := shape(p); got != "tests each 50 tests/0-01 tests/1-01" {
		t.Errorf("without subtasks: %q", got)
	}
	p = openTPS(t, map[string]string{
		"problem.json":        `{"code": "s", "name": "S", "time_limit": 1, "memory_limit": 67108864, "task_type": "Communication", "task_type_params": "{\"task_type_parameters_Communication_num_processes\": 2}"}`,
		"graders/manager.cpp": "m",
	})
	if p.Kind != testcases.Communication || !p.Sealed || p.Processes != 2 || p.NamedPipes || p.Interactor.Name != "graders/manager.cpp" || p.CheckerProgram != nil {
		t.Errorf("older communication: %+v", p)
	}
	p = openTPS(t, map[string]string{
		"problem.json":        `{"code": "s", "name": "S", "time_limit": 1, "memory_limit": 67108864, "task_type": "Communication", "task_type_params": [1, "alone", "fifo_io"]}`,
		"graders/manager.cpp": "m",
	})
	if !p.NamedPipes || p.Processes != 0 || p.Languages != nil {
		t.Errorf("communication: %+v", p)
	}
	p = openTPS(t, map[string]string{"problem.json": `{"code": "s", "name": "S", "task_type": "OutputOnly", "task_type_params": ["comparator"]}`})
	if p.Kind != testcases.OutputOnly || p.Cases()[1].Output != "output_1-01.txt" {
		t.Errorf("output only: %+v", p)
	}
}

func TestTPSFaults(t *testing.T) {
	t.Parallel()
	task := func(text string) map[string]string { return map[string]string{"problem.json": text} }
	for name, c := range map[string]struct {
		add  map[string]string
		want string
	}{
		"no JSON":   {task("{"), "problem.json: is not the JSON that it must be"},
		"type":      {task(`{"code": "s", "task_type": "TwoSteps", "time_limit": 1, "memory_limit": 67108864}`), `task_type "TwoSteps" is not supported`},
		"time":      {task(`{"code": "s", "task_type": "Batch", "memory_limit": 67108864}`), "time_limit must be 0.001 to 3600 seconds"},
		"memory":    {task(`{"code": "s", "task_type": "Batch", "time_limit": 1, "memory_limit": 256}`), "memory_limit must be bytes"},
		"code":      {task(`{"code": "../s", "task_type": "OutputOnly"}`), "code must be one that a file may be called"},
		"manager":   {task(`{"code": "s", "task_type": "Communication", "time_limit": 1, "memory_limit": 67108864}`), "graders/manager.cpp: is missing"},
		"no answer": {map[string]string{"tests/1-01.out": none}, "tests/1-01.in: has no answer"},
		"no case":   {map[string]string{"subtasks/01-n^2.json": `{"score": 100, "testcases": ["9"]}`}, `"9" is no case of tests/`},
		"empty":     {map[string]string{"subtasks/01-n^2.json": `{"score": 100, "testcases": []}`}, "must name at least one case"},
		"score":     {map[string]string{"subtasks/01-n^2.json": `{"score": -1, "testcases": ["0-01"]}`}, "score must be points"},
		"twice":     {map[string]string{"subtasks/02-samples.json": `{"score": 1, "testcases": ["0-01"]}`}, "group name is used twice"},
	} {
		_, err := cms.OpenTPS(exported(t, c.add))
		if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// Whatever stands in the two files that describe an exported task, it is read or refused.
func FuzzOpenTPS(f *testing.F) {
	f.Add(`{"code": "sum", "task_type": "Batch", "time_limit": 1, "memory_limit": 67108864, "task_type_params": "{}"}`, `{"score": 1, "testcases": ["0-01"]}`)
	f.Add(`{"code": "s", "task_type": "communication", "task_type_params": [2, "stub", "fifo_io"]}`, `{"score": "1", "testcases": ["0-01", "0-01"]}`)
	dir := filepath.Join(f.TempDir(), "task")
	for name, text := range map[string]string{"tests/0-01.in": "1", "tests/0-01.out": "1", "graders/manager.cpp": "m", "problem.json": "", "subtasks/1.json": ""} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, task, subtask string) {
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "problem.json"), []byte(task), 0o644), os.WriteFile(filepath.Join(dir, "subtasks/1.json"), []byte(subtask), 0o644)); err != nil {
			t.Fatal(err)
		}
		if p, err := cms.OpenTPS(dir); err == nil && len(p.Cases()) == 0 || err != nil && !judge.IsBadRequest(err) {
			t.Errorf("%q, %q: %v", task, subtask, err)
		}
	})
}
