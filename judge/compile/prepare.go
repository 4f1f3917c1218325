package compile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"judgefarm/judge"
	"judgefarm/languages"
)

// prepareAgain is how long a failed preparation is not tried again.
const prepareAgain = 10 * time.Minute

// errUnprepared says that a language's preparation does not work here.
var errUnprepared = errors.New("cannot be prepared")

// prepare returns the host directory of what a toolchain's prepare step made,
// making it at first use. It stays until release. The error is a *judge.Failed of
// kind toolchain when the step fails.
func (c *Compiler) prepare(ctx context.Context, tc *languages.Toolchain) (dir string, release func(), err error) {
	l := tc.Language
	w := &work{toolchain: tc, lang: l, layout: l.Lay(l.SelfTest.Files), key: preparedKey(tc)}
	c.mu.Lock()
	failed, ok := c.unprepared[w.key]
	c.mu.Unlock()
	if ok && c.cfg.Clock().Sub(failed) < prepareAgain {
		return "", nil, unprepared(l, "failed less than "+prepareAgain.String()+" ago")
	}
	out, _, err := c.obtain(ctx, w.key, func(ctx context.Context) (built, error) {
		b, err := c.runStep(ctx, w, &l.Prepare.Step, "")
		if err == nil && b.meta.Verdict != "" {
			c.mu.Lock()
			c.unprepared[w.key] = c.cfg.Clock()
			c.mu.Unlock()
			err = unprepared(l, fmt.Sprintf("%s: %s", b.meta.Verdict, b.meta.Log))
			c.cfg.Logger.Error("cannot prepare a toolchain: its compiles go without, or wait for another worker where runs need it", "language", l.ID, "error", err)
		}
		return b, err
	})
	if err != nil {
		return "", nil, err
	}
	return out.entry.exeDir(), func() { c.cache.unpin(out.entry) }, nil
}

// prepareOrWarn is prepare for a compile, which works without, only slower: the
// directory is "" when the step fails. That was logged as an error.
func (c *Compiler) prepareOrWarn(ctx context.Context, tc *languages.Toolchain) (dir string, release func(), err error) {
	dir, release, err = c.prepare(ctx, tc)
	if errors.Is(err, errUnprepared) {
		return "", func() {}, nil
	}
	return dir, release, err
}

func unprepared(l *languages.Language, why string) error {
	reason := "language " + l.ID + ": its prepare step " + why
	return &judge.Failed{
		Kind: judge.FailToolchain, Retryable: true, Reason: reason,
		Err: fmt.Errorf("%s: %w", reason, errUnprepared),
	}
}

// preparedKey is over all that the outcome depends on: the toolchain's digest has
// the step and its sample in it.
func preparedKey(tc *languages.Toolchain) string {
	// Encoding a struct of numbers cannot fail.
	limits, _ := json.Marshal(tc.Language.Prepare.Limits)
	sum := sha256.Sum256(fmt.Appendf(nil, "judgefarm prepared 1\n%q %s\n%s\n", tc.Language.ID, tc.Digest, limits))
	return hex.EncodeToString(sum[:])
}
