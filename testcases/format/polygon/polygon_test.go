package polygon_test

import (
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
	"judgefarm/testcases/format/polygon"
)

func open(t *testing.T, dir string, opt polygon.Options) *testcases.Problem {
	t.Helper()
	p, err := polygon.Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lay writes a package: names to texts.
func lay(t testing.TB, files map[string]string) string {
	t.Helper()
	return manifesttest.Write(t, "package", files)
}

func TestSum(t *testing.T) {
	t.Parallel()
	p := open(t, "testdata/sum", polygon.Options{})
	if p.ID != "sum" || p.Name != "Sum" || p.Format != "polygon" || p.Checker.Name != "testlib/ncmp" || p.CheckerProgram != nil ||
		p.Limits.CPU != 2*time.Second || p.Limits.Memory != 256*judge.MiB || !p.Jury.Time.Stated || !p.Pending() || p.Score == nil {
		t.Errorf("got %+v", p)
	}
	var names []string
	p.Walk(func(_ *testcases.Group, c *testcases.Case) { names = append(names, c.Name) })
	if want := []string{"0/01", "0/07", "small/02", "small/03", "large/04", "large/05", "large/06"}; !slices.Equal(names, want) {
		t.Errorf("got cases %v, want %v", names, want)
	}
	zero, small, large := p.Groups[0], p.Groups[1], p.Groups[2]
	if zero.Score.Mode != testcases.ModeAll || zero.Score.Scale.Sign() != 0 || zero.After != nil || !zero.Cases[0].Sample || zero.Cases[1].Sample {
		t.Errorf("group 0: got %+v", zero)
	}
	if small.Score.Mode != testcases.ModeSum || small.Cases[0].Points.String() != "12.5" || !slices.Equal(small.After, []string{"0"}) {
		t.Errorf("group small: got %+v", small)
	}
	if large.Score.Mode != testcases.ModeAll || large.Score.Scale.String() != "75" || !slices.Equal(large.After, []string{"small"}) {
		t.Errorf("group large: got %+v", large)
	}
	made := small.Cases[1].InputFrom
	if made.Program.Name != "files/negate.py" || made.Stdin.Program.Name != "files/gen.cpp" || !slices.Equal(made.Stdin.Args, []string{"4", "100"}) ||
		len(made.Stdin.Program.Files) != 2 || made.Stdin.Program.Language != "cpp17" {
		t.Errorf("a pipe: got %+v", made)
	}
	if a, b := large.Cases[0].InputFrom, large.Cases[1].InputFrom; a.Program != b.Program || a.Output != "a" || b.Output != "b" || !slices.Equal(a.Args, []string{"3", "5 5"}) {
		t.Errorf("a generator of files: got %+v and %+v", a, b)
	}
	if b, err := testcases.ReadAll(zero.Cases[0].Input, 100); err != nil || string(b) != "2\n1 2\n" {
		t.Errorf("line ends of Windows: got %q, %v", b, err)
	}
	if len(p.Jury.Validators) != 1 || len(p.Jury.Unused) != 0 || len(p.Jury.Notes) != 2 {
		t.Errorf("got %d validators, unused %v, notes %v", len(p.Jury.Validators), p.Jury.Unused, p.Jury.Notes)
	}
}

func TestSolutions(t *testing.T) {
	t.Parallel()
	p := open(t, "testdata/sum", polygon.Options{})
	if len(p.Submissions) != 7 {
		t.Fatalf("got %d solutions, want 7: one is not to be run", len(p.Submissions))
	}
	for i, want := range []struct {
		language string
		allowed  []judge.Verdict
	}{
		{"cpp17", []judge.Verdict{judge.Accepted}}, {"python3", []judge.Verdict{judge.Accepted}}, {"python3", []judge.Verdict{judge.WrongAnswer}},
		{"python3", []judge.Verdict{judge.PresentationError}}, {"python3", []judge.Verdict{judge.RuntimeError, judge.SecurityViolation}},
		{"cpp20", []judge.Verdict{judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit, judge.OutputLimit}},
	} {
		if s := p.Submissions[i]; s.Language != want.language || !slices.Equal(s.Allowed, want.allowed) {
			t.Errorf("%s: got %s, %v, want %s, %v", s.Path, s.Language, s.Allowed, want.language, want.allowed)
		}
	}
	e := p.Submissions[2].Expect
	if len(e) != 3 || e[1].Cases != "0" || !slices.Equal(e[1].Permitted, []judge.Verdict{judge.Accepted}) || e[1].Required != nil ||
		e[2].Cases != "small" || !slices.Equal(e[2].Required, []judge.Verdict{judge.WrongAnswer}) || !e[2].Matches("small/02") || e[2].Matches("large/04") {
		t.Errorf("extra tags: got %+v", e)
	}
	if rejected := p.Submissions[6]; slices.Contains(rejected.Allowed, judge.Accepted) || !slices.Contains(rejected.Allowed, judge.CompileError) {
		t.Errorf("rejected: got %v", rejected.Allowed)
	}
}

func TestCopies(t *testing.T) {
	t.Parallel()
	p := open(t, "testdata/copies", polygon.Options{})
	if p.InputFile != "copies.in" || p.OutputFile != "copies.out" || p.CheckerProgram.Protocol != testcases.ProtocolTestlibPercent || len(p.Groups) != 1 {
		t.Errorf("got %+v", p)
	}
	if inc := p.Include["cpp20"]; len(p.Include) != 3 || len(inc.Files) != 1 || inc.Files[0].Name != "copy.h" {
		t.Errorf("got included files %v", p.Include)
	}
	if c := p.Groups[0].Cases[1]; c.Name != "tests/02" || len(c.Files) != 1 || c.Files[0].Name != "words.txt" || c.AnswerFrom.Output != "copies.out" || c.Points.String() != "30" {
		t.Errorf("got case %+v", c)
	}
	if len(p.Jury.ValidOutputs) != 1 || len(p.Jury.InvalidOutput) != 1 {
		t.Errorf("got %d and %d tests of the checker", len(p.Jury.ValidOutputs), len(p.Jury.InvalidOutput))
	}
}

// small is a package that is right; the tests change one thing of it.
const small = `<?xml version="1.0" encoding="utf-8"?>
<problem short-name="small">
<judging input-file="" output-file="">
<testset name="tests">
<time-limit>1000</time-limit>
<memory-limit>1048576</memory-limit>
<test-count>2</test-count>
<input-path-pattern>tests/%02d</input-path-pattern>
<answer-path-pattern>tests/%02d.a</answer-path-pattern>
<tests>
<test method="manual"/>
<test method="generated" cmd="gen 1"/>
</tests>
</testset>
</judging>
<files><executables><executable><source path="files/gen.cpp" type="cpp.g++17"/></executable></executables></files>
<assets>
<checker name="std::wcmp.cpp" type="testlib"/>
<solutions><solution tag="main"><source path="solutions/main.cpp" type="cpp.g++17"/></solution></solutions>
</assets>
</problem>
`

func smallFiles(xml string) map[string]string {
	return map[string]string{
		"problem.xml": xml, "tests/01": "1\n", "tests/01.a": "1\n", "files/gen.cpp": "int main() {}\n", "solutions/main.cpp": "int main() {}\n",
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old, new string
		want     string
	}{
		"no XML":              {"</problem>", "</problme>", "problem.xml: line 21: is not XML: element <problem> closed by </problme>"},
		"another root":        {"<problem ", "<!-- <problem > --><contest ", "is not XML"},
		"encoding":            {`encoding="utf-8"`, `encoding="windows-1251"`, "windows-1251"},
		"run twice":           {`<judging `, `<judging run-count="2" `, `line 3: run-count "2" is not supported`},
		"run twice by tag":    {`</problem>`, `<tags><tag value="run-twice"/></tags></problem>`, "line 21: the tag run-twice is not supported"},
		"scorer":              {`<assets>`, `<assets><scorer/>`, "line 17: a <scorer> is not supported"},
		"no testset":          {`<testset name="tests">`, `<testset name="a"/><testset name="b">`, "needs <judging> with a <testset> named tests"},
		"time limit":          {"<time-limit>1000", "<time-limit>1s", `line 5: <time-limit> must be a whole number`},
		"no memory limit":     {"<memory-limit>1048576</memory-limit>", "", "line 4: <testset> needs a <memory-limit>"},
		"count":               {"<test-count>2", "<test-count>3", "test-count is 3, and <tests> has 2"},
		"pattern":             {"tests/%02d</input", "tests/input</input", "line 4: <testset> needs a <input-path-pattern>"},
		"pattern of two":      {"tests/%02d</input", "tests/%s%02d</input", "needs a <input-path-pattern>"},
		"method":              {`method="manual"`, `method="guessed"`, `line 11: method "guessed" of a test is not known`},
		"points":              {`method="manual"`, `method="manual" points="many"`, "line 11: points must be a decimal number"},
		"negative points":     {`method="manual"`, `method="manual" points="-1"`, "points must not be negative"},
		"sample":              {`method="manual"`, `method="manual" sample="yes"`, "sample must be true or false"},
		"generator":           {`cmd="gen 1"`, `cmd="make 1"`, `line 12: test 2 is made by "make", which is none of the <executables>`},
		"no command":          {`cmd="gen 1"`, ``, "line 12: test 2 is generated, but has neither a cmd nor the file tests/02"},
		"bad quotes":          {`cmd="gen 1"`, `cmd="gen 'x"`, "is no command"},
		"empty pipe":          {`cmd="gen 1"`, `cmd="gen | "`, "is no command"},
		"missing input":       {`<test method="generated" cmd="gen 1"/>`, `<test method="manual"/>`, "tests/02: is missing: test 2 is no generated one"},
		"no main":             {`tag="main"`, `tag="accepted"`, "has no answer tests/02.a, and the package no solution with the tag main"},
		"no checker":          {`<checker name="std::wcmp.cpp" type="testlib"/>`, "", "needs a <checker> in its <assets>"},
		"checker type":        {`type="testlib"`, `type="delphi"`, `line 18: checkers of the type "delphi" are not supported`},
		"own checker":         {"std::wcmp.cpp", "mine.cpp", "<checker> needs a <source> that is in the package"},
		"unknown checker":     {"std::wcmp.cpp", "std::xcmp.cpp", `"std::xcmp.cpp" is not in the package, and none of the standard ones that are known here: wcmp, fcmp`},
		"interactor":          {"<assets>", "<assets><interactor/>", "<interactor> needs a <source>"},
		"interactor missing":  {"<assets>", `<assets><interactor><source path="x.cpp" type="cpp.g++"/></interactor>`, "names x.cpp, which is not there"},
		"group without name":  {"</tests>", "</tests><groups><group/></groups>", "a <group> needs a name of its own"},
		"policy":              {"</tests>", `</tests><groups><group name="" points="1"/></groups>`, "needs a name of its own"},
		"unknown dependency":  {"</tests>", `</tests><groups><group name="g"><dependencies><dependency group="h"/></dependencies></group></groups>`, `depends on group "h", which is not there`},
		"percent of nonsense": {"<judging ", `<judging treat-points-from-checker-as-percent="some" `, "treat-points-from-checker-as-percent must be true or false"},
	} {
		xml := strings.Replace(small, c.old, c.new, 1)
		if name == "unknown dependency" {
			xml = strings.Replace(xml, `method="manual"`, `method="manual" group="g"`, 1)
		}
		if xml == small {
			t.Fatalf("%s: %q is not in the package", name, c.old)
		}
		_, err := polygon.Open(lay(t, smallFiles(xml)), polygon.Options{})
		if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if p := open(t, lay(t, smallFiles(small)), polygon.Options{}); !p.Pending() {
		t.Error("the package without faults is not pending")
	}
}

// What a command is made of.
func TestCommands(t *testing.T) {
	t.Parallel()
	for cmd, want := range map[string]struct {
		args   []string
		output string
		piped  bool
	}{
		`gen`:                       {nil, "", false},
		`gen.exe  -n  5`:            {[]string{"-n", "5"}, "", false},
		`gen 'a | b' &quot;>&quot;`: {[]string{"a | b", ">"}, "", false},
		`gen 1|gen 2`:               {[]string{"2"}, "", true},
		`gen 1 &gt; 2`:              {[]string{"1"}, "", false},
		`gen 1 &gt; {1-2}`:          {[]string{"1"}, "2", false},
	} {
		p := open(t, lay(t, smallFiles(strings.Replace(small, `gen 1`, cmd, 1))), polygon.Options{})
		r := p.Groups[0].Cases[1].InputFrom
		if !slices.Equal(r.Args, want.args) || r.Output != want.output || (r.Stdin != nil) != want.piped || r.Program.Name != "files/gen.cpp" {
			t.Errorf("%s: got %+v, want %+v", cmd, r, want)
		}
	}
}

func TestGroupFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ groups, want string }{
		"circle": {`<group name="a" points="1" points-policy="complete-group"><dependencies><dependency group="b"/></dependencies></group>
			<group name="b" points="1" points-policy="complete-group"><dependencies><dependency group="a"/></dependencies></group>`, "depends on itself"},
		"policy":        {`<group name="a" points="1" points-policy="best"/><group name="b"/>`, `points-policy "best" is not known`},
		"no own points": {`<group name="a" points="1" points-policy="each-test"/><group name="b"/>`, "has points for each test, and its tests state none"},
		"twice":         {`<group name="a"/><group name="a"/><group name="b"/>`, "needs a name of its own"},
	} {
		xml := strings.Replace(small, "</tests>", "</tests><groups>"+c.groups+"</groups>", 1)
		xml = strings.Replace(strings.Replace(xml, `"manual"`, `"manual" group="a"`, 1), `"generated"`, `"generated" group="b"`, 1)
		_, err := polygon.Open(lay(t, smallFiles(xml)), polygon.Options{})
		if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// Programs that include testlib.h find the package's, else the one that is configured.
func TestTestlib(t *testing.T) {
	t.Parallel()
	files := smallFiles(small)
	files["files/gen.cpp"] = "#include <cstdio>\r\n#include \"testlib.h\"\r\nint main() {}\n"
	_, err := polygon.Open(lay(t, files), polygon.Options{})
	if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "files/gen.cpp: includes testlib.h, which is not in the package") ||
		!strings.Contains(err.Error(), "--testlib") || !strings.Contains(err.Error(), "JUDGEFARM_TESTLIB") {
		t.Errorf("without testlib.h: got %v", err)
	}
	header := func(p *testcases.Problem) string {
		for _, f := range p.Groups[0].Cases[1].InputFrom.Program.Files {
			if f.Name == "testlib.h" {
				return string(f.Data)
			}
		}
		return ""
	}
	configured := filepath.Join(lay(t, map[string]string{"testlib.h": "// configured"}), "testlib.h")
	if got := header(open(t, lay(t, files), polygon.Options{Testlib: configured})); got != "// configured" {
		t.Errorf("configured: got %q", got)
	}
	files["files/testlib.h"] = "// own"
	if got := header(open(t, lay(t, files), polygon.Options{Testlib: configured})); got != "// own" {
		t.Errorf("both: got %q", got)
	}
	delete(files, "files/testlib.h")
	if _, err := polygon.Open(lay(t, files), polygon.Options{Testlib: configured + ".gone"}); err == nil || judge.IsBadRequest(err) {
		t.Errorf("a configured file that is not there: got %v", err)
	}
	files = smallFiles(strings.Replace(small, `type="testlib"/>`, `type="testlib"><source path="check.cpp" type="cpp.g++17"/></checker>`, 1))
	files["check.cpp"] = `#include "testlib.h"`
	if p := open(t, lay(t, files), polygon.Options{}); p.Checker.Name != "testlib/wcmp" {
		t.Errorf("a standard checker without testlib.h: got %+v", p.Checker)
	}
	if p := open(t, lay(t, files), polygon.Options{Testlib: configured}); p.Checker.Name != "custom" || len(p.CheckerProgram.Files) != 2 {
		t.Errorf("a standard checker with testlib.h: got %+v", p.Checker)
	}
}

// What a checker and a validator ask testlib for they are told.
func TestGroupsAreTold(t *testing.T) {
	t.Parallel()
	xml := strings.Replace(small, `name="std::wcmp.cpp" type="testlib"/>`,
		`type="testlib"><source path="check.cpp"/></checker><validators><validator><source path="check.cpp"/></validator></validators>`, 1)
	xml = strings.Replace(xml, `"manual"`, `"manual" group="g 1"`, 1)
	files := smallFiles(xml)
	files["check.cpp"] = "int main() { checker.group(); }"
	p := open(t, lay(t, files), polygon.Options{})
	if c := p.Groups[0].Cases[0]; c.Name != "g_201/01" || !slices.Equal(c.CheckerArgs, []string{"--testset", "tests", "--group", "g 1"}) {
		t.Errorf("got %+v", c)
	}
	if got := p.Jury.Validators[0].Args["tests/02"]; !slices.Equal(got, []string{"--testset", "tests"}) {
		t.Errorf("got %v", got)
	}
	files["check.cpp"] = "int main() {}"
	if p := open(t, lay(t, files), polygon.Options{}); p.Groups[0].Cases[0].CheckerArgs != nil || len(p.Jury.Validators[0].Args) != 0 {
		t.Errorf("told what nobody asked for: %+v", p.Groups[0].Cases[0])
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"a package":   {map[string]string{"problem.xml": small}, true},
		"a mark":      {map[string]string{"problem.xml": "\ufeff<problem\n/>"}, true},
		"a contest":   {map[string]string{"problem.xml": "<contest><problems/></contest>"}, false},
		"nothing":     {map[string]string{"problem.yaml": "name: x"}, false},
		"another XML": {map[string]string{"build.xml": small}, false},
	} {
		if got := polygon.Detect(lay(t, c.files)); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

// Any text is read or refused, and what is read is a problem.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"sum", "guess", "copies"} {
		b, err := os.ReadFile(filepath.Join("testdata", name, "problem.xml"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add(small)
	f.Fuzz(func(t *testing.T, xml string) {
		p, err := polygon.Open(lay(t, smallFiles(xml)), polygon.Options{})
		if err != nil && !judge.IsBadRequest(err) {
			t.Fatalf("got %v, want a bad request", err)
		}
		if err == nil && (p.Digest == "" || len(p.Cases()) == 0) {
			t.Errorf("got a problem without digest or cases")
		}
	})
}

// A few bytes of XML are an element, which takes a hundred times that.
func TestManyElements(t *testing.T) {
	t.Parallel()
	dir := lay(t, map[string]string{"problem.xml": "<problem>" + strings.Repeat("<a b=''/>", 300_000) + "</problem>"})
	_, err := polygon.Open(dir, polygon.Options{})
	if got := manifesttest.Faults(t, err); len(got) == 0 || !strings.Contains(got[0], "has more than 500000 elements and attributes") {
		t.Errorf("got %q", got)
	}
}

// A resource for all languages is for those too that have one of their own.
func TestResourcesForAll(t *testing.T) {
	t.Parallel()
	const resource = `<file path="files/%s" %s><stages><stage name="COMPILE"/></stages><assets><asset name="SOLUTION"/></assets></file>`
	files := smallFiles(strings.Replace(small, "<files>", "<files><resources>"+
		fmt.Sprintf(resource, "a.h", `for-types="cpp.*"`)+fmt.Sprintf(resource, "all.txt", "")+"</resources>", 1))
	files["files/a.h"], files["files/all.txt"] = "", ""
	p := open(t, lay(t, files), polygon.Options{})
	for id, want := range map[string]string{"cpp17": "a.h all.txt", "": "all.txt"} {
		var names []string
		for _, f := range p.Include[id].Files {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q gets %s, want %s", id, got, want)
		}
	}
}
