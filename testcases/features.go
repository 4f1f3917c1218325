package testcases

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"judgefarm/judge"
)

// features is what only some problems have, in the form that goes into the digest:
// JSON, whose fields have a fixed order and whose maps are sorted. A problem that
// has none of it has none of this in its digest, so that what came later changes
// no digest of before. A field is never renamed or removed, and a new one is absent
// where it is zero.
type features struct {
	Kind        Kind                      `json:"kind,omitempty"`
	TimeFactors map[string]judge.Score    `json:"time_factors,omitempty"`
	Passes      int                       `json:"passes,omitempty"`
	InputFile   string                    `json:"input_file,omitempty"`
	OutputFile  string                    `json:"output_file,omitempty"`
	CodeSize    judge.Bytes               `json:"code_size,omitempty"`
	Compile     *judge.LimitsJSON         `json:"compile,omitempty"`
	Languages   []string                  `json:"languages,omitempty"`
	Include     map[string]includeFeature `json:"include,omitempty"`
	Checker     *programFeature           `json:"checker,omitempty"`
	Interactor  *programFeature           `json:"interactor,omitempty"`
	Processes   int                       `json:"processes,omitempty"`
	NamedPipes  bool                      `json:"named_pipes,omitempty"`
	Score       *aggregateFeature         `json:"score,omitempty"`
	Groups      []groupFeature            `json:"groups,omitempty"`
	Cases       map[string]caseFeature    `json:"cases,omitempty"`
	Unbuffered  bool                      `json:"unbuffered,omitempty"`
	Sealed      bool                      `json:"sealed,omitempty"`
	Rules       []ruleFeature             `json:"rules,omitempty"`
	EveryRule   bool                      `json:"every_rule,omitempty"`
}

type ruleFeature struct {
	Checker string          `json:"checker"`
	Args    []string        `json:"args,omitempty"`
	Program *programFeature `json:"program,omitempty"`
}

type includeFeature struct {
	Files  []fileFeature `json:"files"`
	Main   string        `json:"main,omitempty"`
	Source string        `json:"source,omitempty"`
	Define []string      `json:"define,omitempty"`
	Before string        `json:"before,omitempty"`
}

type fileFeature struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

type programFeature struct {
	Files      []fileFeature    `json:"files"`
	Language   string           `json:"language,omitempty"`
	Protocol   Protocol         `json:"protocol,omitempty"`
	Args       []string         `json:"args,omitempty"`
	Limits     judge.LimitsJSON `json:"limits"`
	Script     bool             `json:"script,omitempty"`
	Flags      []string         `json:"flags,omitempty"`
	Call       []string         `json:"call,omitempty"`
	OnError    bool             `json:"on_error,omitempty"`
	Unbuffered bool             `json:"unbuffered,omitempty"`
}

type aggregateFeature struct {
	Mode         ScoreMode       `json:"mode,omitempty"`
	Verdict      VerdictMode     `json:"verdict,omitempty"`
	Accept       *judge.Score    `json:"accept,omitempty"`
	Reject       *judge.Score    `json:"reject,omitempty"`
	Scale        *judge.Score    `json:"scale,omitempty"`
	Max          *judge.Score    `json:"max,omitempty"`
	Min          *judge.Score    `json:"min,omitempty"`
	Threshold    *judge.Score    `json:"threshold,omitempty"`
	AcceptAny    bool            `json:"accept_any,omitempty"`
	IgnoreSample bool            `json:"ignore_sample,omitempty"`
	Grader       *programFeature `json:"grader,omitempty"`
	GraderArgs   []string        `json:"grader_args,omitempty"`
}

type groupFeature struct {
	Name   string            `json:"name"`
	Sample bool              `json:"sample,omitempty"`
	Inside string            `json:"inside,omitempty"` // the group that it is part of
	Score  *aggregateFeature `json:"score,omitempty"`
	After  []string          `json:"after,omitempty"`
	Also   []string          `json:"also,omitempty"`
	Stop   bool              `json:"stop,omitempty"`
}

type caseFeature struct {
	Args        []string      `json:"args,omitempty"`
	Files       []fileFeature `json:"files,omitempty"`
	CheckerArgs []string      `json:"checker_args,omitempty"`
	Points      *judge.Score  `json:"points,omitempty"`
	Output      string        `json:"output,omitempty"`
	Handed      Handing       `json:"handed,omitempty"`
	Rule        int           `json:"rule,omitempty"`

	Limits *judge.LimitsJSON `json:"limits,omitempty"`
	Static bool              `json:"static,omitempty"`
}

type recipeFeature struct {
	Program *programFeature `json:"program"`
	Args    []string        `json:"args,omitempty"`
	Stdin   *recipeFeature  `json:"stdin,omitempty"`
	Output  string          `json:"output,omitempty"`
	Input   *string         `json:"input,omitempty"` // sha256
	Text    bool            `json:"text,omitempty"`
}

// features adds the problem's features to the digest, if it has any.
func (h canonical) features(p *Problem) error {
	f, err := featuresOf(p)
	if err != nil {
		return err
	}
	b, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("digest problem: %w", err)
	}
	if string(b) != "{}" {
		h.text(string(b))
	}
	return nil
}

func featuresOf(p *Problem) (*features, error) {
	f := &features{
		Kind: p.Kind, TimeFactors: p.TimeFactors, Passes: p.Passes, InputFile: p.InputFile, OutputFile: p.OutputFile,
		CodeSize: p.CodeSize, Languages: p.Languages, Interactor: featureOf(p.Interactor), Processes: p.Processes,
		NamedPipes: p.NamedPipes,
		Score:      p.Score.feature(), Unbuffered: p.Unbuffered, Sealed: p.Sealed, EveryRule: p.EveryRule,
	}
	for _, r := range p.Rules {
		choice, _ := ParseChecker(r.Checker)
		f.Rules = append(f.Rules, ruleFeature{choice.ID(), r.Checker.Args, featureOf(r.Program)})
	}
	if p.CompileLimits != (judge.Limits{}) {
		own := p.CompileLimits.JSON()
		f.Compile = &own
	}
	if c := p.CheckerProgram; c != nil && (c.Protocol != ProtocolKattis || len(c.Args)+len(c.Flags)+len(c.Call) > 0 || c.Script || c.OnError || c.Limits != judge.Limits{}) {
		f.Checker = featureOf(c) // a plain one's files and language are in the digest already
	}
	for lang, inc := range p.Include {
		if f.Include == nil {
			f.Include = map[string]includeFeature{}
		}
		f.Include[lang] = includeFeature{filesOf(inc.Files), inc.Main, inc.Source, inc.Define, inc.Before}
	}
	f.addGroups(p.Groups, "")
	var err error
	p.Walk(func(_ *Group, c *Case) {
		if cerr := f.addCase(c); err == nil {
			err = cerr
		}
	})
	return f, err
}

// addGroups adds those groups that are more than a name for their cases.
func (f *features) addGroups(groups []Group, inside string) {
	for _, g := range groups {
		sample := g.Sample && g.Name != "sample" // which it always is
		if sample || inside != "" || g.Score != nil || len(g.After)+len(g.Also) > 0 || g.Stop {
			f.Groups = append(f.Groups, groupFeature{
				Name: g.Name, Sample: sample, Inside: inside, Score: g.Score.feature(), After: g.After, Also: g.Also, Stop: g.Stop,
			})
		}
		f.addGroups(g.Groups, g.Name)
	}
}

func (f *features) addCase(c *Case) error {
	own := caseFeature{Args: c.Args, CheckerArgs: c.CheckerArgs, Points: c.Points, Output: c.Output, Handed: c.Handed, Rule: c.Rule, Static: c.Static}
	if c.Limits != (judge.Limits{}) {
		lim := c.Limits.JSON()
		own.Limits = &lim
	}
	for _, file := range c.Files {
		sum, err := sumOf(file.Data)
		if err != nil {
			return fmt.Errorf("digest file %s of case %s: %w", file.Name, c.Name, err)
		}
		own.Files = append(own.Files, fileFeature{file.Name, sum})
	}
	if len(own.Args)+len(own.Files)+len(own.CheckerArgs) == 0 && own.Points == nil && own.Output == "" && own.Handed == "" && own.Rule == 0 && own.Limits == nil {
		return nil
	}
	if f.Cases == nil {
		f.Cases = map[string]caseFeature{}
	}
	f.Cases[c.Name] = own
	return nil
}

func featureOf(p *Program) *programFeature {
	if p == nil {
		return nil
	}
	return &programFeature{filesOf(p.Files), p.Language, p.Protocol, p.Args, p.Limits.JSON(), p.Script, p.Flags, p.Call, p.OnError, p.Unbuffered}
}

func (a *Aggregate) feature() *aggregateFeature {
	if a == nil {
		return nil
	}
	return &aggregateFeature{
		a.Mode, a.Verdict, a.Accept, a.Reject, a.Scale, a.Max, a.Min, a.Threshold, a.AcceptAny, a.IgnoreSample, featureOf(a.Grader), a.GraderArgs,
	}
}

func (r *Recipe) feature() *recipeFeature {
	if r == nil {
		return nil
	}
	f := &recipeFeature{featureOf(r.Program), r.Args, r.Stdin.feature(), r.Output, nil, r.Text}
	if r.Input != nil {
		sum, err := sumOf(r.Input)
		if err != nil {
			sum = "unread" // who runs the recipe will be told
		}
		f.Input = &sum
	}
	return f
}

func filesOf(files []judge.File) []fileFeature {
	out := make([]fileFeature, len(files))
	for i, f := range files {
		sum := sha256.Sum256(f.Data)
		out[i] = fileFeature{f.Name, hex.EncodeToString(sum[:])}
	}
	return out
}

func sumOf(d Data) (string, error) {
	r, err := d.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", judge.Fail(judge.FailProblem, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
