// Package blob keeps objects by key: in an S3-compatible service, a directory or
// memory. It is the only importer of minio-go. It knows nothing of what the
// objects mean.
package blob

import (
	"context"
	"errors"
	"io"
)

// ErrNotFound is wrapped by Get and Stat for a key that holds nothing.
var ErrNotFound = errors.New("blob not found")

// ErrSize is wrapped by Put for a source of another size than stated.
var ErrSize = errors.New("source has another size than stated")

// ErrKey is wrapped by every method for a key that Store does not allow.
var ErrKey = errors.New("bad blob key")

// Store holds immutable objects. Keys are slash-separated paths of
// [A-Za-z0-9._=-] parts, 1 to 512 bytes; no part starts with a dot, and no key is
// a folder of another. Implementations are safe for concurrent use and pass
// blobtest. When Put returns nil the object is durable and every later Get sees it
// whole; a Put whose source was cut short leaves no object and keeps the old one.
type Store interface {
	// Put stores exactly size bytes of r under key, replacing what was there. A source
	// that holds less or more is refused with ErrSize.
	Put(ctx context.Context, key string, r io.Reader, size int64, contentType string) error
	// Get opens the object and tells its size. The caller closes it.
	Get(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// Stat returns the size.
	Stat(ctx context.Context, key string) (int64, error)
	// List returns up to max keys with the prefix that come after the key after, in byte order.
	List(ctx context.Context, prefix, after string, max int) ([]string, error)
	// Delete removes the object; a missing one is no error.
	Delete(ctx context.Context, key string) error
	// Ready says whether the store can be used now, with the fix where it cannot.
	Ready(ctx context.Context) error
}
