package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// PipeLoad is one way to have the same programs talk.
type PipeLoad struct {
	Name string
	Do   func(ctx context.Context) (time.Duration, error)
}

// PipeRow is what was measured of one; Ratio is that of the medians to the first's.
type PipeRow struct {
	Name   string  `json:"name"`
	Least  float64 `json:"least_ms"`
	Median float64 `json:"median_ms"`
	Most   float64 `json:"most_ms"`
	Ratio  float64 `json:"ratio"`
}

// CheckRow is a check of one size of output.
type CheckRow struct {
	Checker       string      `json:"checker"`
	Size          judge.Bytes `json:"size_bytes"`
	Pipes         []PipeRow   `json:"pipes"`                // plain, judged
	Own           judge.Bytes `json:"grown_bytes"`          // of this process, at most
	CheckerMemory judge.Bytes `json:"checker_memory_bytes"` // of a checker of its own, else 0
}

// Pipes runs the loads in turns. One round before is not counted: caches are filled
// and boxes prepared in it.
func Pipes(ctx context.Context, rounds int, loads []PipeLoad) ([]PipeRow, error) {
	took := make([][]float64, len(loads))
	for round := range rounds + 1 {
		for i, l := range loads {
			d, err := l.Do(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", l.Name, err)
			}
			if round > 0 {
				took[i] = append(took[i], millis(d))
			}
		}
	}
	rows := make([]PipeRow, len(loads))
	for i, l := range loads {
		slices.Sort(took[i])
		rows[i] = PipeRow{Name: l.Name, Least: took[i][0], Median: took[i][rounds/2], Most: took[i][rounds-1]}
		rows[i].Ratio = rows[i].Median / rows[0].Median
	}
	return rows, nil
}

// Pour writes what the program pour prints.
func Pour(w io.Writer, size int64) error {
	out := bufio.NewWriter(w)
	for i := range size / 8 {
		fmt.Fprintf(out, "%07d\n", i%10_000_000)
	}
	return out.Flush()
}

// Reports remembers the memory of checkers, which are the runs that see a case's data
// at /judge. It is safe for concurrent use.
type Reports struct {
	mu   sync.Mutex
	most judge.Bytes
}

// Reset forgets.
func (r *Reports) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.most = 0
}

// CheckerMemory is the most that a checker used since Reset.
func (r *Reports) CheckerMemory() judge.Bytes {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most
}

// Wrap returns a runner that tells r.
func (r *Reports) Wrap(runner sandbox.Runner) sandbox.Runner { return reporting{runner, r} }

type reporting struct {
	sandbox.Runner
	to *Reports
}

func (r reporting) Run(ctx context.Context, spec sandbox.Spec) (*sandbox.Report, error) {
	rep, err := r.Runner.Run(ctx, spec)
	if err == nil && slices.ContainsFunc(spec.Mounts, func(m sandbox.Mount) bool { return m.Target == "/judge" }) {
		r.to.mu.Lock()
		defer r.to.mu.Unlock()
		r.to.most = max(r.to.most, rep.Memory)
	}
	return rep, err
}
