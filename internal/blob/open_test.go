package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"judgefarm/internal/blob"
)

// Not parallel: it sets variables.
func TestOpenFaults(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		cfg  blob.Config
		want string
	}{
		{"nothing", blob.Config{}, "no URL"},
		{"unknown scheme", blob.Config{URL: "s3://bucket"}, "http(s)://HOST/BUCKET"},
		{"file without path", blob.Config{URL: "file:x"}, "file:///PATH"},
		{"no bucket", blob.Config{URL: "https://host"}, "HOST[:PORT]/BUCKET"},
		{"deep", blob.Config{URL: "https://host/a/b"}, "HOST[:PORT]/BUCKET"},
		{"query", blob.Config{URL: "https://host/a?x=y"}, "HOST[:PORT]/BUCKET"},
		{"credentials in the URL", blob.Config{URL: "https://me:hunter2@host/a"}, "must not hold credentials"},
		{"broken URL", blob.Config{URL: "https://me:hunter2@ho st/a"}, "cannot be read"},
		{"no credentials", blob.Config{URL: "https://host/a"}, "AWS_ACCESS_KEY_ID"},
		{"half", blob.Config{URL: "https://host/a", AccessKey: "k"}, "no secret key"},
		{"other half", blob.Config{URL: "https://host/a", SecretKey: "k"}, "no access key"},
		{"twice", blob.Config{URL: "https://host/a", AccessKey: "k", SecretKey: "s", SecretFile: empty}, "keep one"},
		{"missing file", blob.Config{URL: "https://host/a", AccessKey: "k", SecretFile: empty + "x"}, "read secret key file"},
		{"empty file", blob.Config{URL: "https://host/a", AccessKey: "k", SecretFile: empty}, "is empty"},
		{"bad bucket name", blob.Config{URL: "https://host/A_", AccessKey: "k", SecretKey: "s"}, ""},
	}
	for _, tt := range tests {
		s, err := blob.Open(tt.cfg)
		if err == nil && tt.want == "" {
			err = s.Ready(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: Open() = %v, want %q and no secret", tt.name, err, tt.want)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []blob.Config{
		{URL: "memory:"}, {URL: dir}, {URL: "file://" + dir + "/sub"},
		{URL: "https://host:9000/bucket"}, {URL: "http://host/bucket/", AccessKey: "k", SecretFile: secret},
	} {
		if s, err := blob.Open(cfg); err != nil || s == nil {
			t.Errorf("Open(%s) = %v, %v", cfg.URL, s, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "sub")); err != nil {
		t.Error("file:// opened another directory")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := blob.NewMemory(10)
	put := func(key, data string) error {
		return m.Put(t.Context(), key, strings.NewReader(data), int64(len(data)), "")
	}
	if err := errors.Join(put("a", "12345"), put("b", "12345"), put("a", "54321")); err != nil {
		t.Fatal(err)
	}
	if err := put("c", "1"); !errors.Is(err, blob.ErrFull) {
		t.Errorf("Put over the bound = %v, want ErrFull", err)
	}
	if err := errors.Join(m.Delete(t.Context(), "b"), put("c", "12345")); err != nil {
		t.Errorf("Put after Delete = %v", err)
	}
}

func TestCheckDigest(t *testing.T) {
	t.Parallel()
	good := blob.Digest(nil)
	if err := blob.CheckDigest(good); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", good[1:], good + "0", strings.ToUpper(good), "../" + good[3:], "sha256:" + good[7:]} {
		if blob.CheckDigest(bad) == nil {
			t.Errorf("CheckDigest(%q) = nil", bad)
		}
	}
	if key := blob.ContentKey(good); blob.CheckKey(key) != nil || key != "sha256/e3/"+good {
		t.Errorf("ContentKey() = %s", key)
	}
}
