package languages

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/languages.md anew")

const (
	docsFile   = "../docs/languages.md"
	tablesFrom = "<!-- from the definitions; go test ./languages -run Documented -update -->\n"
	tablesTo   = "<!-- end -->\n"
)

// The definitions that docs/languages.md shows are read without a fault, and its
// tables are what the bundled definitions say.
func TestDocumentedDefinitions(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	shown := 0
	for i, block := range strings.Split(text, "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if _, faults := parse([]byte(block)); len(faults) > 0 {
			t.Errorf("block %d: %v", i, faults)
		}
		shown++
	}
	if shown != 2 {
		t.Errorf("%d definitions are shown, want 2", shown)
	}
	if want := fmt.Sprintf("Bundled are %d languages.", len(bundledSet(t).All())); !strings.Contains(text, want) {
		t.Errorf("%s does not say %q", docsFile, want)
	}
	head, rest, from := strings.Cut(text, tablesFrom)
	got, tail, to := strings.Cut(rest, tablesTo)
	if !from || !to {
		t.Fatalf("%s lacks %q or %q", docsFile, tablesFrom, tablesTo)
	}
	want := tables(bundledSet(t))
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("the tables of %s are not what the definitions say: go test ./languages -run Documented -update", docsFile)
	}
	if err := os.WriteFile(docsFile, []byte(head+tablesFrom+want+tablesTo+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tables are Markdown of all that a user wants to know of each language.
func tables(set *Set) string {
	var b strings.Builder
	row := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	b.WriteString("| id | language | Debian packages | suffixes | also called | allowance |\n|---|---|---|---|---|---|\n")
	for _, l := range set.All() {
		packages := slices.Concat(l.Toolchain.Packages, l.Toolchain.Npm)
		row("`"+l.ID+"`", l.Name, strings.Join(packages, " "), strings.Join(l.Suffix, " "), strings.Join(l.Aliases, " "), allowanceText(l.Allowance))
	}
	b.WriteString("\nCommand lines (`|` in them is `\\|` here; long ones of the JVM are in the definitions):\n\n| id | compile | check | run |\n|---|---|---|---|\n")
	for _, l := range set.All() {
		compile, check := "", ""
		if l.Compile != nil {
			compile = commandText(l.Compile.Args)
		}
		if l.Check != nil {
			check = commandText(l.Check.Args)
		}
		row("`"+l.ID+"`", compile, check, commandText(l.Run.Args))
	}
	b.WriteString("\nNames in other systems (`Set.FindIn`):\n\n| id | names |\n|---|---|\n")
	for _, l := range set.All() {
		var names []string
		for _, system := range slices.Sorted(maps.Keys(l.IDs)) {
			names = append(names, system+": "+strings.Join(l.IDs[system], ", "))
		}
		row("`"+l.ID+"`", cmp.Or(strings.Join(names, "; "), "none"))
	}
	return b.String()
}

func allowanceText(a Allowance) string {
	var parts []string
	if a.TimeFactor != 0 && a.TimeFactor != 1 {
		parts = append(parts, fmt.Sprintf("time × %g", a.TimeFactor))
	}
	if a.Time != 0 {
		parts = append(parts, "time + "+a.Time.String())
	}
	if a.Memory != 0 {
		parts = append(parts, fmt.Sprintf("%d MiB", a.Memory>>20))
	}
	if a.Tasks != 0 {
		parts = append(parts, fmt.Sprintf("%d tasks", a.Tasks))
	}
	return strings.Join(parts, ", ")
}

// commandText is a command on one line of a table; scripts of several lines and
// long commands are cut.
func commandText(args []string) string {
	text := strings.Join(strings.Fields(strings.Join(args, " ")), " ")
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + " ..."
	}
	return "`" + strings.ReplaceAll(text, "|", "\\|") + "`"
}
