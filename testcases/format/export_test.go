package format

import (
	"io"

	"judgefarm/testcases"
)

// OpenSmall is OpenArchive with bounds of 1 MiB, 2 MiB in all, and 20 files.
func OpenSmall(r io.ReaderAt, size int64, dir string) (*testcases.Problem, error) {
	return Options{}.openArchive(r, size, dir, bounds{total: 2 << 20, small: 1 << 20, ratio: 300, files: 20})
}
