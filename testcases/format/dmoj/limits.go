package dmoj

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"judgefarm/judge"
)

// maxLimits bounds the file of limits.
const maxLimits = 4 << 20

// Limits of one problem, as a site of DMOJ keeps them in its database.
type Limits struct {
	CPU    time.Duration
	Memory judge.Bytes
	Points *judge.Score // of the problem; nil: as many as its cases have
}

// ReadLimits reads a file of lines "problem,time,memory" or "problem,time,memory,points",
// by problem code: seconds, KiB, and what the problem is worth. Blanks around values,
// empty lines and lines that start with # do not count, and the first line may name the
// columns. Faults are a *judge.BadRequest that names the file and the line.
func ReadLimits(file string) (map[string]Limits, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read limits: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxLimits+1))
	if err != nil {
		return nil, fmt.Errorf("read limits: %w", err)
	}
	name := filepath.Base(file)
	if len(b) > maxLimits {
		return nil, judge.Refuse(&judge.FieldError{Field: name, Reason: fmt.Sprintf("must be at most %d bytes", maxLimits)})
	}
	return parseLimits(name, b)
}

func parseLimits(name string, text []byte) (map[string]Limits, error) {
	all := map[string]Limits{}
	var faults []*judge.FieldError
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	lines.Buffer(nil, maxLimits+1)
	for line := 1; lines.Scan(); line++ {
		row := strings.Split(lines.Text(), ",")
		for i := range row {
			row[i] = strings.Trim(strings.TrimSpace(row[i]), `"`)
		}
		if len(row) == 1 && row[0] == "" || strings.HasPrefix(row[0], "#") || len(all) == 0 && heading(row) {
			continue
		}
		refuse := func(format string, args ...any) {
			if len(faults) < 100 {
				faults = append(faults, &judge.FieldError{Field: name, Reason: fmt.Sprintf("line %d: ", line) + fmt.Sprintf(format, args...)})
			}
		}
		if len(row) < 3 || len(row) > 4 {
			refuse("must be problem,time,memory or problem,time,memory,points, is %.64q", lines.Text())
			continue
		}
		if _, twice := all[row[0]]; twice || row[0] == "" {
			refuse("problem %.64q must be there once, with its code", row[0])
		}
		all[row[0]] = limitsOf(row, refuse)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read limits: %w", err)
	}
	return all, judge.Refuse(faults...)
}

// heading tells the line that names the columns.
func heading(row []string) bool {
	return len(row) >= 3 && strings.Trim(row[1], "0123456789.") != "" && strings.HasPrefix(strings.ToLower(row[1]), "time")
}

func limitsOf(row []string, refuse func(string, ...any)) Limits {
	var l Limits
	var err error
	if l.CPU, err = seconds(row[1]); err != nil {
		refuse("time %v", err)
	}
	if l.Memory, err = kibibytes(row[2]); err != nil {
		refuse("memory %v", err)
	}
	if len(row) > 3 && row[3] != "" {
		s, err := judge.ParseScore(row[3])
		if err != nil || s.Sign() < 0 {
			refuse("points must be a decimal number that is not less than 0, is %.64q", row[3])
		}
		l.Points = &s
	}
	return l
}

// seconds reads a time limit.
func seconds(text string) (time.Duration, error) {
	s, err := judge.ParseScore(text)
	d := time.Duration(math.Round(min(s.Mul(judge.ScoreOf(int64(time.Second))).Float(), math.MaxInt64/2)))
	if err != nil || d < time.Millisecond || d > time.Hour {
		return 0, fmt.Errorf("must be seconds, from 0.001 to 3600, is %.64q", text)
	}
	return d, nil
}

// leastMemory is the least that a box can be given; DMOJ's own tests ask for less to
// see that nothing fits.
const leastMemory = 4 * judge.KiB

// kibibytes reads a memory limit.
func kibibytes(text string) (judge.Bytes, error) {
	s, err := judge.ParseScore(text)
	k := s.Float()
	if err != nil || k < 1 || k > 1<<30 || k != math.Trunc(k) {
		return 0, fmt.Errorf("must be KiB, a whole number from 1 to %d, is %.64q", 1<<30, text)
	}
	return max(judge.Bytes(k)*judge.KiB, leastMemory), nil
}

// elsewhere says why a package has no limits, and what to do.
const elsewhere = "DMOJ keeps the limits of problems in its site's database, not in packages: " +
	"write problem,time,memory (seconds, KiB) to a file and name it with --limits, or put it as limits.csv into the package or beside it"

// readLimits takes the limits from the file that the options name, the package itself,
// or a file in it or beside it.
func (r *reader) readLimits() {
	if n := r.top.get("time_limit"); n != nil {
		d, err := seconds(r.doc.Text(n, "time_limit"))
		if err != nil {
			r.doc.Refuse(n, "time_limit %v", err)
		}
		r.p.Limits.CPU, r.p.Jury.Time.Origin = d, fmt.Sprintf("%s:%d", manifestName, n.Line)
	}
	if n := r.top.get("memory_limit"); n != nil {
		m, err := kibibytes(r.doc.Text(n, "memory_limit"))
		if err != nil {
			r.doc.Refuse(n, "memory_limit %v", err)
		}
		r.p.Limits.Memory = m
	}
	l, found := r.listed()
	if found && (r.opt.Limits != "" || r.p.Limits.CPU == 0) {
		r.p.Limits.CPU = l.CPU
	}
	if found && (r.opt.Limits != "" || r.p.Limits.Memory == 0) {
		r.p.Limits.Memory = l.Memory
	}
	r.sitePoints = l.Points
	if r.p.Limits.CPU == 0 || r.p.Limits.Memory == 0 {
		r.p.Jury.Time.Elsewhere = elsewhere
	}
	r.p.Jury.Time.Stated = r.p.Limits.CPU != 0
}

// listed finds the problem in a file of limits.
func (r *reader) listed() (Limits, bool) {
	file, named := r.opt.Limits, r.opt.Limits != ""
	if !named && r.Has(limitsName) {
		file = r.Path(limitsName)
	} else if !named {
		file = filepath.Join(filepath.Dir(r.Dir), limitsName)
	}
	all, err := ReadLimits(file)
	var bad *judge.BadRequest
	switch {
	case err != nil && !named && errors.Is(err, fs.ErrNotExist):
		return Limits{}, false
	case errors.As(err, &bad):
		for _, f := range bad.Faults {
			r.Refuse(f.Field, "%s", f.Reason)
		}
		return Limits{}, false
	case err != nil:
		r.Fail(err)
		return Limits{}, false
	}
	l, found := all[r.code]
	if !found && len(all) == 1 && file == r.Path(limitsName) && r.Has(limitsName) {
		for _, only := range all { // the package's own, however its folder is called
			return only, true
		}
	}
	if !found && named {
		r.Refuse(filepath.Base(file), "has no line for the problem %s", r.code)
	}
	return l, found
}
