package testcases

import (
	"strings"

	"judgefarm/judge"
)

// TestlibPrefix begins the names of testlib's standard checkers: testlib/wcmp is
// what packages of Polygon call std::wcmp.cpp.
const TestlibPrefix = "testlib/"

func testlibKinds() []CheckerKind {
	var kinds []CheckerKind
	for _, k := range []struct{ name, about string }{
		{"wcmp", "words are equal"},
		{"fcmp", "lines are equal"},
		{"lcmp", "lines are equal as words"},
		{"ncmp", "integers of 64 bits are equal"},
		{"uncmp", "the same integers of 64 bits, in any order"},
		{"icmp", "one integer of 32 bits is equal"},
		{"hcmp", "one integer of any length is equal"},
		{"acmp", "one number, within 1.5e-6 absolute"},
		{"rcmp", "one number, within 1.5e-6 absolute"},
		{"dcmp", "one number, within 1e-6 absolute or relative"},
		{"rncmp", "numbers, within 1.5e-5 absolute"},
		{"rcmp4", "numbers, within 1e-4 absolute or relative"},
		{"rcmp6", "numbers, within 1e-6 absolute or relative"},
		{"rcmp9", "numbers, within 1e-9 absolute or relative"},
		{"yesno", "one YES or NO, whose case does not count"},
		{"nyesno", "any number of YES and NO, whose case does not count"},
		{"caseicmp", `one integer after each "Case N:"`},
		{"casencmp", `integers after each "Case N:"`},
		{"casewcmp", `words after each "Case N:"`},
	} {
		kinds = append(kinds, CheckerKind{Name: TestlibPrefix + k.name, Version: 1, About: k.about})
	}
	return kinds
}

// StandardChecker is the checker that stands for one of testlib's, by the name of its
// source: "wcmp.cpp", "std::wcmp.cpp" or "wcmp".
func StandardChecker(name string) (judge.CheckerSpec, bool) {
	name = strings.TrimPrefix(strings.TrimSuffix(name, ".cpp"), "std::")
	for _, k := range testlibKinds() {
		if k.Name == TestlibPrefix+name {
			return judge.CheckerSpec{Name: k.Name}, true
		}
	}
	return judge.CheckerSpec{}, false
}

// ChecksNotes reports whether, in a problem that talks to an interactor, a checker
// rules on what that noted when it accepted the dialogue: the package's own, or one of
// testlib's.
func (p *Problem) ChecksNotes() bool {
	return p.CheckerProgram != nil || strings.HasPrefix(p.Checker.Name, TestlibPrefix)
}
