package checker

import (
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// New makes the checker that spec names; no name is tokens. Only a custom
// checker needs deps. A name or argument that is not right gives a
// *judge.BadRequest.
func New(spec judge.CheckerSpec, deps Deps) (Checker, error) {
	choice, faults := testcases.ParseChecker(spec)
	if len(faults) > 0 {
		return nil, judge.Refuse(faults...)
	}
	if name, ok := strings.CutPrefix(choice.Name, "dmoj/"); ok {
		return newDMOJ(name, choice.Options)
	}
	switch choice.Name {
	case "tokens":
		return tokens{}, nil
	case "exact":
		return exact{}, nil
	case "lines":
		return lines{}, nil
	case "floats":
		return newFloats(choice.Options), nil
	case "kattis":
		return newKattis(spec.Args, choice.Options), nil
	case testcases.WhiteDiff:
		return whiteDiff{}, nil
	case testcases.CustomChecker:
		return newCustom(spec.Args, deps)
	default:
		return newTestlib(choice.Name), nil
	}
}
