package polygon

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"judgefarm/testcases"
)

// lineFeeds gives data whose line ends are all those of Windows line feeds instead: it
// is what a program there reads and prints. Other data is handed back as it is.
func lineFeeds(d testcases.Data) (text testcases.Data, converted bool, err error) {
	r, err := d.Open()
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	var ends int64
	last := byte(0)
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				last = rest[len(rest)-1]
				break
			}
			if i > 0 {
				last = rest[i-1]
			}
			if last != '\r' {
				return d, false, nil
			}
			ends++
			last, rest = '\n', rest[i+1:]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	if ends == 0 {
		return d, false, nil
	}
	return unixData{d, d.Size() - ends}, true, nil
}

// unixData is data without the carriage returns before its line feeds.
type unixData struct {
	windows testcases.Data
	size    int64
}

func (d unixData) Size() int64 { return d.size }

func (d unixData) Open() (io.ReadCloser, error) {
	r, err := d.windows.Open()
	if err != nil {
		return nil, err
	}
	return &unixReader{Closer: r, r: bufio.NewReaderSize(r, 64<<10)}, nil
}

type unixReader struct {
	io.Closer
	r *bufio.Reader
}

func (u *unixReader) Read(b []byte) (n int, err error) {
	for n < len(b) {
		c, err := u.r.ReadByte()
		if err != nil {
			if n > 0 && errors.Is(err, io.EOF) {
				return n, nil
			}
			return n, err
		}
		if c == '\r' {
			if next, err := u.r.Peek(1); err == nil && next[0] == '\n' {
				continue
			}
		}
		b[n] = c
		n++
	}
	return n, nil
}
