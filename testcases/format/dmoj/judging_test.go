package dmoj_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format/dmoj"
)

const oneCase = "\ntest_cases: [{in: 1.in, out: 1.out}]\n"

func TestNamedCheckers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"checker: easy":                       "dmoj/easy",
		"checker: {name: standard, args: {}}": "dmoj/standard",
		"checker: {name: floats}":             "dmoj/floats",
		"checker: {name: floats, args: {precision: 3, error_mode: absolute}}":                            "dmoj/floatsabs precision=3",
		"checker: {name: floats, args: {error_mode: relative}}":                                          "dmoj/floatsrel",
		"checker: {name: floatsabs, args: {precision: 9}}":                                               "dmoj/floatsabs precision=9",
		"checker: {name: identical, args: {pe_allowed: false}}":                                          "dmoj/identical no_pe",
		"checker: {name: identical, args: {pe_allowed: yes}}":                                            "dmoj/identical",
		"checker: {name: linecount, args: {feedback: False}}":                                            "dmoj/linecount no_feedback",
		"checker: {name: linematches, args: {point_distribution: [1, 2], filler_lines_required: false}}": "dmoj/linematches filler_lines_optional points=1,2",
		"checker: {name: rstripped, args: {filter_new_line: true}}":                                      "dmoj/rstripped filter_new_line",
		"checker: {name: sorted, args: {split_on: whitespace}}":                                          "dmoj/unordered",
		"checker: {name: sorted}":                                                                        "dmoj/sorted",
		"checker: unordered":                                                                             "dmoj/unordered",
	} {
		p := open(t, initYML(text+oneCase))
		if got := strings.Join(append([]string{p.Checker.Name}, p.Checker.Args...), " "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// A case has its own checker, else its batch's, else the file's. The same one is there
// once, whatever refers to it.
func TestCheckersOfCases(t *testing.T) {
	t.Parallel()
	p := open(t, initYML(`checker: easy
own: &own {name: check.py, args: {a: 1}}
test_cases:
- {in: 1.in, out: 1.out}
- {in: 1.in, out: 1.out, checker: *own}
- batched: [{in: 1.in}, {in: 1.in, checker: null}, {in: 1.in, checker: *own}]
  checker: {name: floats, args: {precision: 3}}
- {in: 1.in, out: 1.out, checker: standard}
`))
	names := map[int]string{0: p.Checker.Name}
	for i, r := range p.Rules {
		names[i+1] = strings.Join(append([]string{r.Checker.Name}, r.Checker.Args...), " ")
	}
	var got []string
	for _, c := range p.Cases() {
		got = append(got, names[c.Rule])
		if told := len(c.CheckerArgs) > 0; told != (p.RuleOf(c).Program != nil) {
			t.Errorf("case %s: told of itself %v", c.Name, told)
		}
	}
	const module = `custom {"a":1}`
	if want := []string{"dmoj/easy", module, "dmoj/floats precision=3", "dmoj/standard", module, "dmoj/standard"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(p.Rules) != 3 || p.Rules[0].Program.Files[0].Name != "check.py" {
		t.Errorf("got %+v", p.Rules)
	}
	if p = open(t, initYML("interactive: {files: check.cpp}\ntest_cases: [{in: 1.in, checker: easy}]")); p.Rules != nil || p.Cases()[0].Rule != 0 {
		t.Errorf("an interactor rules: got %+v", p.Rules)
	}
}

// So it is with limits of wall time and output, and with the name of the input.
func TestSettingsOfCases(t *testing.T) {
	t.Parallel()
	p := open(t, initYML(`output_limit_length: 100
symlinks: {all.txt: /dev/stdin}
test_cases:
- {in: 1.in, out: 1.out}
- {in: 1.in, out: 1.out, output_limit_length: 7, wall_time_factor: 4, symlinks: {own.txt: /dev/stdin}}
- batched: [{in: 1.in}, {in: 1.in, wall_time_factor: 2, symlinks: {}}]
  output_limit_length: 50
`))
	want := []judge.Limits{{}, {Wall: 6 * time.Second, Output: 7}, {Output: 50}, {Wall: 3 * time.Second, Output: 50}}
	links := []string{"all.txt", "own.txt", "all.txt", ""}
	for i, c := range p.Cases() {
		link := ""
		if len(c.Files) > 0 {
			link = c.Files[0].Name
		}
		if c.Limits != want[i] || link != links[i] {
			t.Errorf("case %s: got limits %+v and link %q, want %+v and %q", c.Name, c.Limits, link, want[i], links[i])
		}
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	bridged := open(t, initYML("checker:\n  name: bridged\n  args: {files: [helper.h, check.cpp], lang: CPP17, type: coci, flags: [-DX], time_limit: 5, memory_limit: 1024}"+oneCase))
	c := bridged.CheckerProgram
	if bridged.Checker.Name != "custom" || c.Protocol != testcases.ProtocolCOCI || c.Language != "cpp17" || c.Files[0].Name != "check.cpp" || len(c.Files) != 2 ||
		!slices.Equal(c.Flags, []string{"-DX"}) || c.Limits.CPU != 5*time.Second || c.Limits.Memory != judge.MiB {
		t.Errorf("bridged: got %+v", c)
	}
	own := open(t, initYML("checker:\n  name: bridged\n  args: {files: check.cpp, args_format_string: '\"two words\" {answer_file}'}"+oneCase)).CheckerProgram
	if own.Protocol != testcases.ProtocolExit || !slices.Equal(own.Call, []string{"two words", "{answer_file}"}) || own.Language != "cpp20" {
		t.Errorf("own command line: got %+v", own)
	}
	module := open(t, map[string]string{
		"init.yml": "checker: {name: check.py, args: {a: 1, b: [x, 2.5], c: yes, d: {e: null}}}" + oneCase,
		"check.py": "def check(a, b, **k): return True\ncheck.run_on_error = True\n",
	})
	if m := module.CheckerProgram; m.Protocol != testcases.ProtocolDMOJ || m.Language != "python3" || !m.OnError ||
		module.Checker.Args[0] != `{"a":1,"b":["x",2.5],"c":"yes","d":{"e":null}}` {
		t.Errorf("module: got %+v, %q", m, module.Checker.Args)
	}
	if got := module.Cases()[0].CheckerArgs[0]; got != `{"batch":0,"binary_data":false,"case_position":0,"point_value":1}` {
		t.Errorf("what a module knows of a case: got %s", got)
	}
	talk := open(t, initYML("unbuffered: true\ninteractive: {files: check.cpp, type: testlib, preprocessing_time: 3}"+oneCase))
	if i := talk.Interactor; talk.Kind != testcases.Interactive || !talk.Unbuffered || i.Protocol != testcases.ProtocolTestlib || !i.Unbuffered || i.Limits.CPU != 4500*time.Millisecond {
		t.Errorf("interactive: got %+v", i)
	}
	grader := open(t, map[string]string{
		"init.yml": "custom_judge: talk.py" + oneCase,
		"talk.py":  "from dmoj.graders.interactive import InteractiveGrader\nclass Grader(InteractiveGrader):\n    def interact(self, case, interactor):\n        return True\n",
	})
	if i := grader.Interactor; grader.Kind != testcases.Interactive || i.Protocol != testcases.ProtocolDMOJ || grader.Cases()[0].CheckerArgs == nil {
		t.Errorf("custom_judge: got %+v", i)
	}
}

func TestSignature(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"init.yml": "signature_grader: {entry: entry.c, header: lib.h}" + oneCase,
		"entry.c":  "#include \"lib.h\"\nint main() { return f(); }\n", "lib.h": "int f(void);\n",
	})
	c, cpp := p.Include["c"], p.Include["cpp20"]
	if len(c.Files) != 2 || c.Files[0].Name != "lib.h" || c.Files[1].Name != "signature_grader.c" || cpp.Files[1].Name != "signature_grader.cpp" {
		t.Errorf("got files %+v, %+v", c.Files, cpp.Files)
	}
	for _, want := range []string{"#define SIGNATURE_GRADER 1\n", "#include \"lib.h\"\n", "#define main main_"} {
		if !strings.Contains(c.Before, want) {
			t.Errorf("got %q before submissions, want %q in it", c.Before, want)
		}
	}
	if !slices.Equal(p.Languages, []string{"c", "cpp17", "cpp20", "cpp23"}) {
		t.Errorf("got languages %q", p.Languages)
	}
	open := open(t, map[string]string{
		"init.yml": "signature_grader: {entry: entry.c, header: lib.h, allow_main: yes}" + oneCase, "entry.c": "", "lib.h": "",
	})
	if strings.Contains(open.Include["c"].Before, "define main") {
		t.Errorf("allow_main: got %q", open.Include["c"].Before)
	}
}

func TestGenerators(t *testing.T) {
	t.Parallel()
	p := open(t, initYML("generator: {source: gen.py, args: [9], time_limit: 3}\ntest_cases:\n- {}\n- {generator_args: [1, x]}\n- {generator_in: 1.in}\n- {in: 1.in}\n- {in: 1.in, out: 1.out}\n- {out: 1.out, binary_data: on}\n"))
	type made struct{ in, out bool }
	want := []made{{true, true}, {true, true}, {true, true}, {false, true}, {false, false}, {true, false}}
	args := [][]string{{"9"}, {"1", "x"}, {"9"}, {"9"}, nil, {"9"}}
	for i, c := range p.Cases() {
		if got := (made{c.InputFrom != nil, c.AnswerFrom != nil}); got != want[i] {
			t.Errorf("%s: got %+v, want %+v", c.Name, got, want[i])
		}
		for _, r := range []*testcases.Recipe{c.InputFrom, c.AnswerFrom} {
			if r != nil && (!slices.Equal(r.Args, args[i]) || r.Program != p.Cases()[0].InputFrom.Program) {
				t.Errorf("%s: got arguments %q of %p, want %q", c.Name, r.Args, r.Program, args[i])
			}
		}
		if c.AnswerFrom != nil && (c.AnswerFrom.Output != testcases.Stderr || !c.AnswerFrom.Text) {
			t.Errorf("%s: got an answer of %+v", c.Name, c.AnswerFrom)
		}
	}
	if got := read(t, p.Cases()[2].InputFrom.Input); got != "1 2\n" {
		t.Errorf("generator_in: got %q", got)
	}
	if l := p.Cases()[0].InputFrom.Program.Limits; l.CPU != 3*time.Second || l.Memory != 512*judge.MiB {
		t.Errorf("limits: got %+v", l)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	p := open(t, initYML("wall-time-factor: 5\noutput_limit_length: 1000\ntime_limit: 2\nmemory_limit: 1024\nsymlinks: {in_link: /dev/stdin}\nhints: [nobigmath]\n"+
		"file_io: {input: sum.inp, output: sum.out}\nvalidator: {source: check.cpp, language: CPP17, type: testlib}"+oneCase))
	want := judge.Limits{CPU: 2 * time.Second, Wall: 10 * time.Second, Memory: judge.MiB, Output: 1000}
	if p.Limits != want || p.InputFile != "sum.inp" || p.OutputFile != "sum.out" {
		t.Errorf("got %+v, %q, %q", p.Limits, p.InputFile, p.OutputFile)
	}
	if f := p.Cases()[0].Files; len(f) != 1 || f[0].Name != "in_link" || read(t, f[0].Data) != "1 2\n" {
		t.Errorf("symlinks: got %+v", f)
	}
	if n := p.Jury.Notes; len(n) != 1 || !strings.Contains(n[0].Text, `"nobigmath"`) {
		t.Errorf("got notes %+v", n)
	}
	if v := p.Jury.Validators; len(v) != 1 || !slices.Equal(v[0].Args["cases1/1"], []string{"--group", "st0"}) {
		t.Errorf("got validators %+v", v)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	no := map[string]string{"limits.csv": none}
	if p := open(t, no); p.Limits.CPU != 0 || p.Limits.Memory != 0 || !strings.Contains(p.Jury.Time.Elsewhere, "--limits") {
		t.Errorf("no limits: got %+v, %q", p.Limits, p.Jury.Time.Elsewhere)
	}
	beside := map[string]string{"limits.csv": none, "../limits.csv": "# of all\nproblem, time, memory, points\nother,1,2048\nsum, 3 , 4096, 30\n"}
	p := open(t, beside)
	if p.Limits.CPU != 3*time.Second || p.Limits.Memory != 4*judge.MiB || p.Score.Scale.Cmp(judge.ScoreOf(2)) != 0 {
		t.Errorf("beside: got %+v, %+v", p.Limits, p.Score)
	}
	named := write(t, map[string]string{"own.csv": "\ufeff\"sum\",\"0.5\",\"1\"\n"})
	p, err := dmoj.Options{Limits: named + "/own.csv"}.Open(named)
	if err != nil || p.Limits.CPU != 500*time.Millisecond || p.Limits.Memory != 4*judge.KiB {
		t.Errorf("named: got %+v, %v", p, err)
	}
	if p, err := (dmoj.Options{Limits: named + "/own.csv", Code: "other"}).Open(named); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "no line for the problem other") {
		t.Errorf("another code: got %+v, %v", p, err)
	}
	if _, err := (dmoj.Options{Limits: named + "/none.csv"}).Open(named); err == nil || judge.IsBadRequest(err) {
		t.Errorf("no such file: got %v", err)
	}
	if p := open(t, map[string]string{"limits.csv": "whatever,2,1024\n"}); p.Limits.CPU != 2*time.Second {
		t.Errorf("the package's own: got %+v", p.Limits)
	}
}
