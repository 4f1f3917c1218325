package testenv

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// versitygw returns the path of the S3 server that tools/go.mod pins, built once for
// all packages and runs: a file lock makes the others wait for the one that builds.
func versitygw(ctx context.Context) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	pins, err := os.ReadFile(filepath.Join(root, "tools", "go.mod"))
	if err != nil {
		return "", err
	}
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, fmt.Sprintf("versitygw-%x", sha256.Sum256(pins))[:26])
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	unlock, err := lockFile(program + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(program); err == nil {
		return program, nil // another test built it meanwhile
	}
	return program, build(ctx, root, program)
}

func build(ctx context.Context, root, program string) error {
	unfinished := program + ".new"
	cmd := exec.CommandContext(ctx, "go", "build", "-modfile=tools/go.mod", "-o", unfinished,
		"github.com/versity/versitygw/cmd/versitygw")
	cmd.Dir = root
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOFLAGS=") { // it may name another modfile
			cmd.Env = append(cmd.Env, v)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return os.Rename(unfinished, program)
}

// lockFile waits for the lock; see flock(2). The file stays: removing it would let
// two holders in.
func lockFile(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = f.Close() }, nil
}
