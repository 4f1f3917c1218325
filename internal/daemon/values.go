package daemon

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"judgefarm/judge"

	"github.com/alecthomas/kong"
)

// ParseSize reads a size: digits, with a fraction if need be, then nothing, B, K, M,
// G or T (KiB and KB alike): all binary, 1K is 1024 bytes. It refuses what is
// negative, no whole number of bytes, or over 8 EiB.
func ParseSize(text string) (judge.Bytes, error) {
	refuse := func(why string) (judge.Bytes, error) {
		return 0, fmt.Errorf("%q is no size: %s; write bytes or a binary size such as 64K, 256M or 1G", text, why)
	}
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(text)
	}
	digits, unit := text[:end], strings.TrimSpace(text[end:])
	if digits == "" {
		return refuse("it does not start with a digit")
	}
	factor, ok := sizeUnit(unit)
	if !ok {
		return refuse(fmt.Sprintf("unknown unit %q", unit))
	}
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		if n > math.MaxInt64/factor {
			return refuse("it is over 8 EiB")
		}
		return judge.Bytes(n * factor), nil
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return refuse("the number is broken")
	}
	f *= float64(factor)
	if f >= math.MaxInt64 {
		return refuse("it is over 8 EiB")
	}
	if f != math.Trunc(f) {
		return refuse("it is no whole number of bytes")
	}
	return judge.Bytes(f), nil
}

func sizeUnit(unit string) (factor int64, ok bool) {
	switch strings.ToUpper(unit) {
	case "", "B":
		return 1, true
	case "K", "KB", "KIB":
		return 1 << 10, true
	case "M", "MB", "MIB":
		return 1 << 20, true
	case "G", "GB", "GIB":
		return 1 << 30, true
	case "T", "TB", "TIB":
		return 1 << 40, true
	}
	return 0, false
}

func decodeSize(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("size", &text); err != nil {
		return err
	}
	size, err := ParseSize(text)
	if err != nil {
		return err
	}
	target.SetInt(int64(size))
	return nil
}

// decodeDuration refuses negative times and numbers without a unit, which kong's
// own mapper reads as nanoseconds when they come from a file.
func decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no duration: write a number with a unit, such as 250ms, 1.5s or 2m", text)
	case d < 0:
		return fmt.Errorf("%q is no duration: must not be negative", text)
	}
	target.SetInt(int64(d))
	return nil
}
