package testcases_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/testcases"
)

func inline(t *testing.T, cfg testcases.InlineConfig) *testcases.Problem {
	t.Helper()
	p, err := testcases.Inline(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func pair(in, ans string) testcases.InlineTest {
	return testcases.InlineTest{Stdin: []byte(in), Expected: []byte(ans)}
}

func TestInline(t *testing.T) {
	t.Parallel()
	p := inline(t, testcases.InlineConfig{Tests: []testcases.InlineTest{pair("1", "2"), pair("", "")}})
	var names []string
	for _, c := range p.Cases() {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"1", "2"}) || !p.Inline || p.ID != "" {
		t.Errorf("got names %q, inline %v, id %q", names, p.Inline, p.ID)
	}
	b, err := testcases.ReadAll(p.Cases()[0].Answer, 10)
	if err != nil || string(b) != "2" {
		t.Errorf("got answer %q, %v", b, err)
	}
	_, err = testcases.Inline(testcases.InlineConfig{Checker: judge.CheckerSpec{Name: "tokes"}})
	if fields := faults(t, err); !slices.Equal(fields, []string{"tests", "checker.name"}) {
		t.Errorf("got faults of %q", fields)
	}
}

// Each change that can change a verdict changes the digest, and no other does.
func TestDigest(t *testing.T) {
	t.Parallel()
	base := testcases.InlineConfig{Tests: []testcases.InlineTest{pair("ab", "c"), pair("d", "e")}}
	change := map[string]func(*testcases.InlineConfig){
		"bytes moved from input to answer": func(c *testcases.InlineConfig) { c.Tests[0] = pair("a", "bc") },
		"order":                            func(c *testcases.InlineConfig) { slices.Reverse(c.Tests) },
		"a case more":                      func(c *testcases.InlineConfig) { c.Tests = append(c.Tests, pair("", "")) },
		"limit":                            func(c *testcases.InlineConfig) { c.Limits.CPU = time.Second },
		"strict mode":                      func(c *testcases.InlineConfig) { c.Limits.Ptrace = true },
		"checker":                          func(c *testcases.InlineConfig) { c.Checker.Name = "exact" },
		"checker argument": func(c *testcases.InlineConfig) {
			c.Checker = judge.CheckerSpec{Name: "floats", Args: []string{"abs=1e-3"}}
		},
	}
	seen := map[string]string{inline(t, base).Digest: "base"}
	for name, f := range change {
		cfg := base
		cfg.Tests = slices.Clone(base.Tests)
		f(&cfg)
		d := inline(t, cfg).Digest
		if other, ok := seen[d]; ok {
			t.Errorf("%s: the same digest as %s", name, other)
		}
		seen[d] = name
	}
	same := base
	same.Checker.Name = "tokens"
	if got, want := inline(t, same).Digest, inline(t, base).Digest; got != want {
		t.Errorf("the default checker by name: got %s, want %s", got, want)
	}
	// The form is a promise: packages and results are compared over years.
	const want = "sha256:f632d6c557bbe5f6b410de1a86891c4abf47582067c9a493454a9f2be021bdb8"
	if got := inline(t, base).Digest; got != want {
		t.Errorf("got digest %s, want %s", got, want)
	}
}

func TestFileData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "1.in"), filepath.Join(dir, "2.in")
	if err := errors.Join(os.WriteFile(file, []byte("x\x00y"), 0o644), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	d, err := testcases.FileData(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, ok := r.(*os.File); !ok || d.Size() != 3 {
		t.Errorf("got a %T of %d bytes, want an *os.File of 3", r, d.Size())
	}
	for _, path := range []string{link, dir, filepath.Join(dir, "none")} {
		if _, err := testcases.FileData(path); err == nil {
			t.Errorf("%s: want an error", path)
		}
	}
	if _, err := testcases.ReadAll(d, 2); err == nil {
		t.Error("more than the bound was read")
	}
}

func TestSealReportsDataThatChanged(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "1.in")
	if err := os.WriteFile(file, []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := testcases.FileData(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("12"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := testcases.Problem{Groups: []testcases.Group{{Name: "secret",
		Cases: []testcases.Case{{Name: "1", Input: d, Answer: d}}}}}
	var failed *judge.Failed
	if err := p.Seal(); !errors.As(err, &failed) || failed.Kind != judge.FailProblem {
		t.Errorf("got %v, want a failure of the problem", err)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	d := testcases.BytesData(nil)
	p := testcases.Problem{
		Limits:  judge.Limits{CPU: time.Second, Wall: time.Millisecond},
		Checker: judge.CheckerSpec{Name: "custom"},
		Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{
			{Name: "1", Input: d, Answer: d}, {Name: "1", Input: d, Answer: d},
			{Name: "2", Answer: d}, {Name: "3", Input: d},
			{Name: "../4", Input: d, Answer: d}, {Name: "a b", Input: d, Answer: d}, {Name: "", Input: d, Answer: d},
		}}},
	}
	want := []string{"checker.files", "limits.wall_ms", "1", "2", "3", "../4", "a b", ""}
	if got := faults(t, p.Validate()); !slices.Equal(got, want) {
		t.Errorf("got faults of %q, want %q", got, want)
	}
	p.Groups[0].Cases = make([]testcases.Case, 1000)
	if got := faults(t, p.Validate()); len(got) != 2+200+1 {
		t.Errorf("got %d faults of 1000 cases, want 200 and how many more", len(got))
	}
}

func TestParseChecker(t *testing.T) {
	t.Parallel()
	tests := []struct {
		spec string // name and arguments
		want string // id, or the faulty fields
	}{
		{"", "tokens@1"},
		{"tokens", "tokens@1"},
		{"tokens@1", "tokens@1"},
		{"tokens@2", "checker.name"},
		{"@1", "checker.name"},
		{"Tokens", "checker.name"},
		{"exact", "exact@1"},
		{"lines x", "checker.args[0]"},
		{"floats", "floats@1"},
		{"floats abs=1e-9", "floats@1"},
		{"floats abs=1e-9 rel=0", "floats@1"},
		{"floats abs=1 abs=1", "checker.args[1]"},
		{"floats abs", "checker.args[0]"},
		{"floats eps=1", "checker.args[0]"},
		{"floats abs= rel=-1", "checker.args[0] checker.args[1]"},
		{"floats abs=nan rel=inf", "checker.args[0] checker.args[1]"},
		{"floats abs=0x1p-3 rel=1e10", "checker.args[0] checker.args[1]"},
		{"floats abs=1_0", "checker.args[0]"},
		{"custom --any thing", "custom@1"},
	}
	for _, tt := range tests {
		words := strings.Split(tt.spec, " ")
		choice, bad := testcases.ParseChecker(judge.CheckerSpec{Name: words[0], Args: words[1:]})
		got := choice.ID()
		if len(bad) > 0 {
			got = strings.Join(faults(t, judge.Refuse(bad...)), " ")
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.spec, got, tt.want)
		}
	}
}

// faults returns the fields of a *judge.BadRequest.
func faults(t *testing.T, err error) []string {
	t.Helper()
	var bad *judge.BadRequest
	if !errors.As(err, &bad) {
		t.Fatalf("got %v, want a bad request", err)
	}
	var fields []string
	for _, f := range bad.Faults {
		fields = append(fields, f.Field)
	}
	return fields
}
