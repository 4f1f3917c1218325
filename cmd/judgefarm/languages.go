package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/compile"
	"judgefarm/languages"
)

type languagesCmd struct {
	Show    languagesShowCmd    `cmd:"" default:"withargs" help:"Show the languages that this host really has (the default)."`
	Install languagesInstallCmd `cmd:"" help:"Install the packages that languages need, with apt and npm."`
	Build   languagesBuildCmd   `cmd:"" help:"Build a root of its own for a language from Debian packages, with a lock file."`
}

type languagesShowCmd struct {
	IDs      []string `arg:"" optional:"" name:"id" help:"Languages to show; all when none is named."`
	SelfTest bool     `help:"Also compile and run each definition's self-test; end with 1 when a language is missing or fails."`
	Strict   bool     `help:"Run the self-tests in strict mode, which not every runtime can be in; with --self-test."`
	JSON     bool     `help:"Print what was found as JSON." name:"json"`
	localFlags
}

// testsAtOnce is how many languages are asked or tested at one time.
const testsAtOnce = 2

// languageRow is one line of the table.
type languageRow struct {
	judge.LanguageInfo
	SelfTest string `json:"self_test,omitempty"` // ok, or what went wrong
}

// Run shows what is really there: it asks every compiler and interpreter, in a box.
func (c *languagesShowCmd) Run(env *daemon.Env) error {
	if c.Strict && !c.SelfTest {
		return daemon.Usage("--strict: is for self-tests, state --self-test too")
	}
	ctx, stop := env.Context()
	defer stop()
	l, err := c.openLocal(env, testsAtOnce, nil)
	if err != nil {
		return err
	}
	rows, err := c.rows(ctx, l)
	if err := errors.Join(err, l.Close()); err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(env.Stdout, rows)
	} else {
		err = printLanguages(env, rows)
	}
	if err != nil || !c.SelfTest {
		return err
	}
	for _, row := range rows {
		if row.SelfTest != "ok" {
			return daemon.ErrNotAccepted
		}
	}
	return nil
}

func (c *languagesShowCmd) rows(ctx context.Context, l *local) ([]languageRow, error) {
	chosen, err := chosenLanguages(l.languages, c.IDs)
	if err != nil {
		return nil, err
	}
	rows := make([]languageRow, len(chosen))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(testsAtOnce)
	for i, lang := range chosen {
		group.Go(func() (err error) {
			rows[i], err = c.row(ctx, l, lang)
			return err
		})
	}
	return rows, group.Wait()
}

func (c *languagesShowCmd) row(ctx context.Context, l *local, lang *languages.Language) (languageRow, error) {
	info, err := languageInfo(ctx, l.compiler, lang)
	row := languageRow{LanguageInfo: info}
	if err == nil && c.SelfTest {
		row.SelfTest, err = selfTest(ctx, l.compiler, lang, info, c.Strict)
	}
	return row, err
}

// chosenLanguages are those of the ids or aliases, all when there are none.
func chosenLanguages(set *languages.Set, ids []string) ([]*languages.Language, error) {
	if len(ids) == 0 {
		return set.All(), nil
	}
	var chosen []*languages.Language
	for _, id := range ids {
		lang, ok := set.Find(id)
		if !ok {
			return nil, daemon.Usage("no language is called %q; judgefarm languages lists them", id)
		}
		chosen = append(chosen, lang)
	}
	return chosen, nil
}

// languageInfo is what this host has of a language.
func languageInfo(ctx context.Context, c *compile.Compiler, lang *languages.Language) (judge.LanguageInfo, error) {
	info := judge.LanguageInfo{ID: lang.ID, Name: lang.Name, Aliases: lang.Aliases, Source: lang.Source}
	status, err := c.Status(ctx, lang)
	if err != nil {
		return info, fmt.Errorf("look for %s: %w", lang.ID, err)
	}
	info.Available = status.OK()
	if info.Available {
		info.Version, info.Toolchain = status.Ref.Version, status.Ref.Toolchain
		return info, nil
	}
	var lacks []string
	for _, m := range status.Missing {
		lacks = append(lacks, m.What+" ("+m.Fix+")")
	}
	if status.Broken != "" {
		lacks = append(lacks, status.Broken)
	}
	info.Missing = strings.Join(lacks, "; ")
	return info, nil
}

// languageInfos is languageInfo of every language, several at a time: each asks its
// compiler for the version, which for some is a second.
func languageInfos(ctx context.Context, l *local) ([]judge.LanguageInfo, error) {
	all := l.languages.All()
	infos := make([]judge.LanguageInfo, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(l.box.Slots(), 1))
	for i, lang := range all {
		group.Go(func() (err error) {
			infos[i], err = languageInfo(ctx, l.compiler, lang)
			return err
		})
	}
	return infos, group.Wait()
}

// selfTest returns "ok" or what went wrong. The error is a fault of ours.
func selfTest(ctx context.Context, c *compile.Compiler, lang *languages.Language, info judge.LanguageInfo, strict bool) (string, error) {
	if !info.Available {
		return "missing: " + info.Missing, nil
	}
	test := c.SelfTest
	if strict {
		test = c.StrictSelfTest
	}
	_, err := test(ctx, lang)
	var failed *judge.Failed
	switch {
	case err == nil:
		return "ok", nil
	case errors.As(err, &failed) && failed.Kind == judge.FailToolchain:
		return failed.Reason, nil
	}
	return "", err
}

func printLanguages(env *daemon.Env, rows []languageRow) error {
	lines := make([]string, len(rows))
	for i, row := range rows {
		state := row.Version
		if !row.Available {
			state = "missing: " + row.Missing
		}
		lines[i] = row.ID + "\t" + row.Name + "\t" + strings.Join(row.Aliases, " ") + "\t" + state
		if row.SelfTest != "" {
			lines[i] += "\t" + firstLine(row.SelfTest)
		}
	}
	header := "ID | NAME | ALIASES | VERSION"
	if len(rows) > 0 && rows[0].SelfTest != "" {
		header += " | SELF-TEST"
	}
	return printTable(env.Stdout, header, lines)
}
