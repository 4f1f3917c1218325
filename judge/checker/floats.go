package checker

import (
	"bytes"
	"context"
	"strings"

	"judgefarm/judge"
)

// The tolerances of floats where the problem states none.
const (
	defaultAbs = "1e-6"
	defaultRel = "1e-6"
)

// floats compares token by token. Where the answer's token is a number the
// output's must be one too, within an absolute or a relative tolerance. Values
// are those of the text, not of the nearest double: 9007199254740993 is not
// 9007199254740992, and the tolerance holds for integers too. Other tokens must
// be equal; nan and inf, in any spelling, never are.
type floats struct{ tolerance tolerance }

// newFloats takes the options abs and rel. With both unstated the defaults hold;
// with one stated the other is 0.
func newFloats(options map[string]string) floats {
	abs, rel := options["abs"], options["rel"]
	switch {
	case abs == "" && rel == "":
		abs, rel = defaultAbs, defaultRel
	case abs == "":
		abs = "0"
	case rel == "":
		rel = "0"
	}
	return floats{newTolerance(abs, rel)}
}

func (floats) ID() string { return "floats@1" }

func (f floats) Check(ctx context.Context, in Input) (Ruling, error) {
	find := func(out, ans *stream) *difference { return eachToken(out, ans, f.same, bytes.Equal) }
	diff, err := compare(ctx, in, find, true)
	if err != nil {
		return Ruling{}, err
	}
	return ruling(diff, judge.WrongAnswer, in.Reveal), nil
}

func (f floats) same(got, want []byte) string {
	if bytes.Equal(got, want) {
		if notFinite(got) {
			return "the token is no finite number"
		}
		return ""
	}
	w, ok := parseNumber(want)
	if !ok {
		return tokenDiffer
	}
	g, ok := parseNumber(got)
	if !ok {
		return "the token is no decimal number"
	}
	if !f.tolerance.within(g, w) {
		return "the number differs by more than the tolerance"
	}
	return ""
}

// notFinite recognises what C's strtod reads as infinity or not a number.
func notFinite(tok []byte) bool {
	i := sign(tok, 0)
	if len(tok) > maxNumber || i == len(tok) || !strings.ContainsRune("nNiI", rune(tok[i])) {
		return false
	}
	word := strings.ToLower(string(tok[i:]))
	if word == "inf" || word == "infinity" || word == "nan" {
		return true
	}
	return strings.HasPrefix(word, "nan(") && strings.HasSuffix(word, ")")
}
