package kattis_test

import (
	"slices"
	"strings"
	"testing"

	"judgefarm/languages"
	"judgefarm/testcases"
)

// What languages allows, and what include/ is for, is told by ids of languages that there
// are, and their sources are taken for submissions.
func TestLanguageCodes(t *testing.T) {
	t.Parallel()
	set, err := languages.Load(languages.Config{})
	if err != nil {
		t.Fatal(err)
	}
	suffixes := map[string]string{
		"ada": ".adb", "bash": ".sh", "c": ".c", "cobol": ".cob", "cpp": ".cc", "csharp": ".cs", "d": ".d", "elixir": ".ex", "erlang": ".erl",
		"fortran": ".f90", "go": ".go", "haskell": ".hs", "java": ".java", "javascript": ".js", "kotlin": ".kt", "lisp": ".lisp", "lua": ".lua",
		"nim": ".nim", "objectivec": ".m", "ocaml": ".ml", "pascal": ".pas", "perl": ".pm", "php": ".php", "prolog": ".pl", "python3": ".py",
		"racket": ".rkt", "ruby": ".rb", "rust": ".rs", "scala": ".scala", "typescript": ".ts",
	}
	for code, suffix := range suffixes {
		p := open(t, map[string]string{
			"problem.yaml":                      "problem_format_version: 2025-09\nname: x\nlanguages: [" + code + "]\n",
			"submissions/accepted/z" + suffix:   "text",
			"include/" + code + "/lib" + suffix: "",
		})
		for _, id := range p.Languages {
			if l, ok := set.Find(id); !ok || l.ID != id {
				t.Errorf("%s is %q, which is no id of a language", code, id)
			}
			if len(p.Include[id].Files) != 1 {
				t.Errorf("%s: nothing is included", id)
			}
		}
		if i := slices.IndexFunc(p.Submissions, func(s testcases.Labelled) bool { return strings.HasSuffix(s.Path, "/z"+suffix) }); i < 0 {
			t.Errorf("%s is not taken for a submission", suffix)
		}
	}
}
