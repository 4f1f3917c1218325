package blob_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"judgefarm/internal/blob"
)

func openDirectory(t *testing.T) (*blob.Directory, string) {
	t.Helper()
	dir := t.TempDir()
	d, err := blob.NewDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, dir
}

func TestDirectoryFollowsNoLink(t *testing.T) {
	t.Parallel()
	d, dir := openDirectory(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"folder": outside, "file": filepath.Join(outside, "secret"), "inner": filepath.Join(dir, "real"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Put(t.Context(), "real/x", strings.NewReader("x"), 1, ""); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"folder/secret", "file", "inner/x"} {
		if r, _, err := d.Get(t.Context(), key); err == nil {
			data, _ := io.ReadAll(r)
			t.Errorf("Get(%s) followed a link and read %q", key, data)
		}
	}
	if err := d.Put(t.Context(), "folder/new", strings.NewReader("x"), 1, ""); err == nil {
		t.Error("Put followed a link")
	}
	// To Delete nothing is there, which is no error.
	if err := d.Delete(t.Context(), "folder/secret"); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadDir(outside); err != nil || len(got) != 1 {
		t.Errorf("outside there is %v, %v, want the secret alone", got, err)
	}
	if keys, err := d.List(t.Context(), "", "", 10); err != nil || len(keys) != 1 || keys[0] != "real/x" {
		t.Errorf("List() = %q, %v, want real/x", keys, err)
	}
	// A link in the place of an object is replaced, never written through.
	if err := d.Put(t.Context(), "file", strings.NewReader("new"), 3, ""); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(got) != "s" {
		t.Errorf("the link's target holds %q, %v", got, err)
	}
}

func TestDirectoryOpensNoFifo(t *testing.T) {
	t.Parallel()
	d, dir := openDirectory(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Get(t.Context(), "fifo"); err == nil || errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Get of a fifo = %v", err)
	}
}

func TestDirectoryLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	d, dir := openDirectory(t)
	if err := d.Put(t.Context(), "k", strings.NewReader("short"), 10, ""); !errors.Is(err, blob.ErrSize) {
		t.Fatal(err)
	}
	if err := d.Put(t.Context(), "k", strings.NewReader("fine"), 4, ""); err != nil {
		t.Fatal(err)
	}
	if err := d.Put(t.Context(), "k/below", strings.NewReader("fine"), 4, ""); err == nil {
		t.Error("a key below another key was stored")
	}
	if err := d.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(dir, ".tmp"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDirectorySweepsWhatACrashLeft(t *testing.T) {
	t.Parallel()
	_, dir := openDirectory(t)
	for name, age := range map[string]time.Duration{"old": 25 * time.Hour, "young": time.Hour} {
		path := filepath.Join(dir, ".tmp", name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	again, err := blob.NewDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	left, err := os.ReadDir(filepath.Join(dir, ".tmp"))
	if err != nil || len(left) != 1 || left[0].Name() != "young" {
		t.Errorf("left %v, %v, want the young one", left, err)
	}
}

func TestDirectoryNotReady(t *testing.T) {
	t.Parallel()
	d, dir := openDirectory(t)
	if err := os.RemoveAll(filepath.Join(dir, ".tmp")); err != nil {
		t.Fatal(err)
	}
	if err := d.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "make it writable") {
		t.Errorf("Ready() = %v, want the directory and the fix", err)
	}
}
