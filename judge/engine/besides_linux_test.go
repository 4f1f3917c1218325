package engine_test

import (
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// What a problem includes lies beside a program that is run from its source, whether
// something looks at that source first or not, and data also beside one that is compiled.
func TestIncludedFilesAreFound(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	for name, c := range map[string]struct{ language, file, source, header string }{
		"python": {"python3", "main.py", "print(open('data.txt').read(), len(open('main.py').read()) > 9)", "part.py"},
		"perl":   {"perl", "main.pl", `open(F, "<", "data.txt"); print <F>, " ", (-e "main.pl") ? "True" : "False";`, "part.pl"},
		"c": {"c", "main.c", "#include <stdio.h>\n#include <unistd.h>\nint main() { int n; return fscanf(fopen(\"data.txt\", \"r\"), \"%d\", &n) == 1 && " +
			"printf(\"%d %s\", n, access(\"main.c\", F_OK) && access(\"part.c\", F_OK) ? \"True\" : \"False\") < 0; }", "part.c"},
	} {
		p := &testcases.Problem{
			Include: map[string]testcases.Include{"": {Files: []judge.File{{Name: "data.txt", Data: []byte("7")}, {Name: c.header, Data: []byte("\n")}}}},
			Groups:  []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "", "7 True")}}},
		}
		if err := p.Seal(); err != nil {
			t.Fatal(err)
		}
		j := judgeFor(t, e, judge.Submission{ID: "s", Language: c.language, Files: []judge.File{{Name: c.file, Data: []byte(c.source)}}}, p)
		if *j.Verdict != judge.Accepted {
			t.Errorf("%s: got %+v", name, j)
		}
	}
}

// Files of a submission that lie in the way of those of the problem are not there: no
// names that somebody sends make a box that cannot be filled, which is our failure.
func TestFilesInTheWay(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	for _, name := range []string{"data/1.txt/x", "data", "in.txt/x", "in.txt", "out.txt/x"} {
		one := caseOf("secret/1", "3", "9")
		one.Files = []testcases.CaseFile{{Name: "data/1.txt", Data: testcases.BytesData([]byte("2"))}}
		p := &testcases.Problem{InputFile: "in.txt", OutputFile: "out.txt", Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{one}}}}
		if err := p.Seal(); err != nil {
			t.Fatal(err)
		}
		for _, p.Sealed = range []bool{false, true} {
			sub := source("python3", "main.py", "print(int(open('in.txt').read()) ** int(open('data/1.txt').read()), file=open('out.txt', 'w'))", name, "7")
			if j := judgeFor(t, e, sub, p); *j.Verdict != judge.Accepted {
				t.Errorf("%s, sealed %v: got %+v", name, p.Sealed, j.Cases)
			}
		}
	}
}
