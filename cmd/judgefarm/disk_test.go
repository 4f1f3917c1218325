package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestDiskCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check := diskCheck(dir)
	if err := check.Run(t.Context()); err != nil || check.Fix == "" {
		t.Errorf("check of an empty directory = %v with fix %q, want nil and a fix", err, check.Fix)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the check leaves %v behind, %v", left, err)
	}
	if err := diskCheck(filepath.Join(dir, "gone")).Run(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("check of a missing directory = %v, want %v", err, fs.ErrNotExist)
	}
	if err := diskCheck("/proc").Run(t.Context()); err == nil { // a file system that takes no files
		t.Error("check of /proc = nil, want an error")
	}
}
