package queue

import (
	"encoding/json"
	"strings"
	"testing"
)

func decode(t testing.TB, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("decode %q: %v", text, err)
	}
}

// parse reads "id priority fair [front]".
func parse(s string) (j Job, front bool) {
	parts := strings.SplitN(s, " ", 4)
	return Job{ID: parts[0], Priority: parts[1], FairKey: parts[2]}, len(parts) == 4
}
