package checker

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
)

// memory is a stream that gets its bytes one at a time.
func memory(t *testing.T, b []byte) *stream {
	t.Helper()
	s, err := newStream(t.Context(), func() (io.ReadCloser, error) {
		return io.NopCloser(iotest.OneByteReader(bytes.NewReader(b))), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
