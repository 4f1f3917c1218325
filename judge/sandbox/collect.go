package sandbox

import "errors"

// Reasons why a file was not collected; absence is fs.ErrNotExist. Their text is
// safe to show.
var (
	ErrTooLarge   = errors.New("larger than may be collected")
	ErrNotRegular = errors.New("not a regular file")
)
