package checker

import (
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
	switch choice.Name {
	case "tokens":
		return tokens{}, nil
	case "exact":
		return exact{}, nil
	case "lines":
		return lines{}, nil
	case "floats":
		return newFloats(choice.Options), nil
	default:
		return newCustom(spec.Args, deps)
	}
}
