package judge

import (
	"encoding/base64"
	"fmt"
	"unicode/utf8"
)

// The encodings of text in documents. Bytes that are not UTF-8 travel as base64
// (RFC 4648, section 4), marked so; nothing is ever replaced.
const (
	EncodingUTF8   = "utf-8"
	EncodingBase64 = "base64"
)

// Text is bytes in a document.
type Text struct {
	Text      string `json:"text"`
	Encoding  string `json:"encoding" enum:"utf-8,base64" doc:"base64 when the bytes are not UTF-8"`
	Bytes     int64  `json:"bytes" doc:"how many bytes there were before any cut"`
	Truncated bool   `json:"truncated" doc:"the text was cut"`
}

// TextOf marks b as UTF-8 or base64. total is the count of bytes before any cut;
// a cut in the middle of a rune moves back to the rune's start.
func TextOf(b []byte, total int64) *Text {
	t := &Text{Bytes: total, Truncated: total > int64(len(b))}
	if t.Truncated {
		b = wholeRunes(b)
	}
	t.Text, t.Encoding = Encode(b)
	return t
}

// Encode returns b as text with the encoding it needed.
func Encode(b []byte) (text, encoding string) {
	if utf8.Valid(b) {
		return string(b), EncodingUTF8
	}
	return base64.StdEncoding.EncodeToString(b), EncodingBase64
}

// Decode returns the bytes of text in an encoding; "" means UTF-8.
func Decode(text, encoding string) ([]byte, error) {
	switch encoding {
	case "", EncodingUTF8:
		return []byte(text), nil
	case EncodingBase64:
		return base64.StdEncoding.DecodeString(text)
	}
	return nil, fmt.Errorf("encoding must be %q or %q, is %q", EncodingUTF8, EncodingBase64, encoding)
}

// wholeRunes drops an unfinished rune from the end.
func wholeRunes(b []byte) []byte {
	for cut := 0; cut < utf8.UTFMax && cut < len(b); cut++ {
		if r, size := utf8.DecodeLastRune(b[:len(b)-cut]); r != utf8.RuneError || size > 1 {
			if cut > 0 && utf8.FullRune(b[len(b)-cut:]) {
				return b // the tail is no unfinished rune but bytes that are not UTF-8
			}
			return b[:len(b)-cut]
		}
	}
	return b
}
