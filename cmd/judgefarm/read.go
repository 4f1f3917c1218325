package main

import (
	"io"
	"os"

	"judgefarm/internal/daemon"
	"judgefarm/judge"
)

// Bounds of what is read into memory from files that a user names.
const (
	maxSource = 64 * judge.MiB
	maxData   = 256 * judge.MiB
)

// readFile reads a file that the flag names, a pipe or device too, up to the bound.
func readFile(flag, path string, most judge.Bytes) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, daemon.Usage("%s: %w", flag, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil {
		return nil, daemon.Usage("%s: %w", flag, err)
	}
	if judge.Bytes(len(data)) > most {
		return nil, daemon.Usage("%s: %s has more than %d MiB", flag, path, most/judge.MiB)
	}
	return data, nil
}
