package languages

import "testing"

func TestBundled(t *testing.T) {
	set, err := Load(Config{})
	if err != nil { t.Fatal(err) }
	for _, l := range set.All() { t.Log(l.ID, l.Suffix) }
}
