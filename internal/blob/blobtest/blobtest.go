// Package blobtest is the conformance suite that every blob.Store passes. It is for
// tests only.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"judgefarm/internal/blob"
)

// Run runs the suite against stores that open returns: empty ones, each for one
// subtest.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	t.Helper()
	tests := []struct {
		name string
		run  func(t *testing.T, s blob.Store)
	}{
		{"round trip", roundTrip},
		{"missing", missing},
		{"overwrite", overwrite},
		{"wrong source", wrongSource},
		{"cancelled", cancelled},
		{"cancelled while putting", cancelledWhilePutting},
		{"bad keys", badKeys},
		{"list", list},
		{"list pages", listPages},
		{"concurrent", concurrent},
		{"one key by many", oneKeyByMany},
		{"content", content},
		{"ready", func(t *testing.T, s blob.Store) {
			if err := s.Ready(t.Context()); err != nil {
				t.Errorf("Ready() = %v", err)
			}
			if keys := mustList(t, s, "", "", 10); len(keys) != 0 {
				t.Errorf("Ready left %q", keys)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.run(t, open(t))
		})
	}
}

func put(ctx context.Context, s blob.Store, key string, data []byte) error {
	return s.Put(ctx, key, bytes.NewReader(data), int64(len(data)), "application/octet-stream")
}

func mustPut(t *testing.T, s blob.Store, key, data string) {
	t.Helper()
	if err := put(t.Context(), s, key, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func read(ctx context.Context, s blob.Store, key string) ([]byte, error) {
	r, size, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err == nil && int64(len(data)) != size {
		err = fmt.Errorf("size told is %d bytes, the body has %d", size, len(data))
	}
	return data, err
}

func wants(t *testing.T, s blob.Store, key, want string) {
	t.Helper()
	if got, err := read(t.Context(), s, key); err != nil || string(got) != want {
		t.Errorf("Get(%s) = %.40q, %v, want %.40q", key, got, err, want)
	}
	if size, err := s.Stat(t.Context(), key); err != nil || size != int64(len(want)) {
		t.Errorf("Stat(%s) = %d, %v, want %d", key, size, err, len(want))
	}
}

func wantsNothing(t *testing.T, s blob.Store, key string) {
	t.Helper()
	if got, err := read(t.Context(), s, key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Get(%s) = %.40q, %v, want ErrNotFound", key, got, err)
	}
	if size, err := s.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Stat(%s) = %d, %v, want ErrNotFound", key, size, err)
	}
	if keys := mustList(t, s, key, "", 10); len(keys) != 0 {
		t.Errorf("List(%s) = %q, want nothing", key, keys)
	}
}

func mustList(t *testing.T, s blob.Store, prefix, after string, max int) []string {
	t.Helper()
	keys, err := s.List(t.Context(), prefix, after, max)
	if err != nil {
		t.Fatalf("List(%q, %q, %d): %v", prefix, after, max, err)
	}
	return keys
}

func roundTrip(t *testing.T, s blob.Store) {
	for _, size := range []int{0, 1, 4095, 1<<20 + 7} {
		data := strings.Repeat("\x00\xffa\n", size/4+1)[:size]
		key := fmt.Sprintf("some/where/of-%d_bytes=x.bin", size)
		mustPut(t, s, key, data)
		wants(t, s, key, data)
	}
	// A source that is no io.Seeker and gives a byte at a time.
	if err := s.Put(t.Context(), "slow", iotest.OneByteReader(strings.NewReader("drop by drop")), 12, ""); err != nil {
		t.Fatal(err)
	}
	wants(t, s, "slow", "drop by drop")
	// A source that is read from its present position on.
	r := strings.NewReader("skipped, kept")
	if _, err := r.Seek(9, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "tail", r, 4, ""); err != nil {
		t.Fatal(err)
	}
	wants(t, s, "tail", "kept")
}

func missing(t *testing.T, s blob.Store) {
	mustPut(t, s, "a/b", "x")
	wantsNothing(t, s, "a/c")
	wantsNothing(t, s, "c/d/e")
	for _, key := range []string{"a", "a/b/c"} { // a folder; below an object
		if _, err := s.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("Stat(%s) = %v, want ErrNotFound", key, err)
		}
		if _, _, err := s.Get(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("Get(%s) = %v, want ErrNotFound", key, err)
		}
	}
	for _, key := range []string{"a/b", "a/b", "a/c", "c/d/e"} {
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("Delete(%s) = %v", key, err)
		}
	}
	wantsNothing(t, s, "a/b")
}

func overwrite(t *testing.T, s blob.Store) {
	for _, data := range []string{"first", "a second, longer one", "", "short"} {
		mustPut(t, s, "k/v", data)
		wants(t, s, "k/v", data)
	}
	if keys := mustList(t, s, "", "", 10); !slices.Equal(keys, []string{"k/v"}) {
		t.Errorf("List() = %q, want one key", keys)
	}
}

func wrongSource(t *testing.T, s blob.Store) {
	broken := errors.New("the source broke")
	const size = 200_000
	tests := []struct {
		name   string
		source func() io.Reader
		size   int64
		want   error
	}{
		{"short", func() io.Reader { return strings.NewReader(strings.Repeat("a", size-1)) }, size, blob.ErrSize},
		{"short stream", func() io.Reader { return io.LimitReader(endless{}, size-1) }, size, blob.ErrSize},
		{"empty", func() io.Reader { return strings.NewReader("") }, 1, blob.ErrSize},
		{"long", func() io.Reader { return strings.NewReader(strings.Repeat("a", size+1)) }, size, blob.ErrSize},
		{"long stream", func() io.Reader { return endless{} }, size, blob.ErrSize},
		{"more than nothing", func() io.Reader { return strings.NewReader("a") }, 0, blob.ErrSize},
		{"cut", func() io.Reader {
			return io.MultiReader(io.LimitReader(endless{}, size/2), iotest.ErrReader(broken))
		}, size, broken},
		{"cut at the end", func() io.Reader {
			return io.MultiReader(io.LimitReader(endless{}, size), iotest.ErrReader(broken))
		}, size, broken},
	}
	mustPut(t, s, "old", "old")
	for i, tt := range tests {
		fresh := fmt.Sprintf("new-%d", i)
		for _, key := range []string{fresh, "old"} {
			if err := s.Put(t.Context(), key, tt.source(), tt.size, ""); !errors.Is(err, tt.want) {
				t.Errorf("%s: Put() = %v, want %v", tt.name, err, tt.want)
			}
		}
		wantsNothing(t, s, fresh)
		wants(t, s, "old", "old")
	}
	if err := s.Put(t.Context(), "negative", strings.NewReader(""), -1, ""); err == nil {
		t.Error("Put of -1 bytes is allowed")
	}
	wantsNothing(t, s, "negative")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'e'
	}
	return len(p), nil
}

func cancelled(t *testing.T, s blob.Store) {
	mustPut(t, s, "k", "v")
	why := errors.New("because")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, _, getErr := s.Get(ctx, "k")
	_, statErr := s.Stat(ctx, "k")
	_, listErr := s.List(ctx, "", "", 1)
	for name, err := range map[string]error{
		"Put": put(ctx, s, "n", []byte("x")), "Get": getErr, "Stat": statErr, "List": listErr, "Delete": s.Delete(ctx, "k"),
	} {
		if !errors.Is(err, why) {
			t.Errorf("%s of a cancelled context = %v, want the cause", name, err)
		}
	}
	if err := s.Ready(ctx); err == nil {
		t.Error("Ready of a cancelled context = nil")
	}
	wantsNothing(t, s, "n")
	wants(t, s, "k", "v")
}

func cancelledWhilePutting(t *testing.T, s blob.Store) {
	why := errors.New("because")
	ctx, cancel := context.WithCancelCause(t.Context())
	const size = 4 << 20
	source := io.MultiReader(io.LimitReader(endless{}, size/2), cancelReader(func() { cancel(why) }), endless{})
	if err := s.Put(ctx, "n", source, size, ""); !errors.Is(err, why) {
		t.Errorf("Put() = %v, want the cause", err)
	}
	wantsNothing(t, s, "n")
}

type cancelReader func()

func (c cancelReader) Read([]byte) (int, error) { c(); return 0, io.EOF }

func badKeys(t *testing.T, s blob.Store) {
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", ".tmp/x", "a/.hidden", "a b", "a\x00b", "ä",
		"a\\b", "a\nb", "a*b", strings.Repeat("a", 256), strings.Repeat("a/", 256) + "a",
	} {
		_, _, getErr := s.Get(t.Context(), key)
		_, statErr := s.Stat(t.Context(), key)
		for name, err := range map[string]error{
			"Put": put(t.Context(), s, key, []byte("x")), "Get": getErr, "Stat": statErr, "Delete": s.Delete(t.Context(), key),
		} {
			if !errors.Is(err, blob.ErrKey) {
				t.Errorf("%s(%.20q) = %v, want ErrKey", name, key, err)
			}
		}
	}
	if keys, err := s.List(t.Context(), "a*", "", 1); !errors.Is(err, blob.ErrKey) {
		t.Errorf("List(a*) = %q, %v, want ErrKey", keys, err)
	}
	longest := strings.Repeat("a", 255) + "/" + strings.Repeat("b", 255)
	mustPut(t, s, longest, "v")
	wants(t, s, longest, "v")
}

func list(t *testing.T, s blob.Store) {
	all := []string{"a-b/1", "a.b", "a/b", "a/b.c", "a/c/d", "a0/x", "b/1", "b/10", "b/2"}
	for _, key := range slices.Backward(all) {
		mustPut(t, s, key, "v")
	}
	tests := []struct {
		prefix, after string
		max           int
		want          []string
	}{
		{"", "", 100, all},
		{"a/", "", 100, []string{"a/b", "a/b.c", "a/c/d"}},
		{"a", "", 2, []string{"a-b/1", "a.b"}},
		{"a/b", "", 100, []string{"a/b", "a/b.c"}},
		{"b/1", "", 100, []string{"b/1", "b/10"}},
		{"", "a/b", 3, []string{"a/b.c", "a/c/d", "a0/x"}},
		{"", "a/c", 1, []string{"a/c/d"}},
		{"b/", "b/10", 100, []string{"b/2"}},
		{"", "b/2", 100, nil},
		{"", "zz", 100, nil},
		{"c", "", 100, nil},
		{"", "", 0, nil},
	}
	for _, tt := range tests {
		if got := mustList(t, s, tt.prefix, tt.after, tt.max); !slices.Equal(got, tt.want) {
			t.Errorf("List(%q, %q, %d) = %q, want %q", tt.prefix, tt.after, tt.max, got, tt.want)
		}
	}
}

func listPages(t *testing.T, s blob.Store) {
	var want []string
	for i := range 25 {
		key := fmt.Sprintf("p/%d/%02d", i%3, i)
		want = append(want, key)
		mustPut(t, s, key, "v")
	}
	slices.Sort(want)
	for _, size := range []int{1, 4, 25, 26} {
		var got []string
		after := ""
		for {
			keys := mustList(t, s, "p/", after, size)
			got = append(got, keys...)
			if len(keys) < size {
				break
			}
			after = keys[len(keys)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: %q, want %q", size, got, want)
		}
	}
}

func concurrent(t *testing.T, s blob.Store) {
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			key, data := fmt.Sprintf("same/folder/%d", i), strings.Repeat(fmt.Sprint(i), 10_000)
			if err := put(t.Context(), s, key, []byte(data)); err != nil {
				t.Error(err)
				return
			}
			wants(t, s, key, data)
		})
	}
	wg.Wait()
	if got := len(mustList(t, s, "same/", "", 100)); got != 16 {
		t.Errorf("%d objects, want 16", got)
	}
}

// oneKeyByMany: whoever reads sees one of the written objects, whole.
func oneKeyByMany(t *testing.T, s blob.Store) {
	const size = 100_000
	mustPut(t, s, "k", strings.Repeat("0", size))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 5 {
				if err := put(t.Context(), s, "k", bytes.Repeat([]byte{byte('1' + i)}, size)); err != nil {
					t.Errorf("put: %v", err)
				}
			}
		})
		wg.Go(func() {
			for range 5 {
				got, err := read(t.Context(), s, "k")
				if err != nil || len(got) != size || len(bytes.Trim(got, string(got[:1]))) != 0 {
					t.Errorf("read %d bytes, %v, want one whole object", len(got), err)
				}
			}
		})
	}
	wg.Wait()
}

func content(t *testing.T, s blob.Store) {
	digest := blob.Digest([]byte("abc"))
	if want := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; digest != want {
		t.Fatalf("Digest() = %s, want %s", digest, want)
	}
	for range 2 { // the second time it is there already
		if err := put(t.Context(), s, blob.ContentKey(digest), []byte("abc")); err != nil {
			t.Fatal(err)
		}
		wants(t, s, "sha256/ba/"+digest, "abc")
	}
}
