package cache_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/cache"
	"judgefarm/testcases/format"
)

// store counts Gets and can be told to fail, to hang or to hand out other bytes.
type store struct {
	*blob.Memory
	gets  atomic.Int64
	fail  error
	wait  func(ctx context.Context) error
	bytes func() []byte
}

func newStore() *store { return &store{Memory: blob.NewMemory(0)} }

func (s *store) Get(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	s.gets.Add(1)
	if s.wait != nil {
		if err := s.wait(ctx); err != nil {
			return nil, 0, err
		}
	}
	if s.fail != nil {
		return nil, 0, s.fail
	}
	if s.bytes != nil {
		if b := s.bytes(); b != nil {
			return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
		}
	}
	return s.Memory.Get(ctx, key)
}

// add stores a problem with one case of the size and returns its package.
func (s *store) add(t *testing.T, name string, size int) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{
		"problem.yaml": "name: " + name + "\n", "data/secret/1.in": strings.Repeat("i", size), "data/secret/1.ans": name + "\n",
	} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var archive bytes.Buffer
	if err := format.Pack(dir, &archive); err != nil {
		t.Fatal(err)
	}
	return "sha256:" + s.put(t, archive.Bytes())
}

// put stores bytes under their digest and returns it.
func (s *store) put(t *testing.T, b []byte) (digest string) {
	t.Helper()
	digest = blob.Digest(b)
	if err := s.Memory.Put(t.Context(), blob.ContentKey(digest), bytes.NewReader(b), int64(len(b)), ""); err != nil {
		t.Fatal(err)
	}
	return digest
}

func open(t *testing.T, s blob.Store, dir string, max judge.Bytes) *cache.Cache {
	t.Helper()
	c, err := cache.New(cache.Config{Store: s, Dir: dir, MaxBytes: max})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// get checks the problem by its answer and returns its release.
func get(t *testing.T, c *cache.Cache, pkg, name string) (*testcases.Problem, func()) {
	t.Helper()
	p, release, err := c.Get(t.Context(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, p, name)
	return p, release
}

func checkAnswer(t *testing.T, p *testcases.Problem, name string) {
	t.Helper()
	answer, err := testcases.ReadAll(p.Cases()[0].Answer, 1000)
	if err != nil || string(answer) != name+"\n" || p.Name != name || p.ID != "" {
		t.Errorf("got problem %q %q with answer %q, %v, want %q", p.ID, p.Name, answer, err, name)
	}
}

func use(t *testing.T, c *cache.Cache, pkg, name string) {
	t.Helper()
	_, release := get(t, c, pkg, name)
	release()
}

func diskUse(t *testing.T, dir string) (total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

func caseFile(t *testing.T, dir, pkg string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, strings.TrimPrefix(pkg, "sha256:")+".*", "data", "data", "secret", "1.ans"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files of %s: %q, %v", pkg, found, err)
	}
	return found[0]
}

func TestGetFetchesOnce(t *testing.T) {
	t.Parallel()
	s := newStore()
	pkg := s.add(t, "one", 10)
	c := open(t, s, t.TempDir(), 0)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			p, release, err := c.Get(t.Context(), pkg)
			if err != nil {
				t.Error(err)
				return
			}
			checkAnswer(t, p, "one")
			release()
			release() // harmless
		})
	}
	wg.Wait()
	use(t, c, pkg, "one")
	if n := s.gets.Load(); n != 1 {
		t.Errorf("fetched %d times, want once", n)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	s := newStore()
	noProblem := s.put(t, []byte("no archive"))
	good := s.add(t, "good", 10)
	large := s.add(t, "large", 2<<20)
	tests := []struct {
		name  string
		pkg   string
		store func(*store)
		want  judge.Failed
	}{
		{"no digest", "../../etc", nil, judge.Failed{Kind: judge.FailProblem}},
		{"digest without kind", strings.TrimPrefix(good, "sha256:"), nil, judge.Failed{Kind: judge.FailProblem}},
		{"missing", "sha256:" + strings.Repeat("0", 64), nil, judge.Failed{Kind: judge.FailProblem}},
		{"no problem", "sha256:" + noProblem, nil, judge.Failed{Kind: judge.FailProblem}},
		{"other bytes", good, func(s *store) { s.bytes = func() []byte { return []byte("other") } }, judge.Failed{Kind: judge.FailProblem}},
		{"store fails", good, func(s *store) { s.fail = errors.New("connection refused") }, judge.Failed{Kind: judge.FailStorage, Retryable: true}},
		{"larger than the cache", large, nil, judge.Failed{Kind: judge.FailStorage, Retryable: true}},
	}
	for _, tt := range tests {
		mine := &store{Memory: s.Memory}
		if tt.store != nil {
			tt.store(mine)
		}
		dir := t.TempDir()
		c := open(t, mine, dir, judge.MiB)
		_, _, err := c.Get(t.Context(), tt.pkg)
		var got *judge.Failed
		if !errors.As(err, &got) || got.Kind != tt.want.Kind || got.Retryable != tt.want.Retryable || got.Reason == "" {
			t.Errorf("%s: Get() = %v, want %s, retryable %v", tt.name, err, tt.want.Kind, tt.want.Retryable)
		}
		if n := diskUse(t, dir); n != 0 {
			t.Errorf("%s: %d bytes are left", tt.name, n)
		}
		mine.fail, mine.bytes = nil, nil
		use(t, c, good, "good") // a failure is not remembered
	}
}

func TestDamagedOnTheWayIsFetchedAgain(t *testing.T) {
	t.Parallel()
	s := newStore()
	pkg := s.add(t, "one", 10)
	s.bytes = func() []byte {
		if s.gets.Load() == 1 {
			return []byte("cut")
		}
		return nil
	}
	use(t, open(t, s, t.TempDir(), 0), pkg, "one")
	if n := s.gets.Load(); n != 2 {
		t.Errorf("fetched %d times, want twice", n)
	}
}

func TestWaitersComeAndGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		pkg := s.add(t, "one", 10)
		land := make(chan struct{})
		fetchEnded := 0
		s.wait = func(ctx context.Context) error {
			select {
			case <-land:
				return nil
			case <-ctx.Done():
				fetchEnded++
				return context.Cause(ctx)
			}
		}
		dir := t.TempDir()
		c := open(t, s, dir, 0)
		why := errors.New("lease lost")
		wait := func() (cancel context.CancelCauseFunc, got chan error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			got = make(chan error, 1)
			go func() {
				_, release, err := c.Get(ctx, pkg)
				if err == nil {
					release()
				}
				got <- err
			}()
			synctest.Wait()
			return cancel, got
		}
		// The one who started it leaves; the other one still gets it.
		cancelFirst, first := wait()
		_, second := wait()
		cancelFirst(why)
		if err := <-first; !errors.Is(err, why) {
			t.Errorf("who left got %v, want the cause", err)
		}
		close(land)
		if err := <-second; err != nil {
			t.Errorf("who stayed got %v", err)
		}
		if s.gets.Load() != 1 || fetchEnded != 0 {
			t.Errorf("%d fetches, %d ended, want one that landed", s.gets.Load(), fetchEnded)
		}
		// When all leave, the fetch ends and leaves nothing.
		land = make(chan struct{})
		pkg = s.add(t, "two", 10)
		before := diskUse(t, dir)
		cancelThird, third := wait()
		cancelThird(why)
		<-third
		synctest.Wait()
		if fetchEnded != 1 || diskUse(t, dir) != before {
			t.Errorf("%d fetches ended, %d bytes more on disk", fetchEnded, diskUse(t, dir)-before)
		}
	})
}

func TestEvictsWhatWasUsedLongestAgo(t *testing.T) {
	t.Parallel()
	s := newStore()
	const size = 100 << 10
	dir := t.TempDir()
	c := open(t, s, dir, 300<<10) // two, not three
	var pkgs []string
	for _, name := range []string{"a", "b", "c"} {
		pkgs = append(pkgs, s.add(t, name, size))
	}
	use(t, c, pkgs[0], "a")
	use(t, c, pkgs[1], "b")
	use(t, c, pkgs[0], "a")
	use(t, c, pkgs[2], "c") // b goes
	if n := diskUse(t, dir); n > 300<<10 {
		t.Errorf("%d bytes on disk, over the bound", n)
	}
	before := s.gets.Load()
	use(t, c, pkgs[0], "a")
	use(t, c, pkgs[2], "c")
	if n := s.gets.Load() - before; n != 0 {
		t.Errorf("%d fetches of what should be there", n)
	}
	use(t, c, pkgs[1], "b")
	if n := s.gets.Load() - before; n != 1 {
		t.Errorf("%d fetches of what should be gone, want 1", n)
	}
}

func TestWaitsWhileAllIsInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		dir := t.TempDir()
		c := open(t, s, dir, 150<<10)
		a, b := s.add(t, "a", 100<<10), s.add(t, "b", 100<<10)
		p, release := get(t, c, a, "a")
		done := make(chan struct{})
		go func() {
			defer close(done)
			use(t, c, b, "b")
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Error("two problems in a cache for one")
		default:
		}
		checkAnswer(t, p, "a")
		// What is in use is no candidate for eviction: it is still known.
		before := s.gets.Load()
		use(t, c, a, "a")
		if n := s.gets.Load() - before; n != 0 {
			t.Errorf("%d fetches of what is in use", n)
		}
		// One that gives up waiting leaves the others alone.
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("drained")
		gaveUp := make(chan error, 1)
		go func() {
			_, _, err := c.Get(ctx, s.add(t, "c", 100<<10))
			gaveUp <- err
		}()
		synctest.Wait()
		cancel(why)
		if err := <-gaveUp; !errors.Is(err, why) {
			t.Errorf("Get() = %v, want the cause", err)
		}
		release()
		<-done
		synctest.Wait()
		if n := diskUse(t, dir); n > 150<<10 {
			t.Errorf("%d bytes on disk, over the bound", n)
		}
	})
}

func TestDamagedOnDisk(t *testing.T) {
	t.Parallel()
	for _, damage := range []func(string) error{
		os.Remove,
		func(file string) error { return os.WriteFile(file, []byte("x\n"), 0o644) },
		func(file string) error { return os.Truncate(file, 0) },
		func(file string) error { return errors.Join(os.Remove(file), os.Symlink("/dev/zero", file)) },
	} {
		s := newStore()
		pkg := s.add(t, "one", 10)
		dir := t.TempDir()
		c := open(t, s, dir, 0)
		_, release := get(t, c, pkg, "one")
		if err := damage(caseFile(t, dir, pkg)); err != nil {
			t.Fatal(err)
		}
		use(t, c, pkg, "one")
		if n := s.gets.Load(); n != 2 {
			t.Errorf("fetched %d times, want twice", n)
		}
		release()
		caseFile(t, dir, pkg) // one copy is left
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	s := newStore()
	dir := t.TempDir()
	var pkgs []string
	for i := range 3 {
		pkgs = append(pkgs, s.add(t, fmt.Sprint(i), 10<<10))
	}
	c := open(t, s, dir, 0)
	for i, pkg := range pkgs {
		use(t, c, pkg, fmt.Sprint(i))
	}
	if _, err := cache.New(cache.Config{Store: s, Dir: dir}); err == nil || !strings.Contains(err.Error(), "another process uses it") {
		t.Errorf("a second cache in the directory: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Get(t.Context(), "sha256:"+strings.Repeat("0", 64)); err == nil {
		t.Error("Get after Close = nil")
	}
	// What a crash or an accident may leave.
	file := caseFile(t, dir, pkgs[1])
	if err := os.WriteFile(file, []byte("9\n"), 0o644); err != nil { // as long as before
		t.Fatal(err)
	}
	half := filepath.Join(dir, strings.Repeat("a", 64)+".half")
	if err := errors.Join(os.MkdirAll(filepath.Join(half, "data"), 0o755), os.Mkdir(filepath.Join(dir, "stray"), 0o755)); err != nil {
		t.Fatal(err)
	}

	before := s.gets.Load()
	c = open(t, s, dir, 0)
	s.fail = errors.New("the store is down")
	use(t, c, pkgs[0], "0")
	use(t, c, pkgs[0], "0")
	use(t, c, pkgs[2], "2")
	if n := s.gets.Load() - before; n != 0 {
		t.Errorf("%d fetches of what should have survived", n)
	}
	s.fail = nil
	use(t, c, pkgs[1], "1")
	if n := s.gets.Load() - before; n != 1 {
		t.Errorf("%d fetches of the damaged one, want 1", n)
	}
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half an entry is still there: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	// A lower bound: the one used last stays.
	c = open(t, s, dir, 40<<10)
	before = s.gets.Load()
	use(t, c, pkgs[1], "1")
	if n := s.gets.Load() - before; n != 0 || diskUse(t, dir) > 40<<10 {
		t.Errorf("%d fetches, %d bytes on disk", n, diskUse(t, dir))
	}
}
