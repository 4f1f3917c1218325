package artifacts_test

import (
	"strings"
	"testing"

	"judgefarm/internal/blob"
	"judgefarm/worker/artifacts"
)

func TestCaseKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 201)
	tests := []struct{ name, want string }{
		{"sample/1", "sample/1"},
		{"secret/03-big_x.y", "secret/03-big_x.y"},
		{"", "="},
		{"a//b/", "a/=/b/="},
		{"a b", "a=20b"},
		{"a=20b", "a=3D20b"},
		{"../x", "=2E./x"},
		{"ä", "=C3=A4"},
		{"a\x00\xff", "a=00=FF"},
		{"a/stdout", "a/=73tdout"},
		{"a/stderr.cut", "a/=73tderr.cut"},
		{"stdouts", "stdouts"},
		{long[1:], long[1:]},
		{long, long[:100] + "==" + blob.Digest([]byte(long))},
	}
	for _, tt := range tests {
		if got := artifacts.CaseKey(tt.name); got != tt.want {
			t.Errorf("CaseKey(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzCaseKey(f *testing.F) {
	for _, seed := range []string{"sample/1", "", "a//b", "=", "..", "stdout", strings.Repeat("/", 300), strings.Repeat("ä/", 99)} {
		f.Add(seed, seed+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		keyA, keyB := artifacts.CaseKey(a)+"/stdout", artifacts.CaseKey(b)+"/stdout"
		for _, key := range []string{keyA, keyB} {
			if err := blob.CheckKey("judgements/01234567-0123-7123-8123-0123456789ab/9223372036854775807/cases/" + key + ".cut"); err != nil {
				t.Errorf("%q and %q: %v", a, b, err)
			}
		}
		if a != b && (keyA == keyB || strings.HasPrefix(keyA, keyB+"/") || strings.HasPrefix(keyB, keyA+"/")) {
			t.Errorf("%q and %q meet at %s and %s", a, b, keyA, keyB)
		}
	})
}
