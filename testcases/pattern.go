package testcases

import (
	"path"
	"strings"
)

// maxAlternatives bounds what {a,b}{c,d}... may stand for.
const maxAlternatives = 1000

// Braces writes out the alternatives of {a,b} in a pattern, nested ones too. What is
// no pair of braces is taken as it is, and so is what stands for too many.
func Braces(pattern string) []string {
	done, open := []string{}, []string{pattern}
	for len(open) > 0 && len(done)+len(open) <= maxAlternatives {
		p := open[0]
		open = open[1:]
		begin, end := innermost(p)
		if begin < 0 {
			done = append(done, p)
			continue
		}
		for alternative := range strings.SplitSeq(p[begin+1:end], ",") {
			open = append(open, p[:begin]+alternative+p[end+1:])
		}
	}
	if len(open) > 0 {
		return []string{pattern}
	}
	return done
}

// innermost finds a pair of braces without braces in it.
func innermost(p string) (begin, end int) {
	begin = -1
	for i := range len(p) {
		switch {
		case p[i] == '{':
			begin = i
		case p[i] == '}' && begin >= 0:
			return begin, i
		}
	}
	return -1, -1
}

// Matches reports whether an Expectation's pattern of cases matches the case or one
// of the groups that it is in; "" matches all.
func (e Expectation) Matches(name string) bool {
	if e.Cases == "" {
		return true
	}
	for _, p := range Braces(e.Cases) {
		p = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `?`, `\?`).Replace(p)
		for at := name; at != "." && at != ""; at = path.Dir(at) {
			if ok, err := path.Match(p, at); err == nil && ok {
				return true
			}
		}
	}
	return false
}
