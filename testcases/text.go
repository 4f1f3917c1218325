package testcases

import (
	"io"

	"judgefarm/judge"
)

// Text is data with the line ends of text: each of CR LF, CR and LF is LF, and a last
// line gets one where it has none. Data that is so already stays what it is. All of it
// is read once.
func Text(d Data) (Data, error) {
	raw, err := d.Open()
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	t := &textReader{ReadCloser: raw}
	n, err := io.Copy(io.Discard, t)
	if err != nil {
		return nil, judge.Fail(judge.FailProblem, err)
	}
	if !t.changed {
		return d, nil
	}
	return textData{d, n}, nil
}

type textData struct {
	raw  Data
	size int64
}

func (d textData) Size() int64 { return d.size }

func (d textData) Open() (io.ReadCloser, error) {
	raw, err := d.raw.Open()
	if err != nil {
		return nil, err
	}
	return &textReader{ReadCloser: raw}, nil
}

// textReader changes line ends on the way. It never gives more than it has read, but
// for the last line feed.
type textReader struct {
	io.ReadCloser
	changed bool
	cr      bool // the last byte that was read is CR
	open    bool // the last line has no end yet
	ended   bool
}

func (t *textReader) Read(p []byte) (int, error) {
	for {
		if t.ended || len(p) == 0 {
			if t.ended {
				return 0, io.EOF
			}
			return 0, nil
		}
		n, err := t.ReadCloser.Read(p)
		kept := t.convert(p[:n])
		if err == io.EOF {
			if !t.open {
				t.ended = true
				return kept, io.EOF
			}
			if kept < len(p) {
				p[kept] = '\n'
				t.changed, t.open, t.ended = true, false, true
				return kept + 1, io.EOF
			}
			err = nil // there is room for it in the next call
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}

// convert changes b in place and returns how much of it is left.
func (t *textReader) convert(b []byte) int {
	n := 0
	for _, c := range b {
		switch {
		case c == '\n' && t.cr:
			t.cr = false
			continue // its CR has become the line's end
		case c == '\r':
			b[n] = '\n'
			t.changed, t.cr = true, true
		default:
			b[n], t.cr = c, false
		}
		t.open = b[n] != '\n'
		n++
	}
	return n
}
