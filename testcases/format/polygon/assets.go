package polygon

import (
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// readInteractor reads the interactor, which makes the problem an interactive one.
func (r *reader) readInteractor() {
	n := r.root.at("assets", "interactor")
	if n == nil {
		return
	}
	r.p.Kind = testcases.Interactive
	if s := n.at("source"); s != nil {
		r.p.Interactor = r.program(s, testcases.ProtocolTestlib, true)
		return
	}
	r.refuse(n, "<interactor> needs a <source>")
}

// readChecker finds what rules on outputs: the package's program or, without its
// source or testlib.h, the checker of ours that stands for a standard one.
func (r *reader) readChecker() {
	n := r.root.at("assets", "checker")
	if n == nil {
		r.refuse(r.root, "needs a <checker> in its <assets>")
		return
	}
	if kind := n.attr("type"); kind != "testlib" && kind != "" {
		r.refuse(n, "checkers of the type %.64q are not supported: testlib is", kind)
		return
	}
	s := n.at("source")
	own := s != nil && r.Has(s.attr("path"))
	spec, standard := testcases.StandardChecker(n.attr("name"))
	if !strings.HasPrefix(n.attr("name"), "std::") {
		standard = false
	}
	percent := r.flag(r.root.at("judging"), "treat-points-from-checker-as-percent")
	if standard && (!own || !r.hasTestlib()) {
		r.p.Checker = spec
		r.samples(n)
		return
	}
	if !own {
		if strings.HasPrefix(n.attr("name"), "std::") {
			r.refuse(n, "checker %.64q is not in the package, and none of the standard ones that are known here: %s", n.attr("name"), standardNames())
		} else {
			r.refuse(n, "<checker> needs a <source> that is in the package")
		}
		return
	}
	protocol := testcases.ProtocolTestlib
	if percent {
		protocol = testcases.ProtocolTestlibPercent
	}
	r.p.Checker = judge.CheckerSpec{Name: testcases.CustomChecker}
	r.p.CheckerProgram = r.program(s, protocol, true)
	r.tellCheckerGroups()
	r.samples(n)
}

// hasTestlib reports whether programs that include testlib.h can be compiled.
func (r *reader) hasTestlib() bool {
	for _, h := range r.headers {
		if h.Name == testlibName {
			return true
		}
	}
	return r.opt.Testlib != ""
}

func standardNames() string {
	var names []string
	for _, k := range testcases.CheckerKinds() {
		if name, ok := strings.CutPrefix(k.Name, testcases.TestlibPrefix); ok {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// tellCheckerGroups hands the checker the group of each case, where it asks for it.
func (r *reader) tellCheckerGroups() {
	if r.p.Interactor != nil {
		return // the arguments of a case are the interactor's
	}
	r.p.Walk(func(_ *testcases.Group, c *testcases.Case) { c.CheckerArgs = r.groupArgs(r.p.CheckerProgram, c.Name) })
}

// samples reads the tests of a checker: outputs that it must accept or refuse.
func (r *reader) samples(n *node) {
	set := n.at("testset")
	tests := set.at("tests").all("test")
	if len(tests) == 0 {
		return
	}
	inputs, outputs, answers := r.pattern(set, "input-path-pattern"), r.pattern(set, "output-path-pattern"), r.pattern(set, "answer-path-pattern")
	for i, t := range tests {
		in, out, ans := inputs.of(i+1), outputs.of(i+1), answers.of(i+1)
		if !r.Has(in) || !r.Has(out) || !r.Has(ans) {
			r.note(t, "test %d of the checker has no files %s, %s and %s", i+1, in, out, ans)
			continue
		}
		s := testcases.Sample{Name: label(in), Input: r.data(in), Output: r.data(out), Answer: r.data(ans)}
		switch v := strings.ToLower(t.attr("verdict")); v {
		case "ok":
			r.p.Jury.ValidOutputs = append(r.p.Jury.ValidOutputs, s)
		case "wrong-answer", "presentation-error":
			r.p.Jury.InvalidOutput = append(r.p.Jury.InvalidOutput, s)
		default:
			r.note(t, "verdict %.64q of a test of the checker is not examined", v)
		}
	}
}

// readValidators reads the validators of inputs, and inputs that they must refuse.
func (r *reader) readValidators() {
	for _, n := range r.root.at("assets", "validators").all("validator") {
		s := n.at("source")
		if s == nil {
			r.note(n, "<validator> has no <source>")
			continue
		}
		p := r.program(s, testcases.ProtocolTestlib, false)
		if p == nil {
			continue
		}
		v := testcases.Validator{Program: *p, Args: map[string][]string{}}
		r.p.Walk(func(_ *testcases.Group, c *testcases.Case) {
			if args := r.groupArgs(p, c.Name); args != nil {
				v.Args[c.Name] = args
			}
		})
		r.p.Jury.Validators = append(r.p.Jury.Validators, v)
		r.invalid(n)
	}
}

func (r *reader) invalid(n *node) {
	set := n.at("testset")
	tests := set.at("tests").all("test")
	if len(tests) == 0 {
		return
	}
	inputs := r.pattern(set, "input-path-pattern")
	for i, t := range tests {
		name := inputs.of(i + 1)
		if strings.EqualFold(t.attr("verdict"), "invalid") && r.Has(name) {
			r.p.Jury.InvalidInputs = append(r.p.Jury.InvalidInputs, testcases.Sample{Name: label(name), Input: r.data(name)})
		}
	}
}
