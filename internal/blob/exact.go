package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// exact reads a source that must hold exactly the stated count of bytes. It hands
// out the last bytes only after it has seen the end behind them, so that whoever
// sends a stated length can never complete an object of a wrong source.
type exact struct {
	ctx  context.Context // of one Put; ends reading between chunks
	src  io.Reader
	left int64
	size int64
	err  error
	// failed remembers that the source, not the other side, was at fault.
	failed error
}

func newExact(ctx context.Context, src io.Reader, size int64) *exact {
	e := &exact{ctx: ctx, src: src, left: size, size: size}
	if size < 0 {
		_ = e.fail(fmt.Errorf("%w: %d bytes are stated", ErrSize, size))
	}
	return e
}

// Read implements io.Reader.
func (e *exact) Read(p []byte) (int, error) {
	if e.err != nil || len(p) == 0 {
		return 0, e.err
	}
	if e.ctx.Err() != nil {
		return 0, e.fail(context.Cause(e.ctx))
	}
	if e.left == 0 { // an empty object, or all was handed out
		if err := e.end(); err != nil {
			return 0, e.fail(err)
		}
		e.err = io.EOF
		return 0, io.EOF
	}
	n, err := e.src.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) && e.left > 0:
		return 0, e.fail(fmt.Errorf("%w: %d bytes are stated, it ended after %d", ErrSize, e.size, e.size-e.left))
	case err != nil && !errors.Is(err, io.EOF):
		return 0, e.fail(err)
	case e.left == 0:
		if end := e.end(); end != nil {
			return 0, e.fail(end)
		}
		e.err = io.EOF
	}
	return n, nil
}

// end makes sure that nothing follows.
func (e *exact) end() error {
	var one [1]byte
	switch n, err := io.ReadFull(e.src, one[:]); {
	case n > 0:
		return fmt.Errorf("%w: %d bytes are stated, it has more", ErrSize, e.size)
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

func (e *exact) fail(err error) error {
	e.err, e.failed = err, err
	return err
}
