package testcases

import (
	"fmt"
	"slices"
	"strings"

	"judgefarm/judge"
)

// maxFaults bounds the faults of groups and cases that are told.
const maxFaults = 200

// maxNameLength bounds a case's name: it is a part of keys and documents.
const maxNameLength = 200

// Validate reports every fault of the problem as a *judge.BadRequest: no cases,
// names that are not unique or could not be part of a key, absent data, limits
// out of range, an unknown checker, a custom checker without its program.
func (p *Problem) Validate() error {
	faults := p.validateRules()
	faults = append(faults, p.Limits.Complete().Validate("limits.")...)
	faults = append(faults, p.validateKind()...)
	v := &treeCheck{p: p, seen: map[string]bool{}, groups: map[string]bool{}}
	v.groupList(p.Groups)
	if v.cases == 0 {
		v.refuse("data", "must hold at least one case")
	}
	if v.untold > 0 {
		v.faults = append(v.faults, &judge.FieldError{Reason: fmt.Sprintf("and %d faults more", v.untold)})
	}
	return judge.Refuse(append(faults, v.faults...)...)
}

// treeCheck looks at groups and cases.
type treeCheck struct {
	p            *Problem
	seen, groups map[string]bool // names of cases; of groups that came before
	cases        int
	faults       []*judge.FieldError
	untold       int // faults beyond maxFaults
}

func (v *treeCheck) refuse(field, format string, args ...any) {
	if len(v.faults) >= maxFaults {
		v.untold++
		return
	}
	v.faults = append(v.faults, &judge.FieldError{Field: field, Reason: fmt.Sprintf(format, args...)})
}

func (v *treeCheck) groupList(groups []Group) {
	for _, g := range groups {
		if reason := CheckName(g.Name); reason != "" {
			v.refuse(g.Name, "group name %s", reason)
		}
		if v.groups[g.Name] {
			v.refuse(g.Name, "group name is used twice")
		}
		for _, before := range g.After {
			if !v.groups[before] {
				v.refuse(g.Name, "depends on %.64q, which is no earlier group", before)
			}
		}
		for i, name := range g.Also {
			if !v.seen[name] || slices.Contains(g.Also[:i], name) {
				v.refuse(g.Name, "counts %.64q, which is no case of a group before or is there twice", name)
			}
		}
		if g.Score != nil && g.Score.Mode == ModeCustom && g.Score.Grader == nil {
			v.refuse(g.Name, "is graded by a program that the package does not have")
		}
		for _, c := range g.Cases {
			v.oneCase(c)
		}
		v.groupList(g.Groups)
		v.groups[g.Name] = true
	}
}

func (v *treeCheck) oneCase(c Case) {
	v.cases++
	if reason := CheckName(c.Name); reason != "" {
		v.refuse(c.Name, "case name %s", reason)
	}
	if v.seen[c.Name] {
		v.refuse(c.Name, "case name is used twice")
	}
	v.seen[c.Name] = true
	if c.Input == nil && c.InputFrom == nil {
		v.refuse(c.Name, "has no input")
	}
	if c.Answer == nil && c.AnswerFrom == nil {
		v.refuse(c.Name, "has no answer")
	}
	for r := range c.recipes() {
		if reason := r.check(); reason != "" {
			v.refuse(c.Name, "%s", reason)
		}
	}
	if reason := v.p.checkRule(c); reason != "" {
		v.refuse(c.Name, "%s", reason)
	}
	if reason := v.p.checkArgs(c); reason != "" {
		v.refuse(c.Name, "%s", reason)
	}
	if c.Handed != HandedNever && c.Output == "" {
		v.refuse(c.Name, "takes an output without a name for its file")
	}
	for _, f := range c.Files {
		if err := judge.CheckFileName(f.Name); err != nil {
			v.refuse(c.Name, "file %.64q: %v", f.Name, err)
		}
	}
}

// validateKind looks at what a kind needs and at names of files.
func (p *Problem) validateKind() []*judge.FieldError {
	var faults []*judge.FieldError
	refuse := func(field, format string, args ...any) {
		faults = append(faults, &judge.FieldError{Field: field, Reason: fmt.Sprintf(format, args...)})
	}
	talks := p.Kind == Interactive || p.Kind == Communication
	switch {
	case !talks && p.Kind != Batch && p.Kind != OutputOnly:
		refuse("kind", "is not known: %.64q", p.Kind)
	case talks && p.Interactor == nil:
		refuse("interactor", "must be a program of the package")
	case talks && (p.InputFile != "" || p.OutputFile != ""):
		refuse("input_file", "and output_file are not for problems that talk to the program")
	}
	if p.Kind == Communication {
		if p.Interactor != nil && p.Interactor.Protocol != ProtocolCMS {
			refuse("interactor.protocol", "must be %q for a manager, is %.64q", ProtocolCMS, p.Interactor.Protocol)
		}
		if p.NamedPipes && p.Limits.Ptrace {
			refuse("limits.ptrace", "is not for programs that open named pipes: they are not on the list of strict mode")
		}
	}
	if p.Interactor != nil {
		faults = append(faults, p.Interactor.validate("interactor.")...)
	}
	for field, name := range map[string]string{"input_file": p.InputFile, "output_file": p.OutputFile} {
		if err := judge.CheckFileName(name); name != "" && err != nil {
			refuse(field, "%v", err)
		}
	}
	if p.Passes < 0 || p.Passes > maxPasses {
		refuse("passes", "must be at most %d, is %d", maxPasses, p.Passes)
	}
	if p.Processes < 0 || p.Processes > MaxProcesses {
		refuse("processes", "must be at most %d, is %d", MaxProcesses, p.Processes)
	}
	for lang, inc := range p.Include {
		for _, f := range inc.Files {
			if err := judge.CheckFileName(f.Name); err != nil {
				refuse("include/"+lang, "%v", err)
			}
		}
	}
	for lang, factor := range p.TimeFactors {
		if factor.Sign() <= 0 {
			refuse("time_factors."+lang, "must be greater than 0, is %v", factor)
		}
	}
	return faults
}

// Bounds of what one case may cost.
const (
	maxPasses    = 1000
	MaxProcesses = 16
)

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
