package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/compile"
	"judgefarm/languages"
)

type languagesCmd struct {
	IDs      []string `arg:"" optional:"" name:"id" help:"Languages to show; all when none is named."`
	SelfTest bool     `help:"Also compile and run each definition's self-test; end with 1 when a language is missing or fails."`
	JSON     bool     `help:"Print what was found as JSON." name:"json"`
	localFlags
}

// languageRow is one line of the table.
type languageRow struct {
	judge.LanguageInfo
	SelfTest string `json:"self_test,omitempty"` // ok, or what went wrong
}

// Run shows what is really there: it asks every compiler and interpreter, in a box.
func (c *languagesCmd) Run(env *daemon.Env) error {
	ctx, stop := env.Context()
	defer stop()
	l, err := c.openLocal(env, 1, nil)
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

func (c *languagesCmd) rows(ctx context.Context, l *local) ([]languageRow, error) {
	chosen, err := c.chosen(l.languages)
	if err != nil {
		return nil, err
	}
	var rows []languageRow
	for _, lang := range chosen {
		info, err := languageInfo(ctx, l.compiler, lang)
		if err != nil {
			return nil, err
		}
		row := languageRow{LanguageInfo: info}
		if c.SelfTest {
			if row.SelfTest, err = selfTest(ctx, l.compiler, lang, info); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (c *languagesCmd) chosen(set *languages.Set) ([]*languages.Language, error) {
	if len(c.IDs) == 0 {
		return set.All(), nil
	}
	var chosen []*languages.Language
	for _, id := range c.IDs {
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

// languageInfos is languageInfo of every language.
func languageInfos(ctx context.Context, l *local) ([]judge.LanguageInfo, error) {
	var infos []judge.LanguageInfo
	for _, lang := range l.languages.All() {
		info, err := languageInfo(ctx, l.compiler, lang)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// selfTest returns "ok" or what went wrong. The error is a fault of ours.
func selfTest(ctx context.Context, c *compile.Compiler, lang *languages.Language, info judge.LanguageInfo) (string, error) {
	if !info.Available {
		return "missing: " + info.Missing, nil
	}
	_, err := c.SelfTest(ctx, lang)
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
