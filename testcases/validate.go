package testcases

import (
	"fmt"
	"strings"

	"judgefarm/judge"
)

// maxNameLength bounds a case's name: it is a part of keys and documents.
const maxNameLength = 200

// Validate reports every fault of the problem as a *judge.BadRequest: no cases,
// names that are not unique or could not be part of a key, absent data, limits
// out of range, an unknown checker, a custom checker without its program.
func (p *Problem) Validate() error {
	faults := p.validateChecker()
	faults = append(faults, p.Limits.Complete().Validate("limits.")...)
	seen := map[string]bool{}
	for _, g := range p.Groups {
		if reason := CheckName(g.Name); reason != "" {
			faults = append(faults, &judge.FieldError{Field: g.Name, Reason: "group name " + reason})
		}
		for _, c := range g.Cases {
			refuse := func(format string, args ...any) {
				faults = append(faults, &judge.FieldError{Field: c.Name, Reason: fmt.Sprintf(format, args...)})
			}
			if reason := CheckName(c.Name); reason != "" {
				refuse("case name %s", reason)
			}
			if seen[c.Name] {
				refuse("case name is used twice")
			}
			seen[c.Name] = true
			if c.Input == nil {
				refuse("has no input")
			}
			if c.Answer == nil {
				refuse("has no answer")
			}
		}
	}
	if len(seen) == 0 {
		faults = append(faults, &judge.FieldError{Field: "data", Reason: "must hold at least one case"})
	}
	return judge.Refuse(faults...)
}

func (p *Problem) validateChecker() []*judge.FieldError {
	choice, faults := ParseChecker(p.Checker)
	switch {
	case choice.Name == CustomChecker && len(p.CheckerFiles) == 0:
		faults = append(faults, &judge.FieldError{Field: "checker.files", Reason: "must name the program of a custom checker"})
	case choice.Name == CustomChecker && p.CheckerLanguage == "":
		faults = append(faults, &judge.FieldError{Field: "checker.language", Reason: "must name the language of a custom checker"})
	}
	for _, f := range p.CheckerFiles {
		if err := judge.CheckFileName(f.Name); err != nil {
			faults = append(faults, &judge.FieldError{Field: "checker.files", Reason: err.Error()})
		}
	}
	return faults
}

// CheckName says what is wrong with the name of a case, group or problem: it is
// used in keys of the blob store, so its slash-separated parts are made of
// letters, digits and "._=-" and do not start with a dot. "" means nothing is.
func CheckName(name string) string {
	if name == "" || len(name) > maxNameLength {
		return fmt.Sprintf("must be 1 to %d bytes, is %d", maxNameLength, len(name))
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' {
			return "must have no part that is empty or starts with a dot"
		}
		for i := range len(part) {
			if !nameByte(part[i]) {
				return `must be made of letters, digits and "._=-"`
			}
		}
	}
	return ""
}

func nameByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("._=-", b) >= 0
}
