package compile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
)

// Status is what this host has of a language: it works as far as its version
// command does (OK), or something is missing, or its version command fails.
type Status struct {
	Language *languages.Language
	Ref      judge.LanguageRef   // version and toolchain digest, where OK
	Missing  []languages.Missing // what is not there, each with its fix
	Broken   string              // why a toolchain that is there does not work
}

// OK reports whether the language can be judged here.
func (s *Status) OK() bool { return len(s.Missing) == 0 && s.Broken == "" }

// Inspect names the toolchain of a language. The error is a *judge.Failed that
// says what is missing or broken, or ctx's cause.
func (c *Compiler) Inspect(ctx context.Context, l *languages.Language) (judge.LanguageRef, error) {
	tc, err := c.toolchain(ctx, l)
	if err != nil {
		return judge.LanguageRef{}, err
	}
	version, err := c.version(ctx, tc)
	if err != nil {
		return judge.LanguageRef{}, err
	}
	return judge.LanguageRef{ID: l.ID, Version: version, Toolchain: tc.Digest}, nil
}

// Status tells what this host has of a language. The error is ctx's cause or says
// that the box or the host's files failed us.
func (c *Compiler) Status(ctx context.Context, l *languages.Language) (*Status, error) {
	s := &Status{Language: l, Ref: judge.LanguageRef{ID: l.ID}}
	tc, err := c.prober.Probe(ctx, l)
	if err != nil {
		return nil, err
	}
	if s.Missing = tc.Missing; len(s.Missing) > 0 {
		return s, nil
	}
	s.Ref, err = c.Inspect(ctx, l)
	var failed *judge.Failed
	if errors.As(err, &failed) && failed.Kind == judge.FailToolchain {
		s.Broken, err = failed.Reason, nil
	}
	return s, err
}

// version is the first line that the version command prints, kept beside the
// cache by the toolchain's digest so that a start does not run every compiler.
func (c *Compiler) version(ctx context.Context, tc *languages.Toolchain) (string, error) {
	file := c.cache.path("versions", strings.TrimPrefix(tc.Digest, "sha256:"))
	if text, err := os.ReadFile(file); err == nil && len(text) > 0 {
		return string(text), nil
	}
	l := tc.Language
	lim := languages.DefaultStepLimits()
	rep, err := c.cfg.Runner.Run(ctx, toolSpec(l, tc, l.Toolchain.Version, nil, &lim))
	if err != nil {
		return "", runnerError(ctx, err)
	}
	text := firstLine(rep.Stdout.Data)
	if rep.Cause != sandbox.CauseExit || rep.Exit != 0 || text == "" {
		return "", &judge.Failed{Kind: judge.FailToolchain, Retryable: true, Reason: fmt.Sprintf(
			"language %s: %s ended by %s with status %d %s: %s", l.ID, strings.Join(l.Toolchain.Version, " "),
			rep.Cause, rep.Exit, rep.Evidence.ExecError, text)}
	}
	if err := writeWhole(c.cache.path("tmp"), file, text); err != nil {
		return "", judge.Fail(judge.FailStorage, fmt.Errorf("keep version of %s: %w", l.ID, err))
	}
	return text, nil
}

// maxVersion bounds a version text in bytes.
const maxVersion = 200

func firstLine(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(strings.ToValidUTF8(line, "?")); line != "" {
			for len(line) > maxVersion {
				_, size := utf8.DecodeLastRuneInString(line)
				line = line[:len(line)-size]
			}
			return line
		}
	}
	return ""
}

// writeWhole puts a file into place by a rename, so that nobody reads half of it.
func writeWhole(tmpDir, file, text string) error {
	tmp, err := os.CreateTemp(tmpDir, filepath.Base(file))
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
