package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"judgefarm/internal/daemon"
	"judgefarm/judge"
)

// leastDisk is the free space without which executables and problems cannot be kept.
const leastDisk = 16 * judge.MiB

// diskCheck is the check that the cache directory takes files.
func diskCheck(dir string) daemon.Check {
	return daemon.Check{
		Name: "cache", Run: func(context.Context) error { return writable(dir) },
		Fix: "free some space there, lower --cache-size, or choose another --cache-dir",
	}
}

func writable(dir string) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("look at cache directory %s: %w", dir, err)
	}
	if free := judge.Bytes(fs.Bavail) * judge.Bytes(fs.Bsize); free < leastDisk {
		return fmt.Errorf("cache directory %s has %d MiB free, needs %d MiB", dir, free/judge.MiB, leastDisk/judge.MiB)
	}
	// Quotas, inodes and read-only file systems show only when one writes.
	f, err := os.CreateTemp(dir, "writable-")
	if err != nil {
		return fmt.Errorf("write to cache directory: %w", err)
	}
	_, err = f.Write(make([]byte, 4096))
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("write to cache directory: %w", err)
	}
	return nil
}
