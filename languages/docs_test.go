package languages

import (
	"os"
	"strings"
	"testing"
)

// The definitions that docs/languages.md shows are read without a fault, and its
// table has every bundled id.
func TestDocumentedDefinitions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/languages.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for i, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if _, faults := parse([]byte(block)); len(faults) > 0 {
			t.Errorf("block %d: %v", i, faults)
		}
		shown++
	}
	if shown != 2 {
		t.Errorf("%d definitions are shown, want 2", shown)
	}
	for _, l := range bundledSet(t).All() {
		for _, name := range append([]string{l.ID}, l.Aliases...) {
			if !strings.Contains(string(text), name) {
				t.Errorf("%s is not documented", name)
			}
		}
	}
}
