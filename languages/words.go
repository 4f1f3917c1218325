package languages

import (
	"regexp"
	"strconv"
	"strings"

	"judgefarm/judge"
)

// Words are the values of the words in braces of a command.
type Words map[string][]string

// word matches a word in braces; other braces are left as they are.
var word = regexp.MustCompile(`\{([a-z_]+)\}`)

// The words of sources, known when the compile is laid out, and of limits, known
// at each run.
var (
	sourceWords = []string{"source", "stem", "sources", "class", "exe"}
	limitWords  = []string{"memory_mib", "box_mib", "tasks"}
)

// LimitWords are the words that depend on a run's limits. Sizes are in MiB,
// rounded up, so that a runtime is never told less than it is allowed.
func LimitWords(lim judge.Limits, slack judge.Bytes) Words {
	mib := func(b judge.Bytes) string { return strconv.FormatInt(int64((b+judge.MiB-1)/judge.MiB), 10) }
	return Words{
		"memory_mib": {mib(lim.Memory)},
		"box_mib":    {mib(lim.Memory + slack)},
		"tasks":      {strconv.Itoa(lim.Tasks)},
	}
}

// Expand replaces the words it knows and leaves the others for a later Expand.
// An argument that is nothing but one word becomes as many as the word has.
func (w Words) Expand(args []string) []string {
	out := make([]string, 0, len(args))
	for _, arg := range args {
		if m := word.FindStringSubmatch(arg); m != nil && m[0] == arg && w[m[1]] != nil {
			out = append(out, w[m[1]]...)
			continue
		}
		out = append(out, word.ReplaceAllStringFunc(arg, func(braced string) string {
			if values, ok := w[braced[1:len(braced)-1]]; ok {
				return strings.Join(values, " ")
			}
			return braced
		}))
	}
	return out
}
