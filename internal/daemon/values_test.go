package daemon

import (
	"fmt"
	"testing"

	"judgefarm/judge"
)

func TestParseSize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want judge.Bytes // -1: refused
	}{
		{"0", 0}, {"1", 1}, {"64K", 64 << 10}, {"64k", 64 << 10}, {"256M", 256 << 20}, {"1G", 1 << 30},
		{"2T", 2 << 40}, {"1KiB", 1024}, {"1kb", 1024}, {"12B", 12}, {"1.5M", 3 << 19}, {"64 K", 64 << 10},
		{"0.5K", 512}, {"9223372036854775807", 1<<63 - 1},
		{"", -1}, {"M", -1}, {"-1", -1}, {"+1", -1}, {"1Q", -1}, {"1.2.3M", -1}, {"1e3", -1}, {"0x10", -1},
		{"9223372036854775808", -1}, {"9999999999T", -1}, {"0.3B", -1}, {"0.0001K", -1}, {"1 M M", -1}, {".", -1},
		{"NaN", -1}, {"Inf", -1}, {" 1", -1}, {"٣", -1},
	}
	for _, tt := range tests {
		got, err := ParseSize(tt.text)
		if tt.want < 0 {
			if err == nil {
				t.Errorf("ParseSize(%q) = %d, want an error", tt.text, got)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", tt.text, got, err, tt.want)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, seed := range []string{"1", "64K", "1.5M", "9999999999T", "1e3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size, err := ParseSize(text)
		if err != nil {
			return
		}
		if again, err := ParseSize(fmt.Sprint(int64(size))); size < 0 || err != nil || again != size {
			t.Errorf("ParseSize(%q) = %d, which reads back as %d, %v", text, size, again, err)
		}
	})
}
