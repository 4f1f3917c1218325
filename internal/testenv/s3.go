package testenv

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// S3Server is a versitygw over a directory: a real S3 service.
type S3Server struct {
	Endpoint  string // host:port, no TLS
	Region    string
	Bucket    string // there already
	AccessKey string
	SecretKey string
	Dir       string // objects are files in Dir/Bucket

	program string
	extra   []string
	process *Process
}

// S3 starts a server with one bucket for the test and stops it at its end. The
// program is built once per machine, which may take minutes.
func S3(t testing.TB) *S3Server {
	t.Helper()
	program, err := versitygw(t.Context())
	if err != nil {
		t.Skipf("missing: versitygw cannot be built: %v", err)
	}
	s := &S3Server{
		Region: "us-east-1", Bucket: "farm-" + strings.ToLower(rand.Text()[:8]),
		AccessKey: "test-access", SecretKey: rand.Text(), Dir: t.TempDir(), program: program,
	}
	if err := os.Mkdir(filepath.Join(s.Dir, s.Bucket), 0o755); err != nil {
		t.Fatal(err)
	}
	const attempts = 5 // another process may take the free port first
	for n := 1; ; n++ {
		s.Endpoint = fmt.Sprintf("127.0.0.1:%d", FreePort(t))
		err := s.start(t.Context())
		if err == nil {
			break
		}
		if n == attempts {
			t.Fatalf("start versitygw: %v", err)
		}
	}
	t.Cleanup(s.Kill)
	return s
}

// URL is the bucket's address as judgefarm's settings take it.
func (s *S3Server) URL() string { return "http://" + s.Endpoint + "/" + s.Bucket }

// Kill ends the server at once; the objects stay.
func (s *S3Server) Kill() { s.process.Kill() }

// Start starts the server again after Kill, on the same port with the same objects.
func (s *S3Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(t.Context()); err != nil {
		t.Fatalf("start versitygw: %v", err)
	}
}

// Restart starts the server anew with extra flags of versitygw, such as "--readonly".
func (s *S3Server) Restart(t testing.TB, extra ...string) {
	t.Helper()
	s.Kill()
	s.extra = extra
	s.Start(t)
}

func (s *S3Server) start(ctx context.Context) error {
	env := []string{
		"PATH=/usr/bin:/bin", "HOME=" + s.Dir,
		"ROOT_ACCESS_KEY=" + s.AccessKey, "ROOT_SECRET_KEY=" + s.SecretKey,
	}
	args := []string{"--port", s.Endpoint, "--region", s.Region, "--health", "/health", "--quiet"}
	args = append(append(args, s.extra...), "posix", s.Dir)
	p, err := StartProcess(s.Dir, env, s.program, args...)
	if err != nil {
		return err
	}
	s.process = p
	err = p.WaitFor(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Endpoint+"/health", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("health: %s", resp.Status)
		}
		return nil
	})
	if err != nil {
		p.Kill()
	}
	return err
}
