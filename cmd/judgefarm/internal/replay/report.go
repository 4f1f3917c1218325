package replay

import (
	"slices"
	"sync"

	"judgefarm/judge"
)

// Row is what became of one line.
type Row struct {
	Line       int               `json:"line"`
	ID         string            `json:"id,omitempty"`
	Problem    string            `json:"problem,omitempty"`
	Language   string            `json:"language"`
	Old        judge.Verdict     `json:"old"`
	New        judge.Verdict     `json:"new,omitempty"`
	OldScore   *float64          `json:"old_score,omitempty"`
	NewScore   *float64          `json:"new_score,omitempty"`
	OldCPU     judge.Millis      `json:"old_cpu_ms,omitempty"`
	NewCPU     judge.Millis      `json:"new_cpu_ms,omitempty"`
	Agrees     bool              `json:"agrees"`
	Failed     string            `json:"failed,omitempty"` // why it was not judged
	Difference *judge.Difference `json:"difference,omitempty"`
}

// Report is the whole of a replay. Its methods may be called concurrently.
type Report struct {
	Lines  int                       `json:"lines"`
	Agree  int                       `json:"agree"`
	Differ int                       `json:"differ"`
	Failed int                       `json:"failed"` // were not judged: no word about them
	Matrix map[string]map[string]int `json:"matrix"` // old verdict, new one
	Rows   []Row                     `json:"rows"`   // that differ or failed; with All every one

	exact, all bool
	mu         sync.Mutex
}

// failedColumn is where lines that were not judged are in the matrix.
const failedColumn = "failed"

// NewReport returns an empty report. exact takes each verdict by itself, see Agree;
// all keeps rows that agree too.
func NewReport(exact, all bool) *Report {
	return &Report{Matrix: map[string]map[string]int{}, Rows: []Row{}, exact: exact, all: all}
}

// Add compares what a line earned with what it did before. err is why it was not
// judged, then j means nothing. It returns how many lines there are now.
func (r *Report) Add(l Line, j judge.Judgement, err error) int {
	was := *l.Was.Verdict
	row := Row{
		Line: l.Number, ID: l.ID, Problem: l.Request.Problem, Language: l.Request.Language, Old: was, OldScore: l.Was.Score, OldCPU: l.CPU,
	}
	column := failedColumn
	switch {
	case err != nil:
		row.Failed = err.Error()
	case j.Verdict == nil:
		row.Failed = string(j.State)
		if j.Failed != nil {
			row.Failed = string(j.Failed.Kind) + ": " + j.Failed.Reason
		}
	default:
		row.New, row.NewScore, row.NewCPU = *j.Verdict, j.Score, mostCPU(j)
		column = string(row.New)
		sameScore := row.OldScore == nil || row.NewScore == nil || *row.OldScore == *row.NewScore
		row.Agrees = Agree(was, row.New, r.exact) && sameScore
		if !row.Agrees {
			row.Difference = judge.Compare(l.Was, j)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Lines++
	switch {
	case row.Failed != "":
		r.Failed++
	case row.Agrees:
		r.Agree++
	default:
		r.Differ++
	}
	if r.Matrix[string(was)] == nil {
		r.Matrix[string(was)] = map[string]int{}
	}
	r.Matrix[string(was)][column]++
	if r.all || !row.Agrees {
		r.Rows = append(r.Rows, row)
	}
	return r.Lines
}

// Finish orders the rows by line: they came as they were judged.
func (r *Report) Finish() {
	slices.SortFunc(r.Rows, func(a, b Row) int { return a.Line - b.Line })
}

func mostCPU(j judge.Judgement) judge.Millis {
	var most judge.Millis
	for _, run := range j.Cases {
		most = max(most, run.Usage.CPU)
	}
	return most
}
