package kattis

import (
	"path"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"go.yaml.in/yaml/v3"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Files that configure a folder of test data: of 2025-09, and of what came before.
const (
	groupName  = "test_group.yaml"
	legacyName = "testdata.yaml"
)

// readData reads the cases, and the test data that is for the package's own
// programs.
func (r *reader) readData() {
	r.validatorArgs = map[string]map[string][]string{}
	r.p.Jury.ValidatorArgs = map[string][]string{}
	root := r.rootConfig()
	for _, name := range []string{"sample", "secret"} {
		if r.HasFolder(dataFolder + "/" + name) {
			g := r.group(name, root)
			if len(g.Cases)+len(g.Groups) > 0 {
				r.p.Groups = append(r.p.Groups, g)
			}
		}
	}
	if r.p.Score != nil {
		r.p.Score = r.rootScore(root)
	}
	switch {
	case len(r.p.Groups) == 0:
		r.Refuse(dataFolder+"/secret", "must hold at least one case: NAME.in with NAME.ans")
	case r.p.Groups[len(r.p.Groups)-1].Name != "secret":
		r.Note(dataFolder+"/secret", "has no cases: samples are all that there is")
	}
	r.juryData(root)
}

// group reads a folder below data/ that is a group.
func (r *reader) group(name string, above config) testcases.Group {
	own := r.config(dataFolder+"/"+name, above)
	g := testcases.Group{Name: name, Sample: name == "sample" || strings.HasPrefix(name, "sample/")}
	r.fill(&g, name, own)
	slices.SortStableFunc(g.Cases, func(a, b testcases.Case) int { return strings.Compare(a.Name, b.Name) })
	r.staticValidation(&g, own)
	if r.p.Score != nil {
		r.score(&g, own)
	}
	return g
}

// fill adds to a group what is in a folder: its own or, in 2025-09, one below that has no
// configuration, whose cases are the group's as any other.
func (r *reader) fill(g *testcases.Group, name string, own config) {
	folder := dataFolder + "/" + name
	if reason := testcases.CheckName(name); reason != "" {
		r.Refuse(folder, "bad name of a group: %s", reason)
	}
	files, folders := r.Children(folder)
	for _, f := range files {
		if stem, ok := strings.CutSuffix(f, ".in"); ok && nameRule.MatchString(f) {
			if c, ok := r.oneCase(folder+"/"+stem, own, g.Sample); ok {
				g.Cases = append(g.Cases, c)
			}
		} else if !nameRule.MatchString(f) {
			r.Note(folder+"/"+f, "is left out: the format does not allow this name")
		}
	}
	r.orphans(folder, files)
	for _, f := range folders {
		below := name + "/" + f
		switch {
		case strings.HasSuffix(f, ".files"):
		case !nameRule.MatchString(f):
			r.Note(folder+"/"+f, "is left out: the format does not allow this name")
		case r.version == v2025 && !r.Has(dataFolder+"/"+below+"/"+groupName) && !r.Has(dataFolder+"/"+below+"/"+legacyName):
			r.fill(g, below, own)
		default:
			if b := r.group(below, own); len(b.Cases)+len(b.Groups) > 0 {
				g.Groups = append(g.Groups, b)
			}
		}
	}
}

// orphans tells answers without inputs.
func (r *reader) orphans(folder string, files []string) {
	for _, f := range files {
		if stem, ok := strings.CutSuffix(f, ".ans"); ok && !slices.Contains(files, stem+".in") {
			r.Refuse(folder+"/"+f, "is an answer without an input: %s.in is missing", stem)
		}
	}
}

// oneCase reads the files of one case; at is its path without suffix.
func (r *reader) oneCase(at string, own config, sample bool) (testcases.Case, bool) {
	name := strings.TrimPrefix(at, dataFolder+"/")
	c := testcases.Case{Name: name, Sample: sample, Input: r.data(at + ".in"), CheckerArgs: own.outputArgs, Args: own.args}
	if reason := testcases.CheckName(name); reason != "" {
		r.Refuse(at+".in", "bad name of a case: %s", reason)
		return c, false
	}
	switch {
	case r.Has(at + ".ans"):
		c.Answer = r.data(at + ".ans")
	case r.p.Kind == testcases.Interactive || r.words["custom"]:
		r.Note(at+".in", "has no answer: the validator gets an empty one")
		c.Answer = testcases.BytesData(nil)
	default:
		r.Refuse(at+".in", "has no answer: %s.ans is missing", path.Base(at))
		return c, false
	}
	if r.Has(at + ".args") {
		if b, ok := r.read(at+".args", 64<<10); ok {
			args, err := shellquote.Split(string(b))
			if err != nil {
				r.Refuse(at+".args", "must hold arguments as a shell takes them: %v", err)
			}
			c.Args = args
		}
	}
	for _, f := range r.Below(at + ".files") {
		c.Files = append(c.Files, testcases.CaseFile{Name: strings.TrimPrefix(f, at+".files/"), Data: r.data(f)})
	}
	if r.Has(at + ".hint") {
		if b, ok := r.read(at+".hint", 64<<10); ok {
			c.Hint = strings.TrimSpace(string(b))
		}
	}
	input := own.inputArgs
	if r.version != legacy && r.Has(at+".yaml") {
		input = r.caseConfig(at+".yaml", &c, input)
	}
	r.inputArgs(input, c)
	return c, true
}

// caseConfig reads NAME.yaml.
func (r *reader) caseConfig(file string, c *testcases.Case, input validatorArgs) validatorArgs {
	d := r.yaml(file)
	d.Each(d.Root, "the file", func(key string, k, v *yaml.Node) {
		switch key {
		case "args":
			c.Args = d.List(v, key)
		case "output_validator_args":
			c.CheckerArgs = d.List(v, key)
		case "input_validator_args":
			input = inputValidatorArgs(d, v)
		case "hint":
			c.Hint = d.Text(v, key)
		case "full_feedback", "description", "input_visualizer_args", "output_visualizer_args":
		default:
			d.Refuse(k, "unknown key %.64q", key)
		}
	})
	return input
}

// withArgs are an input validator's arguments for a case: in 2025-09 its own come after
// them.
func (r *reader) withArgs(args []string, c testcases.Case) []string {
	if r.version == v2025 {
		return slices.Concat(args, c.Args)
	}
	return args
}

// inputArgs notes what the input validators get for a case.
func (r *reader) inputArgs(own validatorArgs, c testcases.Case) {
	if args := r.withArgs(own.all, c); len(args) > 0 {
		r.p.Jury.ValidatorArgs[c.Name] = args
	}
	for validator, args := range own.byName {
		if r.validatorArgs[validator] == nil {
			r.validatorArgs[validator] = map[string][]string{}
		}
		r.validatorArgs[validator][c.Name] = r.withArgs(args, c)
	}
}

// juryData reads what the package's own programs must accept or refuse.
func (r *reader) juryData(root config) {
	j := &r.p.Jury
	for folder, to := range map[string]*[]testcases.Sample{
		"invalid_input": &j.InvalidInputs, "invalid_inputs": &j.InvalidInputs, "bad": &j.InvalidInputs, // BAPCtools'
		"invalid_output": &j.InvalidOutput, "invalid_outputs": &j.InvalidOutput,
		"valid_output": &j.ValidOutputs, "valid_outputs": &j.ValidOutputs,
	} {
		r.samples(dataFolder+"/"+folder, root, to, to == &j.InvalidInputs)
	}
}

// samples reads a folder of inputs or outputs, and those below it.
func (r *reader) samples(folder string, above config, to *[]testcases.Sample, inputs bool) {
	files, folders := r.Children(folder)
	own := above
	if r.version != v2025 || r.Has(folder+"/"+groupName) || r.Has(folder+"/"+legacyName) {
		own = r.config(folder, above)
	}
	for _, f := range files {
		if stem, ok := strings.CutSuffix(f, ".in"); ok {
			*to = append(*to, r.sample(folder+"/"+stem, own, inputs))
		}
	}
	for _, f := range folders {
		if !strings.HasSuffix(f, ".files") {
			r.samples(folder+"/"+f, own, to, inputs)
		}
	}
}

// sample reads one of them, with what NAME.yaml says of it.
func (r *reader) sample(at string, own config, inputs bool) testcases.Sample {
	c := testcases.Case{CheckerArgs: own.outputArgs, Args: own.args}
	input := own.inputArgs
	if r.version != legacy && r.Has(at+".yaml") {
		input = r.caseConfig(at+".yaml", &c, input)
	}
	s := testcases.Sample{Name: strings.TrimPrefix(at, dataFolder+"/"), Input: r.data(at + ".in"), Args: c.CheckerArgs}
	if inputs {
		s.Args = r.withArgs(input.all, c)
	}
	for suffix, d := range map[string]*testcases.Data{".ans": &s.Answer, ".out": &s.Output} {
		if r.Has(at + suffix) {
			*d = r.data(at + suffix)
		}
	}
	if !inputs && (s.Output == nil || s.Answer == nil) {
		r.Refuse(at+".in", "needs %s.ans and %s.out beside it", path.Base(at), path.Base(at))
	}
	return s
}

// points is a whole number as a score of its own.
func points(n int64) *judge.Score {
	s := judge.ScoreOf(n)
	return &s
}
