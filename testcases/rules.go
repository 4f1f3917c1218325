package testcases

import (
	"fmt"
	"slices"

	"judgefarm/judge"
)

// maxRules bounds the checkers of a problem.
const maxRules = 1000

// Rule is a checker of a problem beside its own, see Problem.Rules.
type Rule struct {
	Checker judge.CheckerSpec
	Program *Program // of Checker.Name "custom"
}

// CheckerPrograms are the programs of all of the problem's checkers.
func (p *Problem) CheckerPrograms() []*Program {
	var all []*Program
	for _, own := range append([]Rule{{Program: p.CheckerProgram}}, p.Rules...) {
		if own.Program != nil {
			all = append(all, own.Program)
		}
	}
	return all
}

// RuleOf is the checker that rules on a case first: the problem's, or one of Rules.
func (p *Problem) RuleOf(c Case) Rule {
	if c.Rule > 0 && c.Rule <= len(p.Rules) {
		return p.Rules[c.Rule-1]
	}
	return Rule{p.Checker, p.CheckerProgram}
}

func (r Rule) validate(prefix string) []*judge.FieldError {
	choice, faults := ParseChecker(r.Checker)
	if choice.Name == CustomChecker && r.Program == nil {
		faults = append(faults, &judge.FieldError{Field: "checker.files", Reason: "must name the program of a custom checker"})
	}
	if r.Program != nil {
		faults = append(faults, r.Program.validate("checker.")...)
	}
	for _, f := range faults {
		f.Field = prefix + f.Field
	}
	return faults
}

// validateRules looks at all checkers.
func (p *Problem) validateRules() []*judge.FieldError {
	faults := Rule{p.Checker, p.CheckerProgram}.validate("")
	refuse := func(format string, args ...any) {
		faults = append(faults, &judge.FieldError{Field: "rules", Reason: fmt.Sprintf(format, args...)})
	}
	if len(p.Rules) > maxRules {
		refuse("must be at most %d, are %d", maxRules, len(p.Rules))
		return faults
	}
	for i, r := range p.Rules {
		faults = append(faults, r.validate(fmt.Sprintf("rules[%d].", i))...)
	}
	if p.EveryRule && (len(p.Rules) == 0 || p.Kind != Batch && p.Kind != OutputOnly || p.Passes > 1) {
		refuse("that all rule must be several, in a problem of one pass without an interactor")
	}
	return faults
}

// checkArgs says what is wrong with the arguments that a case has for a checker of ours.
func (p *Problem) checkArgs(c Case) string {
	own := p.RuleOf(c)
	if len(c.CheckerArgs) == 0 || own.Program != nil || p.Kind == Interactive || p.Kind == Communication {
		return "" // a program's own, the interactor's among them
	}
	spec := judge.CheckerSpec{Name: own.Checker.Name, Args: slices.Concat(own.Checker.Args, c.CheckerArgs)}
	if _, faults := ParseChecker(spec); len(faults) > 0 {
		return fmt.Sprintf("has arguments %.200q for the checker: %v", spec.Args, judge.Refuse(faults[0]))
	}
	return ""
}

// checkRule says what is wrong with what a case states of its checker and limits.
func (p *Problem) checkRule(c Case) string {
	stated := c.Limits
	stated.Wall, stated.Output = 0, 0
	own := p.RuleOf(c).Program
	looks := own != nil && own.Protocol == ProtocolKattisStatic
	switch {
	case c.Static != looks:
		return "must be static exactly where its checker looks at the submission"
	case c.Static && p.Kind == OutputOnly:
		return "must not be static where outputs are handed in"
	case c.Rule < 0 || c.Rule > len(p.Rules):
		return fmt.Sprintf("is ruled on by checker %d of %d", c.Rule, len(p.Rules))
	case c.Rule > 0 && p.EveryRule:
		return "must not have a checker of its own where all rule"
	case stated != judge.Limits{}:
		return "may have limits of its own for wall time and output alone"
	case c.Limits.Wall < 0 || c.Limits.Output < 0:
		return "must not have limits below 0"
	}
	return ""
}
