package api

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCheckText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		ok   bool
	}{
		"plain":                {`{"a":"b"}`, true},
		"pair":                 {`"\ud83d\ude00"`, true},
		"pair in capitals":     {`"\uD83D\uDE00"`, true},
		"raw":                  {"\"\U0001f600\"", true},
		"replacement itself":   {"\"\ufffd\\ufffd\"", true},
		"escaped backslash":    {`"\\ud800"`, true},
		"backslashes, a pair":  {`"\\\ud83d\ude00"`, true},
		"high half":            {`"\ud83d"`, false},
		"low half":             {`"\ude00"`, false},
		"halves turned":        {`"\ude00\ud83d"`, false},
		"high, then text":      {`"\ud83dx"`, false},
		"high, then high":      {`"\ud83d\ud83d\ude00"`, false},
		"high, then backslash": {`"\ud83d\\ude00"`, false},
		"bad byte":             {"\"\xff\"", false},
		"surrogate as bytes":   {"\"\xed\xa0\x80\"", false},
		"cut escape":           {`"\ud8`, true}, // no JSON: refused later
	} {
		if p := checkText([]byte(c.body)); (p == nil) != c.ok {
			t.Errorf("%s: %s gives %v, want ok %v", name, c.body, p, c.ok)
		}
	}
}

// What passes is decoded without loss; what is refused would have lost something.
func FuzzCheckText(f *testing.F) {
	for _, s := range []string{`a`, `\ud83d\ude00`, `\ud83d`, `\\ud83d`, `\n\"`, "\xff", `\ud83d\ud83d\ude00`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		body := `"` + s + `"`
		var got string
		if json.Unmarshal([]byte(body), &got) != nil {
			return
		}
		if strings.Contains(strings.ToLower(s), "fffd") || strings.Contains(s, "\ufffd") {
			return // it says so itself
		}
		lost := strings.Contains(got, "\ufffd")
		if refused := checkText([]byte(body)) != nil; refused != lost {
			t.Errorf("%q decodes to %q: refused %v, lost %v", body, got, refused, lost)
		}
	})
}
