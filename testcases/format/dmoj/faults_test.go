package dmoj_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases/format/dmoj"
)

// What is wrong with a package, or not supported, is told by its name, with the file
// and the line.
func TestFaults(t *testing.T) {
	t.Parallel()
	grader := "from dmoj.graders.interactive import InteractiveGrader\nclass Grader(InteractiveGrader):\n    def interact(self, c, i): return True\n"
	for _, c := range []struct {
		add  map[string]string
		want string
	}{
		{map[string]string{"init.yml": none}, "init.yml: must be there"},
		{initYML(""), "init.yml: must say what the test cases are"},
		{initYML("test_cases: ["), "init.yml: is not YAML"},
		{initYML("checker: easy\ntest_cases: []\n"), "init.yml: has no test cases"},
		{initYML("checker: easy\n"), "line 1: test_cases must be a list where there is no archive"},
		{initYML("test_cases: 5\n"), "line 1: test_cases must be a list of cases, or the formats"},
		{initYML("test_cases:\n- {in: no.in}\n"), `line 2: file "no.in" is not in the package, which has no archive`},
		{initYML("test_cases:\n- {in: ../x}\n"), `line 2: file "../x" is not in the package`},
		{initYML("test_cases:\n- {in: /etc/passwd}\n"), `line 2: file "/etc/passwd" is not in the package`},
		{initYML("archive: no.zip\ntest_cases: [{in: x}, {in: y}]\n"), `line 1: archive "no.zip" is not in the package`},
		{initYML("archive: 1.in\n"), "1.in: is no zip archive"},
		{initYML("test_cases:\n- {points: -1}\n"), "line 2: points must not be less than 0"},
		{initYML("test_cases:\n- {points: many}\n"), "line 2: points must be a decimal number"},
		{initYML("test_cases++: |\n  node += [{}]\n"), `line 1: "test_cases++" is a dynamic key`},
		{initYML("test_cases:\n- batched: []\n"), "line 2: batched must be a list of cases"},
		{initYML("test_cases:\n- batched: [{batched: [{}]}]\n"), "line 2: batches must not be nested"},
		{initYML("test_cases:\n- batched: [{}]\n  dependencies: [1]\n"), "batch 1 depends on batch 1, which is none before it"},
		{initYML("test_cases:\n- batched: [{}]\n  dependencies: [0]\n"), "dependencies must be numbers of batches, from 1"},
		{initYML("test_cases:\n- {dependencies: [1]}\n"), "dependencies are those of a batch, not of a case"},
		{initYML("pretest_test_cases: [{batched: [{}]}]\ntest_cases:\n- batched: [{}]\n  dependencies: [1]\n"), "dependencies are not supported where pretest_test_cases has batches"},
		{initYML("test_cases:\n- batched: [{points: 0}, {}]\n"), "it would never give points"},
		{initYML("test_cases:\n- {checker: no}\n"), `line 2: checker "no" is not known`},
		{initYML("test_cases:\n- {output_limit_length: none}\n"), "line 2: output_limit_length must be a whole number"},
		{initYML("test_cases:\n- {wall_time_factor: 0.5}\n"), "line 2: wall_time_factor must be at least 1"},
		{initYML("test_cases:\n- {symlinks: {a: /dev/stdout}}\n"), "line 2: symlinks: one link to /dev/stdin is supported"},
		{initYML("test_cases:\n- {interactive: {files: check.cpp}}\n"), "line 2: interactive is supported for the whole problem"},
		{initYML("checker: no" + oneCase), `checker "no" is not known: DMOJ has standard`},
		{initYML("checker: no.py" + oneCase), `file "no.py" is not in the package`},
		{initYML("checker: check.cpp" + oneCase), `checker "check.cpp" must be a Python module`},
		{initYML("checker: {name: floats, args: {error_mode: x}}" + oneCase), `error_mode must be default, absolute or relative, is "x"`},
		{initYML("checker: {name: floats, args: {precision: 1.5}}" + oneCase), "precision must be a whole number from 0 to 300"},
		{initYML("checker: {name: sorted, args: {split_on: x}}" + oneCase), "split_on must be lines or whitespace"},
		{initYML("checker: {name: linematches, args: {point_distribution: [a]}}" + oneCase), "points must be whole numbers"},
		{initYML("checker: {name: bridged, args: {files: check.cpp, type: none}}" + oneCase), `type "none" is not known`},
		{initYML("checker: {name: bridged, args: {files: [check.py, gen.py]}}" + oneCase), "only programs in C and C++ may have several files"},
		{initYML("checker: {name: bridged, args: {files: check.cpp, args_format_string: '{who}'}}" + oneCase), "args_format_string knows {input_file}"},
		{initYML("checker: {name: bridged, args: {files: check.cpp, args_format_string: \"'\"}}" + oneCase), "args_format_string: "},
		{initYML("interactive: {files: []}" + oneCase), "must name the 1 to 100 files of a program"},
		{map[string]string{"init.yml": "custom_judge: g.py" + oneCase, "g.py": "class Grader(StandardGrader): pass\n"}, `custom_judge "g.py" is not supported: only a class Grader(InteractiveGrader)`},
		{map[string]string{"init.yml": "custom_judge: g.py" + oneCase, "g.py": grader + "    def check_result(self, c, r): return True\n"}, "it defines check_result"},
		{initYML("generator: gen.py\ntest_cases: [{in: 1.in, generator_args: [1]}]\n"), "generator_args must not be beside in"},
		{initYML("test_cases: [{generator_in: 1.in}]\n"), "generator_in needs a generator"},
		{initYML("generator: {flags: [-O2]}\ntest_cases: [{}]\n"), "must name the 1 to 100 files"},
		{initYML("wall_time_factor: 0.5" + oneCase), "wall_time_factor must be at least 1"},
		{initYML("unbuffered: maybe" + oneCase), `unbuffered must be true or false, is "maybe"`},
		{initYML("symlinks: {a: /dev/stdout}" + oneCase), "symlinks: one link to /dev/stdin is supported"},
		{initYML("symlinks: {../a: /dev/stdin}" + oneCase), "symlinks: one link to /dev/stdin is supported"},
		{initYML("file_io: {input: ../x}" + oneCase), "file_io: "},
		{initYML("time_limit: 0" + oneCase), "time_limit must be seconds"},
		{initYML("test_cases: [&a {<<: *a}]\n"), "mappings take in each other"},
		{map[string]string{"limits.csv": "sum,x,1\nsum,1\n"}, "limits.csv: line 1: time must be seconds"},
		{map[string]string{"limits.csv": "sum,1,1,x\n"}, "limits.csv: line 1: points must be a decimal number"},
		{map[string]string{"limits.csv": "sum,1,1\nsum,1,1\n"}, `line 2: problem "sum" must be there once`},
		{map[string]string{"limits.csv": "sum,1,1.5\n"}, "memory must be KiB, a whole number"},
		{map[string]string{"tests/a/test.yml": "language: C\n"}, "tests/a/test.yml: time must be stated"},
		{map[string]string{"tests/a/test.yml": "{language: C, time: 1, memory: 1024, source: a.c, expect: OK}"}, `expect must be of AC WA`},
		{map[string]string{"tests/a/test.yml": "{language: C, time: 1, memory: 1024, source: a.c}"}, `file "a.c" is not there`},
		{map[string]string{"tests/a/test.yml": "{language: C, time: 1, memory: 1024, source: a.c, cases: {x: AC}}", "tests/a/a.c": ""}, "cases must name cases by their numbers"},
	} {
		got := faults(t, c.add)
		if strings.HasPrefix(c.add["init.yml"], "archive:") && len(got) != 1 {
			t.Errorf("%q: got %q, want that told alone", c.add, got)
		}
		if !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%q:\ngot  %q\nwant %q", c.add, got, c.want)
		}
	}
}

// An archive from strangers is no larger than it says, and what it says is bounded.
func TestArchives(t *testing.T) {
	t.Parallel()
	conf := "archive: a.zip\ntest_cases: [{in: x.in}]\n"
	bomb := zipped(t, "x.in", strings.Repeat("0", 100<<20))
	broken := zipped(t, "x.in", strings.Repeat("text ", 100))
	for name, c := range map[string]struct{ archive, want string }{
		"bomb":     {bomb, "would unpack to too much"},
		"broken":   {strings.Replace(broken, broken[40:44], "\x00\x01\x02\x03", 1), "cannot be read"},
		"absent":   {zipped(t, "y.in", "1"), `neither in the package nor in its archive a.zip`},
		"a folder": {zipped(t, "x.in/", ""), `neither in the package nor in its archive a.zip`},
	} {
		got := faults(t, map[string]string{"init.yml": conf, "a.zip": c.archive})
		if !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// What is no package of DMOJ is not taken for one.
func TestDetect(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]map[string]string{
		"no init.yml":      {"init.yml": none},
		"another init.yml": initYML("services: [web]\n"),
		"a list":           initYML("- test_cases\n"),
		"no YAML":          initYML("test_cases: [\n"),
	} {
		if dmoj.Detect(write(t, add)) {
			t.Errorf("%s: was recognised", name)
		}
	}
	if !dmoj.Detect(write(t, initYML("test_cases++: x\n"))) {
		t.Error("a package with a dynamic key was not recognised: it is to be refused by name")
	}
}

// FuzzInit reads any init.yml: it is refused, or it is a problem that is whole. Nothing
// outside the package is read.
func FuzzInit(f *testing.F) {
	for _, text := range []string{
		base()["init.yml"],
		"archive: a.zip\ntest_cases: {input_format: '(?P<case>\\d+).in', output_format: '(?P<case>\\d+).out', case_points: [1]}\n",
		"checker: {name: bridged, args: {files: check.cpp, type: testlib}}\ntest_cases: [{batched: [{in: 1.in}], points: 3, dependencies: []}]\n",
		"a: &a {points: 2}\ngenerator: gen.py\ntest_cases: [{<<: *a}, {generator_args: [1]}]\n",
		"signature_grader: {entry: check.cpp, header: helper.h}\nsymlinks: {x: /dev/stdin}\ntest_cases: [{in: ../limits.csv}]\n",
		"interactive: {files: check.cpp}\nvalidator: {source: check.cpp}\npretest_test_cases: [{}]\ntest_cases: [{out: 1.out, binary_data: yes}]\n",
	} {
		f.Add([]byte(text), []byte("language: C\ntime: 1\nmemory: 64\nsource: a.c\ncases: [AC]\n"), []byte("sum,1,65536\n"))
	}
	archive := zipped(f, "1.in", "1", "1.out", "2", "x.in", "3\r\n")
	f.Fuzz(func(t *testing.T, conf, test, limits []byte) {
		dir := filepath.Join(t.TempDir(), "sum")
		for name, data := range map[string][]byte{
			"init.yml": conf, "1.in": []byte("1\n"), "1.out": []byte("2\n"), "check.cpp": nil, "helper.h": nil, "gen.py": nil,
			"a.zip": []byte(archive), "tests/a/test.yml": test, "tests/a/a.c": nil, "limits.csv": limits,
		} {
			at := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		dmoj.Detect(dir)
		p, err := dmoj.Open(dir)
		if err != nil {
			if !judge.IsBadRequest(err) {
				t.Fatalf("got %v, want a bad request", err)
			}
			return
		}
		if err := p.Validate(); err != nil || p.Digest == "" || len(p.Cases()) == 0 {
			t.Errorf("got a problem of %d cases, digest %q, %v", len(p.Cases()), p.Digest, err)
		}
	})
}
