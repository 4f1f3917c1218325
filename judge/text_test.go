package judge

import (
	"bytes"
	"testing"
)

func TestTextRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		in       []byte
		encoding string
	}{
		{"empty", nil, EncodingUTF8},
		{"ascii with NUL", []byte("a\x00b\n"), EncodingUTF8},
		{"multi-byte", []byte("größe ✓"), EncodingUTF8},
		{"not utf-8", []byte{0xff, 0xfe, 'a'}, EncodingBase64},
		{"surrogate half", []byte{0xed, 0xa0, 0x80}, EncodingBase64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := TextOf(tt.in, int64(len(tt.in)))
			if got.Encoding != tt.encoding || got.Truncated {
				t.Errorf("TextOf(%q) = %+v, want encoding %s, not truncated", tt.in, got, tt.encoding)
			}
			back, err := Decode(got.Text, got.Encoding)
			if err != nil || !bytes.Equal(back, tt.in) {
				t.Errorf("Decode = %q, %v, want %q", back, err, tt.in)
			}
		})
	}
}

func TestTextCutInsideRune(t *testing.T) {
	t.Parallel()
	whole := []byte("ab✓") // the last rune has three bytes
	for cut, want := range map[int]string{2: "ab", 3: "ab", 4: "ab", 5: "ab✓"} {
		got := TextOf(whole[:cut], 100)
		if got.Text != want || got.Encoding != EncodingUTF8 || !got.Truncated || got.Bytes != 100 {
			t.Errorf("TextOf(first %d bytes, 100) = %+v, want text %q cut", cut, got, want)
		}
	}
	if got := TextOf([]byte{'a', 0xff}, 100); got.Encoding != EncodingBase64 {
		t.Errorf("TextOf(bytes that are not UTF-8, cut) = %+v, want base64", got)
	}
}

func TestCheckFileName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.py", "src/Main.java", "with blank #1.c", "größe.rs", "..a"} {
		if err := CheckFileName(name); err != nil {
			t.Errorf("CheckFileName(%q) = %v, want nil", name, err)
		}
	}
	long := string(bytes.Repeat([]byte("x"), 256))
	for _, name := range []string{"", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "a\x00b", "a\nb", `a\b`, "\xff", long} {
		if CheckFileName(name) == nil {
			t.Errorf("CheckFileName(%q) = nil, want an error", name)
		}
	}
}
