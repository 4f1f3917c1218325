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
