package blob_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"judgefarm/internal/blob"
	"judgefarm/internal/testenv"
)

func TestS3SurvivesRestart(t *testing.T) {
	t.Parallel()
	srv := testenv.S3(t)
	s := openReal(t, srv)
	if err := s.Put(t.Context(), "a/b", strings.NewReader("kept"), 4, ""); err != nil {
		t.Fatal(err)
	}
	srv.Kill()
	if _, err := s.Stat(t.Context(), "a/b"); err == nil || errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Stat without a server = %v, want an error that is not ErrNotFound", err)
	}
	if err := s.Put(t.Context(), "a/c", strings.NewReader("lost"), 4, ""); err == nil {
		t.Error("Put without a server = nil")
	}
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "check that the service runs") {
		t.Errorf("Ready without a server = %v, want the fix", err)
	}
	srv.Start(t)
	r, size, err := s.Get(t.Context(), "a/b")
	if err != nil || size != 4 {
		t.Fatalf("Get after the restart = %d, %v", size, err)
	}
	defer r.Close()
	if data, err := io.ReadAll(r); string(data) != "kept" || err != nil {
		t.Errorf("body %q, %v", data, err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("Ready after the restart = %v", err)
	}
}

func TestS3ReadyNamesTheFix(t *testing.T) {
	t.Parallel()
	srv := testenv.S3(t)
	good := blob.Config{URL: srv.URL(), Region: srv.Region, AccessKey: srv.AccessKey, SecretKey: srv.SecretKey}
	tests := []struct {
		name   string
		change func(c *blob.Config)
		want   []string
	}{
		{"no bucket", func(c *blob.Config) { c.URL = "http://" + srv.Endpoint + "/nothing-here" }, []string{"nothing-here", "does not exist: create it"}},
		{"wrong secret", func(c *blob.Config) { c.SecretKey = "wrong-secret" }, []string{"secret key"}},
		{"wrong key", func(c *blob.Config) { c.AccessKey = "nobody" }, []string{"access key"}},
		{"no tls there", func(c *blob.Config) { c.URL = strings.Replace(c.URL, "http:", "https:", 1) }, []string{"write http://"}},
		{"unknown host", func(c *blob.Config) { c.URL = "http://no-such-host.invalid/bucket" }, []string{"host name is unknown"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := good
			tt.change(&cfg)
			s, err := blob.Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			err = s.Ready(t.Context())
			if err == nil {
				t.Fatal("Ready() = nil")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Ready() = %v, lacks %q", err, want)
				}
			}
		})
	}
}

func TestS3NeedsToWrite(t *testing.T) {
	t.Parallel()
	srv := testenv.S3(t)
	if err := os.Chmod(filepath.Join(srv.Dir, srv.Bucket), 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		srv.Restart(t, "--readonly") // root writes whatever the mode says
	}
	if err := openReal(t, srv).Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "write to bucket") {
		t.Errorf("Ready of a bucket that cannot be written = %v", err)
	}
}

// flaky answers with each status of the script once, then with 200.
func flaky(t *testing.T, script ...int) (cfg blob.Config, calls *atomic.Int64, bodies *[]string) {
	t.Helper()
	calls, bodies = new(atomic.Int64), new([]string)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*bodies = append(*bodies, string(body))
		n := int(calls.Add(1))
		if n > len(script) {
			w.Header().Set("ETag", `"x"`)
			return
		}
		w.WriteHeader(script[n-1])
	}))
	t.Cleanup(srv.Close)
	return blob.Config{URL: srv.URL + "/bucket", AccessKey: "a", SecretKey: "s"}, calls, bodies
}

func TestS3TriesAgain(t *testing.T) {
	t.Parallel()
	seekable := func() io.Reader { // and read from the middle on
		r := strings.NewReader("skip hello")
		if _, err := r.Seek(5, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		return r
	}
	stream := func() io.Reader { return io.LimitReader(strings.NewReader("hello"), 5) }
	tests := []struct {
		name   string
		script []int
		source func() io.Reader
		calls  int64
		ok     bool
	}{
		{"passing", []int{503, 500}, seekable, 3, true},
		{"too long", []int{503, 503, 503, 503, 503}, seekable, 4, false},
		{"refused", []int{403}, seekable, 1, false},
		{"stream cannot be read twice", []int{503}, stream, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, calls, bodies := flaky(t, tt.script...)
			s, err := blob.Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			err = s.Put(t.Context(), "k", tt.source(), 5, "")
			if (err == nil) != tt.ok || calls.Load() != tt.calls {
				t.Errorf("Put() = %v after %d calls, want success %v after %d", err, calls.Load(), tt.ok, tt.calls)
			}
			for _, body := range *bodies {
				if !strings.Contains(body, "hello") || strings.Contains(body, "skip") {
					t.Errorf("a try sent %q", body)
				}
			}
		})
	}
}

func TestS3CutDownload(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(1000))
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		_, _ = w.Write(bytes.Repeat([]byte("x"), 500))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(srv.Close)
	s, err := blob.Open(blob.Config{URL: srv.URL + "/bucket", AccessKey: "a", SecretKey: "s"})
	if err != nil {
		t.Fatal(err)
	}
	r, size, err := s.Get(t.Context(), "k")
	if err != nil || size != 1000 {
		t.Fatalf("Get() = %d, %v", size, err)
	}
	defer r.Close()
	if data, err := io.ReadAll(r); err == nil {
		t.Errorf("read %d of 1000 bytes without an error", len(data))
	}
}
