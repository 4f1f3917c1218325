package kattis_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/internal/manifest/manifesttest"
	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format/kattis"
)

// base is a small package; each test adds to it. A value of "" in add removes.
func base() map[string]string {
	return map[string]string{
		"problem.yaml":                     "name: Sum\nlicense: cc0\n",
		"data/sample/1.in":                 "1 2\n",
		"data/sample/1.ans":                "3\n",
		"data/secret/01.in":                "2 2\n",
		"data/secret/01.ans":               "4\n",
		"submissions/accepted/a.py":        "print(sum(map(int, input().split())))",
		"submissions/wrong_answer/b.cpp":   "int main() {}",
		"problem_statement/problem.en.tex": "",
	}
}

const none = manifesttest.None

func write(t *testing.T, add map[string]string) string {
	t.Helper()
	return manifesttest.Write(t, "sum", base(), add)
}

func open(t *testing.T, add map[string]string) *testcases.Problem {
	t.Helper()
	dir := write(t, add)
	if !kattis.Detect(dir) {
		t.Errorf("the package was not recognised")
	}
	p, err := kattis.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func faults(t *testing.T, add map[string]string) []string {
	t.Helper()
	_, err := kattis.Open(write(t, add))
	return manifesttest.Faults(t, err)
}

func score(t *testing.T, text string) judge.Score {
	t.Helper()
	s, err := judge.ParseScore(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLegacy(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		".timelimit": "1.5", "data/secret/hard/02.in": "", "data/secret/hard/02.ans": "",
		"problem.yaml": "name: Sum\nvalidator_flags: float_tolerance 1e-6 case_sensitive\nlimits: {memory: 64, output: 2, code: 10, time_multiplier: 4}\n",
	})
	var names []string
	for _, c := range p.Cases() {
		names = append(names, c.Name)
	}
	if want := []string{"sample/1", "secret/01", "secret/hard/02"}; !slices.Equal(names, want) {
		t.Errorf("cases %q, want %q", names, want)
	}
	if p.Limits.CPU != 1500*time.Millisecond || p.Limits.Memory != 64*judge.MiB || p.Limits.Output != 2*judge.MiB || p.CodeSize != 10*judge.KiB {
		t.Errorf("limits %+v, code %d", p.Limits, p.CodeSize)
	}
	if p.Checker.Name != "kattis" || !slices.Equal(p.Checker.Args, []string{"float_tolerance", "1e-6", "case_sensitive"}) {
		t.Errorf("checker %+v", p.Checker)
	}
	if !p.Jury.Time.Stated || p.Jury.Time.AcToLimit.Cmp(judge.ScoreOf(4)) != 0 || p.Jury.Time.LimitToTLE.Cmp(judge.ScoreOf(2)) != 0 {
		t.Errorf("rule of time %+v", p.Jury.Time)
	}
	if p.Scores() || p.Kind != testcases.Batch || p.ID != "sum" || p.Format != "kattis legacy" || !p.Groups[0].Sample {
		t.Errorf("got %+v", p)
	}
	if len(p.Submissions) != 2 || !slices.Contains(p.Submissions[1].Allowed, judge.WrongAnswer) || slices.Contains(p.Submissions[1].Allowed, judge.Accepted) {
		t.Errorf("submissions %+v", p.Submissions)
	}
}

// Where no limit is stated it stays open, with the rule that derives it.
func TestTimeLimitIsDerived(t *testing.T) {
	t.Parallel()
	p := open(t, nil)
	if p.Limits.CPU != 0 || p.Jury.Time.Stated || p.Jury.Time.AcToLimit.Cmp(judge.ScoreOf(5)) != 0 {
		t.Errorf("legacy: limit %v, rule %+v", p.Limits.CPU, p.Jury.Time)
	}
	p = open(t, map[string]string{"problem.yaml": "problem_format_version: 2025-09\nname: x\nlimits: {time_resolution: 0.1, time_multipliers: {time_limit_to_tle: 4}}"})
	rule := p.Jury.Time
	if rule.AcToLimit.Cmp(judge.ScoreOf(2)) != 0 || rule.LimitToTLE.Cmp(judge.ScoreOf(4)) != 0 || rule.Resolution.Cmp(score(t, "0.1")) != 0 {
		t.Errorf("2025-09: rule %+v", rule)
	}
	p = open(t, map[string]string{"domjudge-problem.ini": "name = 'A'\ntimelimit='5'\n"})
	if p.Limits.CPU != 5*time.Second || p.Name != "A" {
		t.Errorf("ini: limit %v, name %q", p.Limits.CPU, p.Name)
	}
}

func TestValidators(t *testing.T) {
	t.Parallel()
	program := map[string]string{
		"problem.yaml":                     "validation: custom\nvalidator_flags: -x 3\nlimits: {validation_time: 7}",
		"output_validators/check/check.cc": "int main() {}",
		"output_validators/check/lib.h":    "",
		"input_validators/check.py":        "exit(42)",
		"input_validators/deep/build":      "#!/bin/sh",
		"input_validators/grammar.ctd":     "EOF",
		"input_validators/other.viva":      "{}",
		"data/secret/testdata.yaml":        "input_validator_flags: a b\noutput_validator_flags: c",
		"data/sample/testdata.yaml":        "input_validator_flags: {name: check, flags: z}",
		"data/invalid_input/bad.in":        "x",
		"data/invalid_output/1.in":         "x",
		"data/invalid_output/1.ans":        "x",
		"data/invalid_output/1.out":        "y",
		"data/valid_output/1.in":           "x",
		"data/valid_output/1.ans":          "x",
		"data/valid_output/1.out":          "x",
	}
	p := open(t, program)
	check := p.CheckerProgram
	if p.Checker.Name != "custom" || !slices.Equal(p.Checker.Args, []string{"-x", "3"}) || check == nil ||
		check.Files[0].Name != "check.cc" || check.Protocol != testcases.ProtocolKattis || check.Limits.CPU != 7*time.Second {
		t.Errorf("checker %+v, program %+v", p.Checker, check)
	}
	if c := p.Cases()[1]; !slices.Equal(c.CheckerArgs, []string{"c"}) || !slices.Equal(p.Jury.ValidatorArgs[c.Name], []string{"a", "b"}) {
		t.Errorf("case %+v, input validators get %q", c, p.Jury.ValidatorArgs)
	}
	j := p.Jury
	if len(j.Validators) != 3 || !slices.Equal(j.Validators[0].Args["sample/1"], []string{"z"}) || !j.Validators[2].Program.Script ||
		j.Validators[1].Program.Protocol != testcases.ProtocolChecktestdata {
		t.Errorf("validators %+v", j.Validators)
	}
	if len(j.InvalidInputs) != 1 || len(j.InvalidOutput) != 1 || len(j.ValidOutputs) != 1 || len(j.Notes) != 1 {
		t.Errorf("data of the jury: %+v", j)
	}

	program["problem.yaml"] = "validation: custom interactive"
	if p = open(t, program); p.Kind != testcases.Interactive || p.Interactor == nil || p.CheckerProgram != nil {
		t.Errorf("interactive: %+v", p)
	}
	program["problem.yaml"] = "validation: custom multi-pass\nlimits: {validation_passes: 26}"
	if p = open(t, program); p.Passes != 26 {
		t.Errorf("passes %d", p.Passes)
	}
	program["problem.yaml"], program["data/secret/testdata.yaml"] = "validation: default", "output_validator_flags: case_sensitive"
	if p = open(t, program); p.CheckerProgram != nil || p.Checker.Name != "kattis" {
		t.Errorf("default validation with a validator: %+v", p.Checker)
	}
}

func TestVersion2025(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml": "problem_format_version: 2025-09\nname: {sv: Summa, en: Sum}\ntype: [pass-fail, multi-pass]\n" +
			"languages: [cpp, java]\nconstants: {limit: {value: 7, tex: seven}}\nlimits: {time_limit: 2}",
		"output_validator/v.py":         "N = {{limit}} # {{limit.tex}} {{other}}",
		"include/default/lib.txt":       "x",
		"include/default/own.txt":       "of all",
		"include/cpp/own.txt":           "of C++",
		"include/cpp/main.cpp":          "int main() {}",
		"data/secret/01.yaml":           "args: [a, b]\noutput_validator_args: [q]\ninput_validator_args: [r]\nhint: think",
		"data/secret/01.files/in/t.txt": "t",
		"data/secret/deep/02.in":        "",
		"data/secret/deep/02.ans":       "",
		"input_validators/v.py":         "exit(42)",
	})
	c := p.Cases()[1]
	if c.Name != "secret/01" || !slices.Equal(c.Args, []string{"a", "b"}) || !slices.Equal(c.CheckerArgs, []string{"q"}) || c.Hint != "think" ||
		len(c.Files) != 1 || c.Files[0].Name != "in/t.txt" || !slices.Equal(p.Jury.ValidatorArgs[c.Name], []string{"r", "a", "b"}) {
		t.Errorf("case %+v, input validators get %q", c, p.Jury.ValidatorArgs)
	}
	if got := string(p.CheckerProgram.Files[0].Data); got != "N = 7 # seven {{other}}" {
		t.Errorf("constants: %q", got)
	}
	if p.Name != "Sum" || p.Passes != 2 || !slices.Contains(p.Languages, "cpp20") || !slices.Contains(p.Languages, "java") {
		t.Errorf("got %q, %d passes, languages %q", p.Name, p.Passes, p.Languages)
	}
	if p.Include["cpp20"].Main != "main.cpp" || len(p.Include[""].Files) != 2 {
		t.Errorf("include %+v", p.Include)
	}
	included := ""
	for _, f := range p.Include["cpp20"].Files {
		included += f.Name + "=" + string(f.Data) + ";"
	}
	if want := "main.cpp=int main() {};own.txt=of C++;lib.txt=x;"; included != want {
		t.Errorf("C++ gets %q, want what all languages get and its own over it: %q", included, want)
	}
	if len(p.Groups) != 2 || len(p.Groups[1].Cases) != 2 || len(p.Groups[1].Groups) != 0 {
		t.Errorf("a folder without test_group.yaml is a group: %+v", p.Groups)
	}
}

func TestScoring2025(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml":       "problem_format_version: 2025-09\nname: x\ntype: scoring\nlimits: {time_limit: 1}",
		"data/secret/01.in":  none,
		"data/secret/01.ans": none,
		"data/secret/a/1.in": "", "data/secret/a/1.ans": "",
		"data/secret/a/test_group.yaml": "max_score: 30\nrequire_pass: sample",
		"data/secret/b/1.in":            "", "data/secret/b/1.ans": "", "data/secret/b/2.in": "", "data/secret/b/2.ans": "", "data/secret/b/3.in": "", "data/secret/b/3.ans": "",
		"data/secret/b/test_group.yaml": "max_score: 70\nscore_aggregation: sum\nrequire_pass: [secret/a, sample]",
	})
	secret := p.Groups[1]
	if p.Score == nil || !p.Score.IgnoreSample || p.Score.Max.Cmp(judge.ScoreOf(100)) != 0 || secret.Score.Mode != testcases.ModeSum {
		t.Fatalf("score %+v, secret %+v", p.Score, secret.Score)
	}
	a, b := secret.Groups[0], secret.Groups[1]
	if a.Score.Mode != testcases.ModeAll || a.Score.Scale.Cmp(judge.ScoreOf(30)) != 0 || !slices.Equal(a.After, []string{"sample"}) {
		t.Errorf("group a: %+v", a)
	}
	if b.Score.Mode != testcases.ModeSum || b.Score.Accept.Cmp(judge.ShareOf(70, 3)) != 0 || len(b.After) != 2 {
		t.Errorf("group b: %+v", b.Score)
	}
}

func TestGraders(t *testing.T) {
	t.Parallel()
	add := map[string]string{
		"problem.yaml":              "type: scoring\ngrading: {show_test_data_groups: true}",
		"data/testdata.yaml":        "on_reject: continue\nrange: 0 100\ngrader_flags: ignore_sample",
		"data/secret/testdata.yaml": "grader_flags: first_error accept_if_any_accepted max",
		"data/secret/a/1.in":        "", "data/secret/a/1.ans": "",
		"data/secret/a/testdata.yaml":         "on_reject: break\naccept_score: 12.5\ngrader_flags: min",
		"submissions/partially_accepted/p.py": "",
	}
	p := open(t, add)
	secret := p.Groups[1]
	a := secret.Groups[0]
	if !p.Score.IgnoreSample || p.Score.Max.Cmp(judge.ScoreOf(100)) != 0 || p.Score.Verdict != testcases.VerdictWorst {
		t.Errorf("root %+v", p.Score)
	}
	if s := secret.Score; s.Mode != testcases.ModeMax || !s.AcceptAny || s.Verdict != testcases.VerdictFirst || secret.Stop || s.Max.Cmp(judge.ScoreOf(100)) != 0 {
		t.Errorf("secret %+v, stops %v", s, secret.Stop)
	}
	if s := a.Score; s.Mode != testcases.ModeMin || !a.Stop || s.Accept.Cmp(score(t, "12.5")) != 0 {
		t.Errorf("group a %+v, stops %v", s, a.Stop)
	}
	i := slices.IndexFunc(p.Submissions, func(s testcases.Labelled) bool { return s.Label == "partially_accepted" })
	if i < 0 || !p.Submissions[i].Expect[0].Partial {
		t.Errorf("submissions %+v", p.Submissions)
	}
	add["data/secret/a/testdata.yaml"] = "grading: custom\ngrader_flags: -k"
	add["graders/g.py"] = "print('AC 1')"
	if s := open(t, add).Groups[1].Groups[0].Score; s.Mode != testcases.ModeCustom || s.Grader == nil || !slices.Equal(s.GraderArgs, []string{"-k"}) {
		t.Errorf("custom grader: %+v", s)
	}
}

// DOMjudge gives accept_score once for a group, and nothing for samples.
func TestDOMjudgeScores(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml":              "type: scoring",
		"data/secret/testdata.yaml": "on_reject: continue",
		"data/secret/a/1.in":        "", "data/secret/a/1.ans": "", "data/secret/a/2.in": "", "data/secret/a/2.ans": "",
		"data/secret/a/testdata.yaml": "accept_score: 10",
		"submissions/partial/p.py":    "# @EXPECTED_RESULTS@: WRONG-ANSWER\n# @EXPECTED_SCORE@: 10.25\n",
	})
	a := p.Groups[1].Groups[0]
	if a.Score.Mode != testcases.ModeAll || a.Score.Scale.Cmp(judge.ScoreOf(10)) != 0 || !p.Score.IgnoreSample {
		t.Errorf("group %+v, root %+v", a.Score, p.Score)
	}
	if a.Score.Verdict != testcases.VerdictFirst || p.Score.Verdict != testcases.VerdictFirst {
		t.Errorf("verdicts of group %q and root %q, want the first that is not accepted", a.Score.Verdict, p.Score.Verdict)
	}
	s := p.Submissions[slices.IndexFunc(p.Submissions, func(s testcases.Labelled) bool { return s.Label == "partial" })]
	if !slices.Contains(s.Allowed, judge.WrongAnswer) || s.Expect[0].Score[0].Cmp(score(t, "10.25")) != 0 || !s.Expect[0].Round {
		t.Errorf("submission %+v", s)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"submissions/mixed/a.py":                    "# @EXPECTED_RESULTS@: CORRECT, WRONG_ANSWER",
		"submissions/accepted/b.c":                  "/* @EXPECTED_RESULTS@: WRONG-ANSWER */",
		"submissions/rejected/c.py":                 "# @EXPECTED_RESULTS@: TIMELIMIT\n# @EXPECTED_RESULTS@: RUN-ERROR\n",
		"submissions/check_manually/d.py":           "# @EXPECTED_RESULTS@: CHECK-MANUALLY",
		"submissions/run_time_error/parts/main.mjs": "", "submissions/run_time_error/parts/lib.mjs": "",
		"submissions.json":               `{"submissions/run_time_error/parts/": {"entry_point": "lib.mjs"}}`,
		"submissions/slow_accepted/s.py": "",
		"submissions/accepted/facts.pl":  ":- initialization(main).", "submissions/accepted/a.c++": "", "submissions/accepted/more/a.cc": "",
		"submissions/accepted/note.txt": "",
	})
	allowed := map[string][]judge.Verdict{}
	for _, s := range p.Submissions {
		allowed[s.Path] = s.Allowed
		if s.Label == "run_time_error" && (s.Main != "lib.mjs" || len(s.Files) != 2) {
			t.Errorf("parts: %+v", s)
		}
		for end, want := range map[string]string{".pl": "prolog", ".c++": "cpp20", "/more": "cpp20", ".mjs": ""} {
			if strings.HasSuffix(s.Path, end) && s.Language != want {
				t.Errorf("%s is in %q, want %q", s.Path, s.Language, want)
			}
		}
	}
	for at, want := range map[string][]judge.Verdict{
		"submissions/mixed/a.py":          {judge.Accepted, judge.WrongAnswer, judge.PresentationError},
		"submissions/accepted/b.c":        {judge.Accepted},
		"submissions/check_manually/d.py": nil,
		"submissions/slow_accepted/s.py":  {judge.Accepted, judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit, judge.OutputLimit},
	} {
		if got, ok := allowed[at]; !ok || !slices.Equal(got, want) {
			t.Errorf("%s: allowed %q, want %q", at, got, want)
		}
	}
	if got := allowed["submissions/rejected/c.py"]; slices.Contains(got, judge.Accepted) || len(got) < 5 {
		t.Errorf("several tags: allowed %q", got)
	}
	if _, ok := allowed["submissions/accepted/note.txt"]; ok {
		t.Error("a text was taken for a submission")
	}
}

func TestSubmissionsYAML(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml":              "problem_format_version: 2025-09\nname: x\nlimits: {time_limit: 1}",
		"submissions/rejected/r.py": "", "submissions/brute_force/f.py": "",
		"submissions/submissions.yaml": "accepted/*:\n  authors: A\n  language: python3\n" +
			"'{rejected,brute_force}/*':\n  sample: {permitted: [AC]}\n  secret/0*: {required: [TLE], use_for_time_limit: upper}\n" +
			"wrong_answer:\n  permitted: [AC, WA, RTE]\n",
	})
	of := map[string]testcases.Labelled{}
	for _, s := range p.Submissions {
		of[s.Label] = s
	}
	if s := of["accepted"]; s.Language != "python3" || !slices.Equal(s.Expect[0].Permitted, []judge.Verdict{judge.Accepted}) {
		t.Errorf("accepted: %+v", s)
	}
	if s := of["wrong_answer"]; !slices.Contains(s.Expect[0].Permitted, judge.RuntimeError) || !slices.Contains(s.Expect[0].Required, judge.WrongAnswer) {
		t.Errorf("wrong_answer: %+v", s.Expect)
	}
	s := of["rejected"]
	i := slices.IndexFunc(s.Expect, func(e testcases.Expectation) bool { return e.Cases == "secret/0*" })
	if i < 0 || !s.Expect[i].Matches("secret/01") || s.Expect[i].Matches("secret/deep/01") || s.Expect[i].Matches("sample/1") ||
		s.Expect[i].Origin != "submissions/submissions.yaml:6" || s.Expect[1].Origin != "submissions/submissions.yaml:4" || s.Expect[i].Time != testcases.TimeUpper || !slices.Contains(s.Expect[i].Required, judge.TimeLimit) {
		t.Errorf("rejected: %+v", s.Expect)
	}
	if s := of["brute_force"]; s.Expect[0].Time != testcases.TimeUnused {
		t.Errorf("brute_force: %+v", s.Expect[0])
	}
}

// What is wrong is told with file and line, all at once.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add  map[string]string
		want []string
	}{
		"no answer":        {map[string]string{"data/secret/2.in": ""}, []string{"data/secret/2.in: has no answer"}},
		"no input":         {map[string]string{"data/secret/2.ans": ""}, []string{"data/secret/2.ans: is an answer without an input"}},
		"version":          {map[string]string{"problem.yaml": "name: x\nproblem_format_version: 1999"}, []string{"problem.yaml: line 2: problem_format_version"}},
		"no validator":     {map[string]string{"problem.yaml": "validation: custom"}, []string{"problem.yaml: validation is custom"}},
		"not interactive":  {map[string]string{"problem.yaml": "type: interactive"}, []string{"problem.yaml: an interactive"}},
		"flags":            {map[string]string{"problem.yaml": "validator_flags: float_tolerence 1"}, []string{"checker.args[0]"}},
		"flags of a group": {map[string]string{"data/secret/testdata.yaml": "output_validator_flags: float_tolerence 1"}, []string{`secret/01: has arguments ["float_tolerence" "1"] for the checker`}},
		"flags twice":      {map[string]string{"problem.yaml": "validator_flags: float_tolerance 1", "data/secret/testdata.yaml": "output_validator_flags: float_tolerance 2"}, []string{"secret/01: has arguments"}},
		"limit and key":    {map[string]string{"problem.yaml": "problem_format_version: 2025-09\nlimits: {memory: lots}\ncolour: red"}, []string{"problem.yaml: line 2: memory", "problem.yaml: line 3: unknown key"}},
		"not YAML":         {map[string]string{"problem.yaml": "name: [x"}, []string{"problem.yaml: is not YAML"}},
		"time limit":       {map[string]string{".timelimit": "soon"}, []string{".timelimit: must hold the time limit"}},
		"objective":        {map[string]string{"problem.yaml": "type: scoring\ngrading: {objective: most}"}, []string{"problem.yaml: line 2: objective must be min or max"}},
		"several talk":     {map[string]string{"problem.yaml": "validation: custom interactive", "output_validators/a.py": "", "output_validators/b.py": ""}, []string{"output_validators: holds 2 output validators, and an interactive"}},
		"grader":           {map[string]string{"problem.yaml": "type: scoring", "data/testdata.yaml": "grading: custom"}, []string{"graders: must hold the one grader"}},
		"score of a group": {map[string]string{"problem.yaml": "problem_format_version: 2025-09\ntype: scoring", "data/secret/test_group.yaml": "max_score: unbounded\nscore_aggregation: pass-fail"}, []string{"data/secret: has the aggregation pass-fail"}},
		"range":            {map[string]string{"problem.yaml": "type: scoring", "data/testdata.yaml": "range: 5 1"}, []string{"data/testdata.yaml: line 1: range begins above"}},
		"dependency":       {map[string]string{"problem.yaml": "problem_format_version: 2025-09\ntype: scoring", "data/secret/test_group.yaml": "require_pass: secret/z"}, []string{"secret: depends on"}},
		"expectation":      {map[string]string{"problem.yaml": "problem_format_version: 2025-09", "submissions/submissions.yaml": "accepted:\n  permitted: [OK]"}, []string{"submissions/submissions.yaml: line 2: permitted"}},
	} {
		got := faults(t, c.add)
		for _, want := range c.want {
			if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, want) }) {
				t.Errorf("%s: got faults %q, want one that begins with %q", name, got, want)
			}
		}
	}
}

// Links within the package are followed, others are refused.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir := write(t, nil)
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("01.in", "data/secret/02.in")
	link("../sample/1.ans", "data/secret/02.ans")
	link("../../outside.pdf", "problem.pdf")
	p, err := kattis.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := testcases.ReadAll(p.Cases()[2].Answer, 10); err != nil || string(b) != "3\n" {
		t.Errorf("the linked answer is %q, %v", b, err)
	}
	link("/etc/hostname", "data/secret/03.in")
	link("..", "data/secret/up")
	if _, err = kattis.Open(dir); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "leads out") || !strings.Contains(err.Error(), "circle") {
		t.Errorf("got %v", err)
	}
}

// The plain format's packages are its own.
func TestDetect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add  map[string]string
		want bool
	}{
		"legacy":            {nil, true},
		"only a time limit": {map[string]string{"problem.yaml": "name: x", ".timelimit": "1", "problem_statement/problem.en.tex": none}, true},
		"plain":             {map[string]string{"problem.yaml": "name: x", "problem_statement/problem.en.tex": none}, false},
		"plain's checker":   {map[string]string{"problem.yaml": "name: x\nchecker: lines"}, false},
		"plain's limits":    {map[string]string{"problem.yaml": "name: x\nlimits: {cpu: 1s}"}, false},
		"label":             {map[string]string{"problem.yaml": "name: x", "problem_statement/problem.en.tex": none, "submissions/time_limit_exceeded/a.py": ""}, true},
		"version":           {map[string]string{"problem.yaml": "problem_format_version: legacy", "problem_statement/problem.en.tex": none}, true},
	} {
		if got := kattis.Detect(write(t, c.add)); got != c.want {
			t.Errorf("%s: detected %v, want %v", name, got, c.want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, s := range []string{
		"name: x\nvalidation: custom interactive", "type: [scoring]\nlimits: {memory: 1}", "a: &a [*a]", "limits: *x", "constants: {a: {b: c}}",
		"problem_format_version: 2025-09\ntype: scoring\nname: {en: x}",
	} {
		f.Add(s, "on_reject: break\nrange: 0 1", "accepted: {permitted: [AC]}")
	}
	f.Fuzz(func(t *testing.T, problem, group, expect string) {
		dir := write(t, map[string]string{"problem.yaml": problem, "data/secret/testdata.yaml": group, "submissions/submissions.yaml": expect})
		kattis.Detect(dir)
		if _, err := kattis.Open(dir); err != nil && !judge.IsBadRequest(err) {
			t.Errorf("a fault of ours: %v", err)
		}
	})
}

// In a problem of type submit-answer the labelled submissions are answers, or programs
// that print them.
func TestSubmitAnswer(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml":                       "problem_format_version: 2025-09\nname: Sum\ntype: [pass-fail, submit-answer]\n",
		"submissions/accepted/all/1.out":     "3",
		"submissions/accepted/all/01.out":    "4",
		"submissions/accepted/answers.zip":   "PK",
		"submissions/wrong_answer/01.ans":    "5",
		"submissions/wrong_answer/b/main.py": "print(1)",
	})
	languages := map[string]string{}
	for _, s := range p.Submissions {
		languages[s.Path] = s.Language
	}
	want := map[string]string{
		"submissions/accepted/a.py": "", "submissions/accepted/all": "text", "submissions/accepted/answers.zip": "text",
		"submissions/wrong_answer/01.ans": "text", "submissions/wrong_answer/b": "", "submissions/wrong_answer/b.cpp": "cpp20",
	}
	if p.Kind != testcases.OutputOnly || !maps.Equal(languages, want) {
		t.Errorf("kind %s, submissions %v, want %v", p.Kind, languages, want)
	}
}
