package docs

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// limits.md has a column for each isolation level, and says of each limit what results
// of that level say.
func TestLimitsOfLevels(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| (\\w+) \\| (\\w+) \\|$").FindAllStringSubmatch(read(t, root+"/docs/limits.md"), -1)
	told := map[string][]string{}
	for _, row := range rows {
		told[row[1]] = row[2:]
	}
	seen := 0
	for i, level := range sandbox.Levels() {
		enforced := reflect.ValueOf(level.Enforced())
		for f := range enforced.NumField() {
			field := enforced.Type().Field(f)
			value, ok := enforced.Field(f).Interface().(judge.Enforcement)
			if !ok {
				continue
			}
			seen++
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if row := told[name]; len(row) <= i || row[i] != string(value) {
				t.Errorf("%s at level %s: docs/limits.md says %q, results %q", name, level, row, value)
			}
		}
	}
	if seen != 3*len(told) {
		t.Errorf("docs/limits.md tells %d limits, results %d of three levels", len(told), seen)
	}
}
