package judge

import (
	"math"
	"time"
)

// Bytes is a size. Sizes in flags and configuration are binary: 1M is 1,048,576.
type Bytes int64

// Binary multiples of a byte.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

// Millis is a time in milliseconds as documents show it; inside, times are
// time.Duration. The fraction carries down to the nanosecond.
type Millis float64

// MillisOf converts exactly for every duration below 104 days.
func MillisOf(d time.Duration) Millis { return Millis(float64(d) / 1e6) }

// Duration converts back, rounding to the nearest nanosecond.
func (m Millis) Duration() time.Duration { return time.Duration(math.Round(float64(m) * 1e6)) }

// Kibibytes is a size in KiB as documents show it.
type Kibibytes int64

// KibibytesOf rounds up, so that a size over a limit never reads as within it.
func KibibytesOf(b Bytes) Kibibytes { return Kibibytes((b + KiB - 1) / KiB) }

// Bytes converts back; what is more than Bytes hold is as much as they do.
func (k Kibibytes) Bytes() Bytes {
	const most = math.MaxInt64 / Kibibytes(KiB)
	return Bytes(min(max(k, -most), most)) * KiB
}
