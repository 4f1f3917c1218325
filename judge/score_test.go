package judge

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseScore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "7": "7", "-2.50": "-2.5", "+.5": "0.5", "3.": "3", "1e2": "100", "25E-1": "2.5", "007.0": "7",
		"0.1234567890123456789012345": "0.1234567890123456789012345",
	} {
		s, err := ParseScore(text)
		if err != nil || s.String() != want {
			t.Errorf("ParseScore(%q) = %v, %v, want %s", text, s, err, want)
		}
	}
	for _, text := range []string{
		"", ".", "-", "+-1", "1.2.3", "nan", "inf", "0x10", "1/3", "1_0", "1e", "1e99", "1e-99", "1e999999999", " 1", "1 ", "1e1.5", "1e+-3",
	} {
		if s, err := ParseScore(text); err == nil {
			t.Errorf("ParseScore(%q) = %v, want an error", text, s)
		}
	}
}

// Sums of shares come out even, which doubles do not do.
func TestScoreIsExact(t *testing.T) {
	t.Parallel()
	third := ScoreOf(100).Div(3)
	if got := third.Add(third).Add(third); got.Cmp(ScoreOf(100)) != 0 {
		t.Errorf("three thirds of 100 are %v", got)
	}
	sum := Score{}
	tenth := ShareOf(1, 10)
	for range 10 {
		sum = sum.Add(tenth)
	}
	if sum.Cmp(ScoreOf(1)) != 0 || sum.String() != "1" || sum.Float() != 1 {
		t.Errorf("ten tenths are %v", sum)
	}
	if got := third.String(); got != "33.333333333333" {
		t.Errorf("a third of 100 is shown as %s", got)
	}
	b, err := json.Marshal(map[string]Score{"s": third})
	if err != nil || string(b) != `{"s":"100/3"}` {
		t.Errorf("marshalled as %s, %v", b, err)
	}
}

// What MarshalText gives comes back exactly; what it never gives is refused.
func TestScoreText(t *testing.T) {
	t.Parallel()
	for _, want := range []Score{{}, ScoreOf(-7), ScoreOf(100).Div(3), ShareOf(-1, 8), ScoreOf(1).Div(1 << 60).Div(1 << 60)} {
		text, err := want.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got Score
		if err := got.UnmarshalText(text); err != nil || got.Cmp(want) != 0 {
			t.Errorf("%s came back as %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-", "/", "1/", "/2", "1/0", "1/00", "+1", "1.5", "1e5", "0x1", "1/-2", "--1", " 1", strings.Repeat("9", 1001)} {
		var s Score
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%.20q was read as %v", text, s)
		}
	}
}

func FuzzParseScore(f *testing.F) {
	for _, s := range []string{"1", "-0.5", "1e60", "1e-60", "..", "e", "9999999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScore(text)
		if err != nil {
			return
		}
		if places, exact := s.value().FloatPrec(); !exact || places > 30 {
			return
		}
		again, err := ParseScore(s.String())
		if err == nil && again.Cmp(s) != 0 {
			t.Errorf("%q is %v, which reads as %v", text, s, again)
		}
	})
}
