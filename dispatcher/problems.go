package dispatcher

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// maxUploads is how many PutProblem run at one time: each needs disk for the archive,
// twice, and what is in it.
const maxUploads = 4

// uploadWait is how long one more waits for the end of one of them: that may take as
// long as its sender likes.
const uploadWait = 10 * time.Second

// ErrTooLarge is wrapped by PutProblem for an archive over Bounds.Package, ErrBusy where
// as many are received as may be at one time.
var (
	ErrTooLarge = errors.New("archive is too large")
	ErrBusy     = errors.New("too many problems are being uploaded")
)

// PutProblem makes the archive (zip or tar.gz, any format that testcases/format
// knows) the current version of a problem; the package that is current already makes
// no new one. Submissions that were accepted before are judged against the version
// they came with. Every fault of the package is in one *judge.BadRequest; else errors
// wrap ErrTooLarge, ErrBusy, ErrProblemsFull or ErrUnavailable.
func (s *Service) PutProblem(ctx context.Context, id string, archive io.Reader) (judge.ProblemInfo, error) {
	if err := checkProblemID(id); err != nil {
		return judge.ProblemInfo{}, err
	}
	turn := time.NewTimer(uploadWait)
	defer turn.Stop()
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	case <-turn.C:
		return judge.ProblemInfo{}, fmt.Errorf("upload problem %s: %w", id, ErrBusy)
	case <-ctx.Done():
		return judge.ProblemInfo{}, context.Cause(ctx)
	}
	dir, err := os.MkdirTemp("", "judgefarm-upload-")
	if err != nil {
		return judge.ProblemInfo{}, fmt.Errorf("make upload folder: %w: %w", ErrUnavailable, err)
	}
	defer os.RemoveAll(dir)
	problem, packed, err := s.readPackage(dir, archive)
	if err != nil {
		return judge.ProblemInfo{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, problemsTimeout, errSlow)
	defer cancel()
	digest, err := s.storePackage(ctx, packed)
	if err != nil {
		return judge.ProblemInfo{}, err
	}
	info := describeProblem(id, digest, problem)
	info.UpdatedAt = s.cfg.Now().UTC()
	return s.nameProblem(ctx, info)
}

// readPackage spools the archive, reads and checks the problem in it and returns
// the path of its canonical form.
func (s *Service) readPackage(dir string, archive io.Reader) (*testcases.Problem, string, error) {
	upload, err := os.Create(filepath.Join(dir, "upload"))
	if err != nil {
		return nil, "", fmt.Errorf("spool upload: %w: %w", ErrUnavailable, err)
	}
	defer upload.Close()
	most := int64(s.cfg.Bounds.Package)
	size, err := io.Copy(upload, io.LimitReader(archive, most+1))
	if err != nil {
		return nil, "", fmt.Errorf("spool upload: %w", err)
	}
	if size > most {
		return nil, "", fmt.Errorf("%w: more than %d bytes", ErrTooLarge, most)
	}
	return s.openPackage(dir, upload, size)
}

// Bounds of what is told of a version in text. All versions of a name are one document
// of at most maxCopy bytes: with more, the name could be neither changed nor restored.
const (
	maxName = 1 << 10
	maxArgs = 4 << 10 // of the checker, together
)

// problemFaults are what this server refuses in a problem that is right by itself.
func (s *Service) problemFaults(p *testcases.Problem) []*judge.FieldError {
	faults := overBounds(p.Limits, s.cfg.Bounds.Limits)
	if n := len(p.Name); n > maxName {
		faults = append(faults, &judge.FieldError{Field: "name", Reason: fmt.Sprintf("must be at most %d bytes, is %d", maxName, n)})
	}
	if n := len(strings.Join(p.Checker.Args, " ")); n > maxArgs {
		faults = append(faults, &judge.FieldError{Field: "checker.args", Reason: fmt.Sprintf("must be at most %d bytes together, are %d", maxArgs, n)})
	}
	for _, own := range p.CheckerPrograms() {
		if own.Language == "" {
			continue
		}
		if _, known := s.cfg.Language(own.Language); !known {
			faults = append(faults, &judge.FieldError{Field: "checker.language",
				Reason: fmt.Sprintf("is not known: %.64q; GET /v1/languages lists them", own.Language)})
		}
	}
	return faults
}

// storePackage stores the file under its digest and returns that.
func (s *Service) storePackage(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read packed problem: %w: %w", ErrUnavailable, err)
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", fmt.Errorf("read packed problem: %w: %w", ErrUnavailable, err)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if err := s.claim(ctx, "sha256:"+sum); err != nil {
		return "", err
	}
	if err := s.cfg.Blobs.Put(ctx, blob.ContentKey(sum), f, size, "application/octet-stream"); err != nil {
		return "", storeError("store packed problem", err)
	}
	return "sha256:" + sum, nil
}

func describeProblem(id, digest string, p *testcases.Problem) judge.ProblemInfo {
	info := judge.ProblemInfo{
		ID: id, Name: p.Name, Digest: p.Digest, Package: digest,
		Limits: p.Limits.JSON(), Checker: p.Checker,
	}
	if info.Checker.Name == "" {
		info.Checker.Name = testcases.DefaultChecker
	}
	for _, c := range p.Cases() {
		info.Cases++
		if c.Sample {
			info.Samples++
		}
	}
	return info
}

func checkProblemID(id string) error {
	reason := testcases.CheckName(id)
	switch {
	case reason == "" && strings.Contains(id, "/"):
		reason = "must not have a slash"
	case reason == "" && len(id) > 128:
		reason = fmt.Sprintf("must be at most 128 bytes, is %d", len(id))
	}
	if reason == "" {
		return nil
	}
	return judge.Refuse(&judge.FieldError{Field: "id", Reason: reason})
}
