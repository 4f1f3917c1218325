package testcases

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"judgefarm/judge"
)

// CustomChecker is the name of the checker that is a program of the problem.
const CustomChecker = "custom"

// WhiteDiff is the name of what CMS compares with where a task brings no checker.
const WhiteDiff = "cms/whitediff"

// DefaultChecker is used where neither the request nor the problem names one.
const DefaultChecker = "tokens"

// CheckerKind is what a problem may write about one checker. judge/checker has
// the code; the grammar is here, below it, so that a package can be refused
// without it.
type CheckerKind struct {
	Name    string
	Version int      // rises when any ruling may change
	Options []string // keys of "key=value" arguments
	Words   []string // arguments that stand alone
	Valued  []string // arguments that another one, a number, follows
	Lists   []string // keys of "key=1,2,3" arguments: whole numbers
	About   string
}

// CheckerKinds lists the known checkers, the default first. A name with a slash is
// that of a checker of another system's.
func CheckerKinds() []CheckerKind {
	return slices.Concat(ownKinds(), testlibKinds(), dmojKinds())
}

func ownKinds() []CheckerKind {
	return []CheckerKind{
		{Name: "tokens", Version: 1, About: "words between white space are equal, case counts"},
		{Name: "exact", Version: 1, About: "every byte is equal"},
		{Name: "lines", Version: 1, About: "lines are equal but for blanks at their ends and empty lines at the end"},
		{Name: "floats", Version: 1, Options: []string{"abs", "rel"}, About: "tokens, where numbers may differ within a tolerance"},
		{Name: "kattis", Version: 1,
			Words:  []string{"case_sensitive", "space_change_sensitive"},
			Valued: []string{"float_tolerance", "float_relative_tolerance", "float_absolute_tolerance"},
			About:  "the default output validator of the Kattis format: words, whose case does not count"},
		{Name: WhiteDiff, Version: 1, About: "lines have the same words, as the comparison of CMS"},
		{Name: CustomChecker, Version: 1, About: "a program of the problem rules"},
	}
}

// CheckerChoice is a CheckerSpec that was found right.
type CheckerChoice struct {
	Name    string
	Version int
	Options map[string]string // by key or word, whose value is "yes"; empty for custom
}

// ID is "name@version".
func (c CheckerChoice) ID() string { return c.Name + "@" + strconv.Itoa(c.Version) }

// ParseChecker reads a spec, naming each fault with the fields "checker.name"
// and "checker.args[i]". No name is the default checker; "name@version" asks for
// one version and is refused when it is another than ours.
func ParseChecker(spec judge.CheckerSpec) (CheckerChoice, []*judge.FieldError) {
	name, version, pinned := strings.Cut(spec.Name, "@")
	if name == "" && !pinned {
		name = DefaultChecker
	}
	kinds := CheckerKinds()
	i := slices.IndexFunc(kinds, func(k CheckerKind) bool { return k.Name == name })
	if i < 0 {
		names := make([]string, len(kinds))
		for i, k := range kinds {
			names[i] = k.Name
		}
		return CheckerChoice{}, []*judge.FieldError{{Field: "checker.name",
			Reason: fmt.Sprintf("must be one of %s, is %.64q", strings.Join(names, ", "), spec.Name)}}
	}
	kind := kinds[i]
	var faults []*judge.FieldError
	if pinned && version != strconv.Itoa(kind.Version) {
		faults = append(faults, &judge.FieldError{Field: "checker.name",
			Reason: fmt.Sprintf("%s is at version %d here, %.64q was asked for", kind.Name, kind.Version, spec.Name)})
	}
	choice := CheckerChoice{Name: kind.Name, Version: kind.Version, Options: map[string]string{}}
	for i := 0; i < len(spec.Args); i++ {
		reason, valued := "", slices.Contains(kind.Valued, spec.Args[i])
		if valued && i+1 == len(spec.Args) {
			reason = "must be followed by a number"
		} else if valued {
			reason = choice.set(spec.Args[i], spec.Args[i+1])
			i++
		} else {
			reason = choice.take(kind, spec.Args[i])
		}
		if reason != "" {
			faults = append(faults, &judge.FieldError{Field: fmt.Sprintf("checker.args[%d]", i), Reason: reason})
		}
	}
	if choice.Options["float_tolerance"] != "" && choice.Options["float_relative_tolerance"]+choice.Options["float_absolute_tolerance"] != "" {
		faults = append(faults, &judge.FieldError{Field: "checker.args", Reason: "float_tolerance must not be together with another tolerance"})
	}
	if len(spec.Args) > 64 {
		faults = append(faults, &judge.FieldError{Field: "checker.args", Reason: "must be at most 64"})
	}
	return choice, faults
}

// take adds one argument and returns what is wrong with it.
func (c *CheckerChoice) take(kind CheckerKind, arg string) string {
	if kind.Name == CustomChecker { // the program's own
		if len(arg) > 1024 || strings.ContainsRune(arg, 0) {
			return "must be at most 1024 bytes without NUL"
		}
		return ""
	}
	key, value, ok := strings.Cut(arg, "=")
	switch {
	case slices.Contains(kind.Words, arg):
		c.Options[arg] = "yes"
		return ""
	case ok && slices.Contains(kind.Lists, key):
		return c.list(key, value)
	case len(kind.Words) > 0:
		return fmt.Sprintf("must be one of %s, is %.64q", strings.Join(slices.Concat(kind.Words, kind.Valued), ", "), arg)
	case len(kind.Options) == 0:
		return fmt.Sprintf("%s takes no arguments, got %.64q", kind.Name, arg)
	case !ok || !slices.Contains(kind.Options, key):
		return fmt.Sprintf("must be %s=NUMBER, is %.64q", strings.Join(kind.Options, "=NUMBER or "), arg)
	}
	return c.set(key, value)
}

// set gives an option its number and returns what is wrong with it.
func (c *CheckerChoice) set(key, value string) string {
	switch {
	case c.Options[key] != "":
		return fmt.Sprintf("%s is given twice", key)
	case !tolerance(value):
		return fmt.Sprintf("%s must be a decimal number from 0 to 1e9, is %.64q", key, value)
	}
	c.Options[key] = value
	return ""
}

// list gives an option its whole numbers and returns what is wrong with them.
func (c *CheckerChoice) list(key, value string) string {
	if c.Options[key] != "" {
		return fmt.Sprintf("%s is given twice", key)
	}
	for number := range strings.SplitSeq(value, ",") {
		if number == "" || len(number) > 9 || strings.Trim(number, "0123456789") != "" {
			return fmt.Sprintf("%s must be whole numbers below 10^9 with commas between them, is %.64q", key, value)
		}
	}
	c.Options[key] = value
	return ""
}

// tolerance accepts plain decimal numbers only: ParseFloat alone would take
// "inf", "0x1p3" and "1_0" as well.
func tolerance(s string) bool {
	if s == "" || len(s) > 32 || strings.Trim(s, "0123456789.eE+-") != "" {
		return false
	}
	v, err := strconv.ParseFloat(s, 64)
	return err == nil && v >= 0 && v <= 1e9 && !strings.HasPrefix(s, "-")
}
