package languages

import (
	"strings"
	"testing"
	"time"
)

// A check that does not end takes no compiler's time from a program that failed anyhow.
func TestCheckLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limits    string
		cpu, wall time.Duration
		fault     string
	}{
		{"", 3 * time.Second, 10 * time.Second, ""},
		{", limits: {memory: 2G}", 3 * time.Second, 10 * time.Second, ""},
		{", limits: {cpu: 20s, wall: 40s}", 20 * time.Second, 40 * time.Second, ""},
		{", limits: {cpu: 20s}", 0, 0, "check.limits: wall must be at least cpu"},
	} {
		lang, faults := parse([]byte(definition("small", "check: {args: [/usr/bin/small]"+c.limits+"}\n")))
		if c.fault != "" {
			if len(faults) != 1 || !strings.Contains(faults[0].Error(), c.fault) {
				t.Errorf("%q: got faults %v, want %q", c.limits, faults, c.fault)
			}
			continue
		}
		if len(faults) > 0 {
			t.Errorf("%q: %v", c.limits, faults)
			continue
		}
		if lim := lang.Check.Limits; lim.CPU != c.cpu || lim.Wall != c.wall {
			t.Errorf("%q: got cpu %v, wall %v, want %v and %v", c.limits, lim.CPU, lim.Wall, c.cpu, c.wall)
		}
	}
	for _, l := range bundledSet(t).All() {
		if l.Check != nil && l.Check.Limits.Wall > 10*time.Second {
			t.Errorf("%s: a check of up to %v", l.ID, l.Check.Limits.Wall)
		}
	}
}

// A check that runs code of the program counts with a place that the run named only.
func TestCheckConfirms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, log, stderr string
		want                  bool
	}{
		{"perl", "syntax error at main.pl line 1, near \"= ;\"\nmain.pl had compilation errors.\n",
			"syntax error at /exe/main.pl line 1, near \"= ;\"\nExecution of /exe/main.pl aborted due to compilation errors.\n", true},
		{"perl", "", "x compilation aborted at x line 1.\n", false},
		{"perl", "no at main.pl line 1.\n", "no at main.pl line 2.\n", false},
		{"perl", "no at main.pl line 1.\n", "no at main.pl line 12.\n", false},
		{"racket", "main.rkt:2:0: read-syntax: no\n", "/exe/main.rkt:2:0: read-syntax: no\n  context...:\n", true},
		{"racket", "main.rkt:2:0: read-syntax: no\n", "main.rkt:2:0: other\n", false},
		{"racket", "", "", false},
		{"python3", "SyntaxError: no\n", "", true},
	} {
		l, _ := bundledSet(t).Find(c.language)
		if got := l.Check.Confirms([]byte(c.log), []byte(c.stderr)); got != c.want {
			t.Errorf("%s: check said %q, run %q: got %t, want %t", c.language, c.log, c.stderr, got, c.want)
		}
	}
}
