package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/cmd/judgefarm/internal/verify"
	"judgefarm/internal/blob"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

// maxRecord bounds what is remembered of one verification.
const maxRecord = 16 << 20

// stored is a farm's problems, and what is remembered of their verifications.
type stored struct {
	blobs  blob.Store
	kernel string
	now    func() time.Time
}

// openStored finds the problems that the flags ask for: all of the server's, or those named.
func (c *verifyCmd) openStored(ctx context.Context, env *daemon.Env) (*stored, []judge.ProblemInfo, error) {
	if c.Config.URL == "" {
		return nil, nil, daemon.Usage("--blobs: state where the farm of --server keeps its packages")
	}
	blobs, err := blob.Open(c.Config)
	if err != nil {
		return nil, nil, daemon.Usage("--blobs: %w", err)
	}
	server, err := c.serverFlag.open(env)
	if err != nil {
		return nil, nil, err
	}
	all, err := server.Problems(ctx)
	if err != nil {
		return nil, nil, c.answered(err)
	}
	chosen := slices.DeleteFunc(all, func(p judge.ProblemInfo) bool { return len(c.Packages) > 0 && !slices.Contains(c.Packages, p.ID) })
	for _, name := range c.Packages {
		if !slices.ContainsFunc(chosen, func(p judge.ProblemInfo) bool { return p.ID == name }) {
			return nil, nil, daemon.Usage("the farm has no problem called %q", name)
		}
	}
	kernel, err := kernelRelease()
	return &stored{blobs: blobs, kernel: kernel, now: time.Now}, chosen, err
}

func kernelRelease() (string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", fmt.Errorf("read kernel release: %w", err)
	}
	return unix.ByteSliceToString(u.Release[:]), nil
}

// fetch unpacks the package of a version into dir.
func (s *stored) fetch(ctx context.Context, info judge.ProblemInfo, dir string) (*testcases.Problem, error) {
	r, _, err := s.blobs.Get(ctx, blob.ContentKey(strings.TrimPrefix(info.Package, "sha256:")))
	if err != nil {
		return nil, fmt.Errorf("fetch problem %s: %w", info.ID, err)
	}
	defer r.Close()
	f, err := os.Create(filepath.Join(dir, "package"))
	if err != nil {
		return nil, fmt.Errorf("fetch problem %s: %w", info.ID, err)
	}
	defer f.Close()
	size, err := io.Copy(f, r)
	if err != nil {
		return nil, fmt.Errorf("fetch problem %s: %w", info.ID, err)
	}
	p, err := format.OpenArchive(f, size, filepath.Join(dir, "unpacked"))
	if err != nil {
		return nil, err
	}
	p.ID = info.ID
	return p, nil
}

// recordKey is where the last verification of a package is remembered. Problems of one
// digest may come in packages with other submissions.
func recordKey(pkg string) string {
	return "verifications/" + strings.TrimPrefix(pkg, "sha256:") + "/last.json"
}

// compare tells in the report what changed since the last verification of the
// package, nil where there was none, and remembers this one in its place.
func (s *stored) compare(ctx context.Context, pkg string, old *verify.Record, r *verify.Report) error {
	now := r.Record(s.now().UTC(), version(), s.kernel)
	if old != nil {
		r.Since, r.Changed = &old.At, old.Changes(now)
	}
	if !r.Complete {
		return nil // what could not be looked at is no news, and not worth remembering
	}
	doc, err := json.Marshal(now)
	if err != nil {
		return fmt.Errorf("remember verification: %w", err)
	}
	if err := s.blobs.Put(ctx, recordKey(pkg), bytes.NewReader(doc), int64(len(doc)), "application/json"); err != nil {
		return fmt.Errorf("remember verification: %w", err)
	}
	return nil
}

// last is what is remembered of a package, nil where nothing is.
func (s *stored) last(ctx context.Context, pkg string) (*verify.Record, error) {
	r, _, err := s.blobs.Get(ctx, recordKey(pkg))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read last verification: %w", err)
	}
	defer r.Close()
	var old verify.Record
	if err := json.NewDecoder(io.LimitReader(r, maxRecord)).Decode(&old); err != nil {
		return nil, fmt.Errorf("read last verification of %s: %w", pkg, err)
	}
	return &old, nil
}
