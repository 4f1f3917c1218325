package checker

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// testlib is one of the checkers that come with testlib, which packages of Polygon
// name as std::NAME.cpp. It rules as that program does: what it takes for white space
// and numbers, and what is a wrong format (PE) rather than a wrong answer. An answer
// that it cannot read is the problem's fault.
type testlib struct {
	name string
	find func(*pair)
}

// testlibRules maps names to what the checkers look at. All but fcmp and lcmp read
// tokens; whatever is left of an accepted output must be blank.
func testlibRules() map[string]func(*pair) {
	return map[string]func(*pair){
		"fcmp": func(p *pair) { p.eachLine(sameLine) },
		"lcmp": func(p *pair) { p.eachLine(sameWords) },
		"wcmp": eachWord,

		"icmp":  func(p *pair) { p.oneNumber((*side).small) },
		"hcmp":  hugeNumber,
		"ncmp":  eachNumber,
		"uncmp": unordered,

		"acmp": func(p *pair) { p.oneReal(within(1.5e-6)) },
		"rcmp": func(p *pair) { p.oneReal(within(1.5e-6)) },
		"dcmp": func(p *pair) { p.oneReal(near(1e-6)) },

		"rncmp": func(p *pair) { p.eachReal(within(1.5e-5)) },
		"rcmp4": func(p *pair) { p.eachReal(near(1e-4)) },
		"rcmp6": func(p *pair) { p.eachReal(near(1e-6)) },
		"rcmp9": func(p *pair) { p.eachReal(near(1e-9)) },

		"yesno":  yesno,
		"nyesno": manyYesno,

		"caseicmp": numberOfCases,
		"casencmp": func(p *pair) { p.eachCase((*side).numberOfCase) },
		"casewcmp": func(p *pair) { p.eachCase((*side).wordOfCase) },
	}
}

func newTestlib(name string) testlib {
	return testlib{name, testlibRules()[strings.TrimPrefix(name, testcases.TestlibPrefix)]}
}

func (t testlib) ID() string { return t.name + "@1" }

func (t testlib) Check(ctx context.Context, in Input) (Ruling, error) {
	diff, err := compare(ctx, in, t.difference, false)
	if err != nil {
		return Ruling{}, err
	}
	if diff == nil {
		return Ruling{Verdict: judge.Accepted}, nil
	}
	if diff.answer {
		return Ruling{}, &judge.Failed{Kind: judge.FailProblem,
			Reason: fmt.Sprintf("%s cannot read the answer of case %s: %s", t.name, in.Case, diff),
			Err:    fmt.Errorf("answer of case %s: %s", in.Case, diff.full())}
	}
	verdict := judge.WrongAnswer
	if diff.verdict != "" {
		verdict = diff.verdict
	}
	return ruling(diff, verdict, in.Reveal), nil
}

// difference runs the rule; a byte order mark before the output is none of it.
func (t testlib) difference(out, ans *stream) *difference {
	out.gap, ans.gap = &narrow, &narrow
	if mark := []byte("\xEF\xBB\xBF"); bytes.Equal(out.peek(len(mark)), mark) {
		out.consumed(len(mark))
	}
	p := &pair{}
	p.out, p.ans = &side{stream: out, pair: p}, &side{stream: ans, pair: p, answer: true}
	t.find(p)
	if p.found == nil && out.skip(&narrow) {
		p.found = differ(goesOn, out, out.peek(quoteMax+1), nil)
		p.found.verdict = judge.PresentationError
	}
	return p.found
}
