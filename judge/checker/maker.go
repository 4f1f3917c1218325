package checker

import (
	"context"
	"fmt"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// Maker makes the checkers of problems; its For is what the engine asks. All
// fields but Dir are required.
type Maker struct {
	Runner    sandbox.Runner
	Compiler  Compiler
	Languages Languages
	Dir       string // see Deps.Dir
}

// Languages is what a Maker needs of languages.Set.
type Languages interface {
	Find(idOrAlias string) (*languages.Language, bool)
	ForFile(name string) (*languages.Language, bool)
}

// LanguageOf is the language of a problem's own program: as stated, else told by its
// files' names, the main one's first. A *judge.BadRequest says that there is none.
func LanguageOf(set Languages, p *testcases.Program) (*languages.Language, error) {
	if p.Script {
		return languages.Script(), nil
	}
	if p.Language != "" {
		if lang, ok := set.Find(p.Language); ok {
			return lang, nil
		}
		return nil, judge.Refuse(&judge.FieldError{Field: "checker.language",
			Reason: fmt.Sprintf("no language is called %.64q", p.Language)})
	}
	for _, f := range p.Files {
		if lang, ok := set.ForFile(f.Name); ok {
			return lang, nil
		}
	}
	return nil, judge.Refuse(&judge.FieldError{Field: "checker.language",
		Reason: fmt.Sprintf("no language is told by the files of %.64q", p.Name)})
}

// For makes the checker that spec names for a problem, whose own program custom
// stands for. What is wrong with the spec is a *judge.BadRequest; a toolchain of
// the program that is not there is a *judge.Failed.
func (m Maker) For(ctx context.Context, p *testcases.Problem, spec judge.CheckerSpec) (Checker, error) {
	deps := Deps{Runner: m.Runner, Compiler: m.Compiler, Dir: m.Dir, Program: p.CheckerProgram}
	if own := p.CheckerProgram; own != nil {
		lang, err := LanguageOf(m.Languages, own)
		if err != nil {
			return nil, err
		}
		deps.Language = lang
	}
	c, err := New(spec, deps)
	if err != nil {
		return nil, err
	}
	if own, ok := c.(*custom); ok {
		if err := own.inspect(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}
