package cache_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/cache"
	"judgefarm/testcases/format"
)

// generated is a package of Polygon whose one input a generator makes.
const generated = `<problem short-name="made"><names><name language="english" value="made"/></names><judging><testset name="tests">
<time-limit>1000</time-limit><memory-limit>67108864</memory-limit><test-count>1</test-count>
<input-path-pattern>tests/%d</input-path-pattern><answer-path-pattern>tests/%d.a</answer-path-pattern>
<tests><test method="generated" cmd="gen 1"/></tests></testset></judging>
<files><executables><executable><source path="gen.py" type="python.3"/></executable></executables></files>
<assets><checker name="std::wcmp.cpp" type="testlib"/></assets></problem>`

func putGenerated(t *testing.T, s *store) (pkg string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"problem.xml": generated, "gen.py": "print(1)", "tests/1.a": "made\n"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	var archive bytes.Buffer
	if err := format.Pack(dir, &archive); err != nil {
		t.Fatal(err)
	}
	return "sha256:" + s.put(t, archive.Bytes())
}

// maker makes inputs of a text, which it keeps in a file as testcases/build does.
type maker struct {
	text string
	runs int
	err  error
}

func (m *maker) build(_ context.Context, p *testcases.Problem, dir string) (*testcases.Problem, error) {
	if m.err != nil {
		return nil, m.err
	}
	path := filepath.Join(dir, "key")
	if _, err := os.Stat(path); err != nil {
		m.runs++
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte(m.text), 0o600)); err != nil {
			return nil, err
		}
	}
	d, err := testcases.FileData(path)
	if err != nil {
		return nil, err
	}
	made := *p
	c := p.Cases()[0]
	c.Input = d
	made.Groups = []testcases.Group{{Name: "tests", Cases: []testcases.Case{c}}}
	return &made, made.Seal()
}

func openMaking(t *testing.T, s *store, dir string, m *maker) *cache.Cache {
	t.Helper()
	c, err := cache.New(cache.Config{Store: s, Dir: dir, Build: m.build})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a package's programs make is made once, and found again by the next process.
func TestMadeData(t *testing.T) {
	t.Parallel()
	s, dir, m := newStore(), t.TempDir(), &maker{text: "1\n"}
	pkg := putGenerated(t, s)
	c := openMaking(t, s, dir, m)
	p, release := get(t, c, pkg, "made")
	if b, err := testcases.ReadAll(p.Cases()[0].Input, 10); err != nil || string(b) != "1\n" || p.Pending() {
		t.Errorf("got input %q, %v", b, err)
	}
	release()
	use(t, c, pkg, "made")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = openMaking(t, s, dir, m)
	use(t, c, pkg, "made")
	if m.runs != 1 || s.gets.Load() != 1 {
		t.Errorf("made %d times, fetched %d times, want once each", m.runs, s.gets.Load())
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	damaged, err := filepath.Glob(filepath.Join(dir, "*", "made", "key"))
	if err != nil || len(damaged) != 1 {
		t.Fatalf("got %v, %v", damaged, err)
	}
	if err := os.WriteFile(damaged[0], []byte("2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c = openMaking(t, s, dir, m)
	use(t, c, pkg, "made")
	if m.runs != 2 || s.gets.Load() != 2 {
		t.Errorf("after damage: made %d times, fetched %d times, want twice each", m.runs, s.gets.Load())
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// A failure to make it is handed on and leaves nothing behind.
func TestMadeDataFails(t *testing.T) {
	t.Parallel()
	s, dir := newStore(), t.TempDir()
	pkg := putGenerated(t, s)
	own := &judge.Failed{Kind: judge.FailProblem, Reason: "gen.py exited with status 1"}
	c := openMaking(t, s, dir, &maker{err: own})
	if _, _, err := c.Get(t.Context(), pkg); !errors.Is(err, own) {
		t.Errorf("got %v, want the builder's failure", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	var failed *judge.Failed
	if _, _, err := open(t, s, dir, 0).Get(t.Context(), pkg); !errors.As(err, &failed) || failed.Kind != judge.FailProblem || failed.Retryable {
		t.Errorf("without a builder: got %v, want a failure of the problem", err)
	}
}
