package dispatcher

import (
	"fmt"
	"os"
	"path/filepath"

	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

// openPackage reads the problem in the spooled archive and packs it: workers get the
// packed form, whatever format the package is in.
func (s *Service) openPackage(dir string, upload *os.File, size int64) (*testcases.Problem, string, error) {
	unpacked := filepath.Join(dir, "unpacked")
	if err := os.Mkdir(unpacked, 0o700); err != nil {
		return nil, "", fmt.Errorf("make upload folder: %w: %w", ErrUnavailable, err)
	}
	problem, err := s.cfg.Packages.OpenArchive(upload, size, unpacked)
	if err != nil {
		return nil, "", storeError("read problem package", err)
	}
	if err := judge.Refuse(s.problemFaults(problem)...); err != nil {
		return nil, "", err
	}
	packed, err := os.Create(filepath.Join(dir, "packed"))
	if err != nil {
		return nil, "", fmt.Errorf("pack problem: %w: %w", ErrUnavailable, err)
	}
	if err := format.PackProblem(problem, packed); err != nil {
		packed.Close()
		return nil, "", storeError("pack problem", err)
	}
	if err := packed.Close(); err != nil {
		return nil, "", fmt.Errorf("pack problem: %w: %w", ErrUnavailable, err)
	}
	return problem, packed.Name(), nil
}
