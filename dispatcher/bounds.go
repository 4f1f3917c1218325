package dispatcher

import (
	"time"

	"judgefarm/judge"
)

// Bounds are what a submission or an uploaded problem may be at most. What is
// over is refused, naming the field; nothing is cut or lowered.
type Bounds struct {
	Limits      judge.Limits // highest limits a request or problem may state
	Files       int          // source files of a submission
	SourceBytes judge.Bytes  // of all source files together
	Tests       int          // inline tests
	TestBytes   judge.Bytes  // stdin and expected of all inline tests together
	Labels      int          // entries; a key has at most 64 bytes, a value 512
	Package     judge.Bytes  // an uploaded problem archive
}

// DefaultBounds are used for fields that are zero.
func DefaultBounds() Bounds {
	return Bounds{
		Limits: judge.Limits{
			CPU: 5 * time.Minute, Wall: 15 * time.Minute,
			Memory: 16 * judge.GiB, Output: 256 * judge.MiB, Tasks: 4096,
		},
		Files:       100,
		SourceBytes: 4 * judge.MiB,
		Tests:       1000,
		TestBytes:   32 * judge.MiB,
		Labels:      32,
		Package:     256 * judge.MiB,
	}
}

func (b Bounds) or(d Bounds) Bounds {
	b.Limits = b.Limits.Or(d.Limits)
	for _, f := range []struct {
		v *int
		d int
	}{{&b.Files, d.Files}, {&b.Tests, d.Tests}, {&b.Labels, d.Labels}} {
		if *f.v == 0 {
			*f.v = f.d
		}
	}
	for _, f := range []struct {
		v *judge.Bytes
		d judge.Bytes
	}{{&b.SourceBytes, d.SourceBytes}, {&b.TestBytes, d.TestBytes}, {&b.Package, d.Package}} {
		if *f.v == 0 {
			*f.v = f.d
		}
	}
	return b
}

// Body is the largest JSON body that can hold a submission within the bounds:
// base64 takes 4 bytes for 3, and the rest of the document 1 MiB. Text whose
// escapes make it longer still is refused by its length; base64 always fits.
func (b Bounds) Body() judge.Bytes {
	return (b.SourceBytes+b.TestBytes)*4/3 + 1*judge.MiB
}
