package checker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// bufferSize is all that one stream holds of its data: outputs of any size are
// compared in twice this much memory.
const bufferSize = 64 << 10

// stream reads one side of a comparison and knows where it is. After a read
// error it behaves as at the end of data, and err tells.
type stream struct {
	ctx  context.Context
	r    io.ReadCloser
	buf  []byte // a buffer of buffers
	pos  int    // buf[pos:end] is read and not consumed
	end  int
	done bool // nothing more to read
	err  error

	line   int   // of the next byte, from 1
	column int64 // of the next byte in its line, in bytes from 1
	nul    bool  // a NUL byte was read, perhaps ahead of pos

	gap *[256]bool // what separates tokens
}

// newStream starts at the first byte. The caller closes the stream.
func newStream(ctx context.Context, open func() (io.ReadCloser, error)) (*stream, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	return &stream{ctx: ctx, r: r, buf: buffers.Get().(*[bufferSize]byte)[:], line: 1, column: 1, gap: &space}, nil
}

// close gives the buffer back: what was peeked at must have been copied by then.
func (s *stream) close() {
	s.r.Close()
	buffers.Put((*[bufferSize]byte)(s.buf))
	s.buf, s.pos, s.end, s.done = nil, 0, 0, true
}

// buffers are those of streams that ended: without them two for each case would be
// most of what a worker allocates.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// fill moves what is not consumed to the front and reads until the buffer is
// full or the data ends. The rule of whole buffers keeps two streams with equal
// data in step.
func (s *stream) fill() {
	copy(s.buf, s.buf[s.pos:s.end])
	s.pos, s.end = 0, s.end-s.pos
	for s.end < len(s.buf) && !s.done {
		if s.ctx.Err() != nil {
			s.err, s.done = context.Cause(s.ctx), true
			return
		}
		n, err := s.r.Read(s.buf[s.end:])
		s.nul = s.nul || bytes.IndexByte(s.buf[s.end:s.end+n], 0) >= 0
		s.end += n
		if err != nil {
			s.done = true
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
		}
	}
}

// chunk returns bytes that are not consumed; none at the end of data.
func (s *stream) chunk() []byte {
	if s.pos == s.end && !s.done {
		s.fill()
	}
	return s.buf[s.pos:s.end]
}

// peek returns up to n bytes that are not consumed, n at most bufferSize.
func (s *stream) peek(n int) []byte {
	if s.end-s.pos < n && !s.done {
		s.fill()
	}
	return s.buf[s.pos:min(s.pos+n, s.end)]
}

// advance consumes n bytes of the chunk.
func (s *stream) advance(n int) {
	b := s.buf[s.pos : s.pos+n]
	s.pos += n
	if last := bytes.LastIndexByte(b, '\n'); last >= 0 {
		s.line += bytes.Count(b, []byte{'\n'})
		s.column = int64(len(b) - last)
		return
	}
	s.column += int64(n)
}

// skip consumes bytes of the class and reports whether any other byte follows. It
// runs once a token, mostly over one byte: hence no advance.
func (s *stream) skip(class *[256]bool) bool {
	for {
		b := s.buf[s.pos:s.end]
		for i, c := range b {
			if !class[c] {
				s.pos += i
				return true
			}
			s.column++
			if c == '\n' {
				s.line++
				s.column = 1
			}
		}
		s.pos = s.end
		if s.done {
			return false
		}
		s.fill()
	}
}

// token returns the bytes up to the next white space or the end, without
// consuming them. whole is false when the token is longer than the buffer: then
// the buffer's worth of it is returned, and after consuming that, a further call
// goes on.
func (s *stream) token() (tok []byte, whole bool) {
	n, gap := 0, s.gap
	for {
		b := s.buf[s.pos:s.end]
		for n < len(b) && !gap[b[n]] {
			n++
		}
		switch {
		case n < len(b) || s.done:
			return b[:n], true
		case n == len(s.buf):
			return b, false
		}
		s.fill()
	}
}

// consumed consumes n bytes that hold no line feed.
func (s *stream) consumed(n int) {
	s.pos += n
	s.column += int64(n)
}

// space is what separates tokens: the white space of C's isspace. blank is the
// same without the line feed, narrow what testlib knows.
var (
	space = [256]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}
	blank = [256]bool{' ': true, '\t': true, '\v': true, '\f': true, '\r': true}

	narrow = [256]bool{' ': true, '\t': true, '\n': true, '\r': true}
)
