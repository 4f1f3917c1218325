package cms_test

import (
	"errors"
	"fmt"
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

// base is a small task; each test adds to it. A value of none in add removes.
func base() map[string]string {
	files := map[string]string{
		"task.yaml":               "name: sum\ntitle: Sum of two\ntime_limit: 1.5\nmemory_limit: 64\ninfile: \"\"\noutfile: \"\"\n",
		"gen/GEN":                 "# A B\n#ST: 0\n#COPY: gen/example.txt\n\n# ST: 40 # easy\n1 2 # small\n3 4\n#ST:60\n#STNAME: large\n1000 2000\n",
		"gen/example.txt":         "1 1\n",
		"sol/solution.py":         "print(sum(map(int, input().split())))",
		"statement/statement.pdf": "",
	}
	for i, text := range []string{"1 1", "1 2", "3 4", "1000 2000"} {
		files[fmt.Sprintf("input/input%d.txt", i)] = text
		files[fmt.Sprintf("output/output%d.txt", i)] = text
	}
	return files
}

const none = manifesttest.None

func write(t *testing.T, add map[string]string) string {
	t.Helper()
	return manifesttest.Write(t, "folder", base(), add)
}

func open(t *testing.T, add map[string]string) *testcases.Problem {
	t.Helper()
	dir := write(t, add)
	if !cms.Detect(dir) {
		t.Errorf("the task was not recognised")
	}
	p, err := cms.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// faults are those of a task that must be refused.
func faults(t *testing.T, add map[string]string) string {
	t.Helper()
	_, err := cms.Open(write(t, add))
	return strings.Join(manifesttest.Faults(t, err), "\n")
}

// shape is the groups with their rules and cases, in one line each.
func shape(p *testcases.Problem) string {
	var lines []string
	for _, g := range p.Groups {
		a, words := g.Score, []string{g.Name}
		if a.Mode != "" {
			words = append(words, string(a.Mode))
		}
		for what, s := range map[string]*judge.Score{"times ": a.Scale, "each ": a.Accept, "below ": a.Threshold} {
			if s != nil {
				words = append(words, what+s.String())
			}
		}
		slices.Sort(words[1:])
		for _, name := range g.Also {
			words = append(words, "+"+name)
		}
		for _, c := range g.Cases {
			words = append(words, c.Name)
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "; ")
}

// task is task.yaml of the base with more.
func task(more string) map[string]string {
	return map[string]string{"task.yaml": base()["task.yaml"] + more}
}

func TestTask(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{"att/sum.input1.txt": "1 2", "att/sum.input9.txt": "9 9"})
	if p.ID != "folder" || p.Name != "Sum of two" || p.Format != "cms italy_yaml" || p.Kind != testcases.Batch || !p.Sealed {
		t.Errorf("got %q, %q, %q, %q", p.ID, p.Name, p.Format, p.Kind)
	}
	if p.Limits.CPU != 1500*time.Millisecond || p.Limits.Memory != 64*judge.MiB || p.InputFile+p.OutputFile != "" || p.Checker.Name != testcases.WhiteDiff {
		t.Errorf("limits %+v, files %q and %q, checker %q", p.Limits, p.InputFile, p.OutputFile, p.Checker.Name)
	}
	want := "subtask0 min times 0 subtask0/000; subtask1 min times 40 subtask1/001 subtask1/002; large min times 60 large/003"
	if got := shape(p); got != want {
		t.Errorf("groups %q, want %q", got, want)
	}
	var samples []string
	for _, c := range p.Cases() {
		if c.Sample {
			samples = append(samples, c.Name)
		}
	}
	if !slices.Equal(samples, []string{"subtask1/001"}) {
		t.Errorf("given to contestants are %q", samples)
	}
	if len(p.Jury.Notes)+len(p.Jury.Unused) > 0 {
		t.Errorf("notes %+v, unused %q", p.Jury.Notes, p.Jury.Unused)
	}
	if len(p.Submissions) != 1 || p.Submissions[0].Label != "official" || !slices.Equal(p.Submissions[0].Allowed, []judge.Verdict{judge.Accepted}) {
		t.Errorf("submissions %+v", p.Submissions)
	}
	if inc := p.Include["cpp17"]; !slices.Equal(inc.Define, []string{"EVAL"}) || len(inc.Files) > 0 || p.Languages != nil {
		t.Errorf("included %+v, languages %v", inc, p.Languages)
	}
}

// What a task does not state is as CMS has it: files, no limits, Sum of 100.
func TestDefaults(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{"task.yaml": "nome_breve: sum\nnome: S\nn_input: 4\ntoken_mode: infinite\nscore_mode: max\n", "gen/GEN": none})
	if p.InputFile != "input.txt" || p.OutputFile != "output.txt" || p.Limits.CPU != time.Minute || p.Limits.Memory != 4*judge.GiB {
		t.Errorf("files %q and %q, limits %+v", p.InputFile, p.OutputFile, p.Limits)
	}
	if got := shape(p); got != "tests each 25 tests/000 tests/001 tests/002 tests/003" {
		t.Errorf("groups %q", got)
	}
	if len(p.Jury.Notes) != 2 {
		t.Errorf("notes %+v, want one for each limit", p.Jury.Notes)
	}
	if p := open(t, map[string]string{"task.yaml": "name: s\ntime_limit: 1\nmemory_limit: 1\ntotal_value: 1\n", "gen/GEN": "1\n1\n1\n#COPY: gen/example.txt\n"}); shape(p) !=
		"tests each 0.25 tests/000 tests/001 tests/002 tests/003" {
		t.Errorf("without subtasks: groups %q", shape(p))
	}
}

func TestScoreTypes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ parameters, want string }{
		"sum":         {"score_type: Sum\nscore_type_parameters: 12.5", "tests each 12.5 tests/000 tests/001 tests/002 tests/003"},
		"counts":      {"score_type: GroupMin\nscore_type_parameters: [[40, 1], [60, 3]]", "subtask0 min times 40 subtask0/000; subtask1 min times 60 subtask1/001 subtask1/002 subtask1/003"},
		"product":     {"score_type: GroupMul\nscore_type_parameters: [[0.5, 4]]", "subtask0 product times 0.5 subtask0/000 subtask0/001 subtask0/002 subtask0/003"},
		"threshold":   {"score_type: GroupThreshold\nscore_type_parameters: [[40, 2, 10], [60, 2, 2.5]]", "subtask0 all below 10 times 40 subtask0/000 subtask0/001; subtask1 all below 2.5 times 60 subtask1/002 subtask1/003"},
		"expressions": {"score_type: GroupMin\nscore_type_parameters: [[40, '00[12]'], [60, '0']]", "subtask0 min times 40 subtask0/001 subtask0/002; subtask1 min times 60 +subtask0/001 +subtask0/002 subtask1/000 subtask1/003"},
		"lists":       {"score_type: GroupMin\nscore_type_parameters: [{max_score: 40, testcases: ['003', '001']}, {max_score: 60, testcases: ['001'], always_show_testcases: true}]", "subtask0 min times 40 subtask0/003 subtask0/001; subtask1 min times 60 +subtask0/001"},
	} {
		if got := shape(open(t, task("n_input: 4\n"+c.parameters))); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	p := open(t, task("n_input: 4\nscore_type: GroupMin\nscore_type_parameters: [[100, 2]]"))
	if len(p.Cases()) != 2 || len(p.Jury.Notes) != 1 {
		t.Errorf("cases in no subtask: %d cases, notes %+v", len(p.Cases()), p.Jury.Notes)
	}
	p = open(t, task("score_type: GroupMul"))
	if !strings.HasPrefix(shape(p), "subtask0 min") || len(p.Jury.Notes) != 1 {
		t.Errorf("half of an override: %q, notes %+v", shape(p), p.Jury.Notes)
	}
}

// Graders are compiled with submissions, which bear the task's name then.
func TestGraders(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"sol/grader.cpp": "g++", "sol/grader.py": "import sum", "sol/grader.pas": "program grader;", "sol/sum.h": "int sum();",
		"sol/sumlib.pas": "unit sumlib;", "sol/template_cpp.cpp": "t", "sol/slow.cpp": "/* @check-accepted: subtask* large\n@check-zero: nobody\n@check-zero: sub* */",
		"check/checker.cpp": "c", "check/testlib.h": "t", "check/checker": "ELF",
	})
	files := func(id string) (names []string) {
		for _, f := range p.Include[id].Files {
			names = append(names, f.Name)
		}
		return append(names, p.Include[id].Main, p.Include[id].Source)
	}
	for id, want := range map[string][]string{
		"cpp20": {"grader.cpp", "sum.h", "grader.cpp", "sum.cpp"}, "python3": {"grader.py", "grader.py", "sum.py"},
		"pascal": {"grader.pas", "sumlib.pas", "grader.pas", "sum.pas"},
	} {
		if got := files(id); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	if want := []string{"cpp17", "cpp20", "cpp23", "pascal", "python3", "pypy3"}; !slices.Equal(p.Languages, want) {
		t.Errorf("languages %q, want %q", p.Languages, want)
	}
	if c := p.CheckerProgram; c == nil || c.Language != "cpp20" || c.Protocol != testcases.ProtocolCMS || len(c.Files) != 2 || c.Script {
		t.Errorf("checker %+v", c)
	}
	if len(p.Submissions) != 2 {
		t.Fatalf("submissions %+v", p.Submissions)
	}
	expect := p.Submissions[0].Expect
	if len(expect) != 3 || expect[2].Cases != "{subtask0,subtask1}" || expect[0].Cases != "{subtask0,subtask1}" || expect[1].Cases != "large" || len(p.Jury.Notes) != 1 {
		t.Errorf("expected %+v, notes %+v", expect, p.Jury.Notes)
	}
}

// A checker without source is run as it is, as CMS does it.
func TestPrograms(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{"cor/correttore": "#!/bin/sh\n"})
	if c := p.CheckerProgram; c == nil || !c.Script || c.Files[0].Name != "run" {
		t.Errorf("checker %+v", c)
	}
	p = open(t, map[string]string{"check/manager": "ELF", "sol/stub.c": "s", "sol/solution.py": none})
	if p.Kind != testcases.Communication || !p.Sealed || !p.NamedPipes || p.Processes != 0 || !p.Interactor.Script || !slices.Equal(p.Languages, []string{"c"}) {
		t.Errorf("with a stub: %+v", p)
	}
	p = open(t, map[string]string{"check/manager.cpp": "m", "task.yaml": base()["task.yaml"] + "num_processes: 3\n"})
	if p.Kind != testcases.Communication || p.NamedPipes || p.Processes != 3 || p.Interactor.Language != "cpp20" || p.Languages != nil {
		t.Errorf("alone: %+v", p)
	}
	p = open(t, map[string]string{"check/manager.cpp": "m", "sol/stub.c": "s", "task.yaml": base()["task.yaml"] + "task_type: Communication\ntask_type_parameters: [2, stub, std_io]\n"})
	if p.NamedPipes || p.Processes != 2 {
		t.Errorf("by parameters: %+v", p)
	}
	p = open(t, map[string]string{
		"task.yaml": base()["task.yaml"] + "output_only: True\n", "sol/mine/output_000.txt": "1 1", "check/manager": "not for this task", "output/output3.txt": none,
	})
	if p.Kind != testcases.OutputOnly || p.Cases()[2].Output != "output_002.txt" || len(p.Submissions) != 2 || p.Submissions[1].Language != "text" {
		t.Errorf("output only: %+v", p)
	}
}

// A task may take the outputs of some cases beside a program.
func TestBatchAndOutput(t *testing.T) {
	t.Parallel()
	add := task("output_only_testcases: '0, 2'\noutput_optional_testcases: '2,3'\n")
	add["check/checker.py"] = "c"
	for name, text := range map[string]string{"sol/both/a.cpp": "a", "sol/both/output_000.txt": "1", "sol/outputs/output_002.txt": "1"} {
		add[name] = text
	}
	p := open(t, add)
	var got []string
	for _, c := range p.Cases() {
		got = append(got, strings.Join([]string{c.Name, string(c.Handed), c.Output, strings.Join(c.CheckerArgs, " ")}, ":"))
	}
	want := []string{
		"subtask0/000:only:output_000.txt:outputonly", "subtask1/001:::batch", "subtask1/002:only:output_002.txt:outputonly", "large/003:maybe:output_003.txt:batch",
	}
	if !slices.Equal(got, want) || p.Kind != testcases.Batch {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(p.Submissions) != 3 || p.Submissions[1].Language != "cpp17" || p.Submissions[2].Language != "text" {
		t.Errorf("submissions %+v", p.Submissions)
	}
}

// Data that is not there is made as gen/GEN says.
func TestGenerated(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{"input/input0.txt": none, "input/input2.txt": none, "output/output2.txt": none, "gen/generator.py": "g"})
	cases := p.Cases()
	if cases[0].Input == nil || cases[0].Input.Size() != 4 {
		t.Errorf("the copied input is not read: %+v", cases[0])
	}
	c := cases[2]
	if c.InputFrom == nil || c.InputFrom.Program.Name != "gen/generator.py" || !slices.Equal(c.InputFrom.Args, []string{"3", "4"}) ||
		c.AnswerFrom == nil || c.AnswerFrom.Program.Name != "sol/solution.py" || !p.Pending() {
		t.Errorf("got %+v", c)
	}
}

// What cannot be judged as CMS does is told with file and line.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add  map[string]string
		want string
	}{
		"time limit":         {map[string]string{"task.yaml": "name: x\ntime_limit: fast\n"}, "task.yaml: line 2: time_limit must be a decimal number"},
		"no name":            {map[string]string{"task.yaml": "title: x\n"}, "task.yaml: must have a name"},
		"handed in":          {task("output_only_testcases: 1,9\n"), `output_only_testcases must be numbers of cases below 4, has "9"`},
		"task type":          {task("task_type: TwoSteps\n"), `task_type "TwoSteps" is not supported`},
		"other type":         {task("task_type: Communication\n"), "task_type is Communication, but the files are those of Batch"},
		"score type":         {task("n_input: 4\nscore_type: Best\nscore_type_parameters: 1\n"), `score_type "Best" is not supported`},
		"inputs":             {task("n_input: 5\n"), "n_input is 5, gen/GEN has 4 cases"},
		"public":             {task("public_testcases: 1, 7\n"), "public_testcases must be numbers of cases below 4"},
		"user_io":            {task("user_io: pipes\n"), "user_io must be std_io or fifo_io"},
		"infile":             {map[string]string{"task.yaml": "name: x\ninfile:\n"}, "infile must be a file's name"},
		"no cases":           {map[string]string{"gen/GEN": "# nothing\n"}, "must have 1 to 1000 cases, has 0"},
		"case before":        {map[string]string{"gen/GEN": "1\n#ST: 100\n2\n3\n4\n"}, "gen/GEN: line 2: begins the first subtask after cases"},
		"two in a line":      {map[string]string{"gen/GEN": "1 #ST: 100\n2\n3\n4\n"}, "gen/GEN: line 1: has a case and a command"},
		"points":             {map[string]string{"gen/GEN": "#ST: many\n1\n2\n3\n4\n"}, "gen/GEN: line 1: ST: must be followed by the points"},
		"empty subtask":      {map[string]string{"gen/GEN": "#ST: 50\n#ST: 50\n1\n2\n3\n4\n"}, "gen/GEN: subtask 0 has no cases"},
		"copy":               {map[string]string{"gen/GEN": "1\n2\n3\n#COPY: ../x\n"}, "line 4: COPY: must be followed by the name of a file"},
		"copy of nothing":    {map[string]string{"gen/GEN": "#COPY: gen/none\n2\n3\n4\n", "input/input0.txt": none}, `gen/GEN: line 1: copies "gen/none", which is not there`},
		"no input":           {map[string]string{"input/input1.txt": none}, "input/input1.txt: is missing, and there is no gen/generator"},
		"no answer":          {map[string]string{"output/output1.txt": none, "sol/solution.py": none}, "output/output1.txt: is missing, and there is no sol/solution"},
		"no n_input":         {map[string]string{"gen/GEN": none}, "must state n_input where there is no gen/GEN"},
		"two checkers":       {map[string]string{"check/checker.cpp": "", "cor/correttore.py": ""}, "is a second program beside"},
		"expression":         {task("n_input: 4\nscore_type: GroupMin\nscore_type_parameters: [[100, '(?=0)']]\n"), "is no regular expression that is supported"},
		"nothing matches":    {task("n_input: 4\nscore_type: GroupMin\nscore_type_parameters: [[100, 'x']]\n"), "line 9: names no case"},
		"more than there is": {task("n_input: 4\nscore_type: GroupMin\nscore_type_parameters: [[100, 5]]\n"), "needs 5 cases more, there are 4"},
		"no threshold":       {task("n_input: 4\nscore_type: GroupThreshold\nscore_type_parameters: [[100, 4]]\n"), "must be [points, cases, threshold]"},
		"no list":            {task("n_input: 4\nscore_type: GroupMin\nscore_type_parameters: 5\n"), "must be a list of [points, cases]"},
		"processes":          {task("num_processes: 17\n"), "num_processes must be a whole number from 1 to 16"},
	} {
		if got := faults(t, c.add); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add  map[string]string
		want bool
	}{
		"task":                        {nil, true},
		"other ending":                {map[string]string{"task.yaml": none, "task.yml": base()["task.yaml"]}, true},
		"no task.yaml":                {map[string]string{"task.yaml": none}, false},
		"a package of another format": {map[string]string{"problem.yaml": "name: x\n"}, false},
	} {
		if got := cms.Detect(write(t, c.add)); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// Whatever stands in the two files that describe a task, it is read or refused.
func FuzzOpen(f *testing.F) {
	f.Add(base()["task.yaml"], base()["gen/GEN"])
	f.Add("n_input: 4\nname: x\nscore_type: GroupThreshold\nscore_type_parameters: [[1, 4, 2]]\n", "#ST: 1\n1\n")
	f.Add("name: x\nscore_type: GroupMin\nn_input: 4\nscore_type_parameters: [&a {max_score: 1, testcases: '0'}, *a]\n", "#COPY: gen/example.txt\n#STNAME: x\n")
	dir := filepath.Join(f.TempDir(), "task") // one for all: a worker tries one input at a time
	for name, text := range base() {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, yaml, gen string) {
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "task.yaml"), []byte(yaml), 0o644), os.WriteFile(filepath.Join(dir, "gen/GEN"), []byte(gen), 0o644)); err != nil {
			t.Fatal(err)
		}
		p, err := cms.Open(dir)
		switch {
		case err == nil && len(p.Cases()) == 0:
			t.Errorf("%q, %q: opened without cases", yaml, gen)
		case err != nil && !judge.IsBadRequest(err):
			t.Errorf("%q, %q: %v", yaml, gen, err)
		}
	})
}
