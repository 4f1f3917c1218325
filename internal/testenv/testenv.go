// Package testenv starts real servers for tests: on loopback, on ports of their own,
// with their data in the test's own directory, so that packages can be tested side
// by side. A server that this machine does not have skips the test with a reason
// that begins with "missing:"; continuous integration fails on such a skip. Only
// tests import it.
package testenv

import (
	"fmt"
	"os"
	"path/filepath"
)

// moduleRoot finds the repository from a test's working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "tools", "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no tools/go.mod above the working directory")
		}
		dir = up
	}
}

// cacheDir is where built servers are kept between runs of the tests.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "judgefarm-test")
	return dir, os.MkdirAll(dir, 0o755)
}
