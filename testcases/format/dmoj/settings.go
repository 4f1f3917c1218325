package dmoj

import (
	"math"
	"path"
	"time"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// What DMOJ judges with where a package states nothing.
const (
	defaultOutput = 24 * judge.MiB
	defaultWall   = 3 // times the CPU limit
)

// readSettings reads what is said of all runs.
func (r *reader) readSettings() {
	p, top := r.p, r.top
	p.Limits.Output = r.output(top)
	p.Unbuffered = top.truth("unbuffered", false)
	p.Limits.Wall = r.wall(top)
	for _, hint := range top.list("hints") {
		r.doc.Note(top.get("hints"), "hint %.40q is not followed: it is for compilers and runtimes of DMOJ", hint)
	}
	if e, ok := top.own["short_circuit"]; ok {
		r.doc.Note(e.key, "short_circuit is not read: whether judging ends with the first failure is said with each submission (--stop)")
	}
	r.readFileIO()
	r.link = r.linkOf(top)
}

func (r *reader) output(conf *values) judge.Bytes {
	return judge.Bytes(conf.count("output_limit_length", int(defaultOutput), 1, 1<<30))
}

func (r *reader) wall(conf *values) time.Duration {
	n := conf.get("wall_time_factor")
	if n == nil && r.p.Limits.CPU == 0 {
		return 0
	}
	factor := conf.score("wall_time_factor", judge.ScoreOf(defaultWall))
	if factor.Cmp(judge.ScoreOf(1)) < 0 {
		r.doc.Refuse(n, "wall_time_factor must be at least 1, is %v", factor)
	}
	return times(factor, r.p.Limits.CPU)
}

// settingsOf reads what a case or its batch says in place of what the file does, and
// returns the name under which the program finds its input.
func (r *reader) settingsOf(conf *values, c *testcases.Case) (link string) {
	if conf.local("output_limit_length") {
		c.Limits.Output = r.output(conf)
	}
	if conf.local("wall_time_factor") {
		c.Limits.Wall = r.wall(conf)
	}
	if conf.local("symlinks") {
		return r.linkOf(conf)
	}
	return r.link
}

// readFileIO reads the names of the files that the program reads and writes, which
// some descendants of DMOJ have.
func (r *reader) readFileIO() {
	n := r.top.get("file_io")
	if n == nil {
		return
	}
	io := r.open(r.doc, n, "file_io", nil)
	io.only("file_io", "input", "output")
	r.p.InputFile, r.p.OutputFile = io.text("input"), io.text("output")
	for _, name := range []string{r.p.InputFile, r.p.OutputFile} {
		if err := judge.CheckFileName(name); name != "" && err != nil {
			r.doc.Refuse(n, "file_io: %v", err)
		}
	}
}

// linkOf reads under which name the program finds its standard input in its work
// directory. Other links are not supported.
func (r *reader) linkOf(conf *values) (link string) {
	n := conf.get("symlinks")
	if n == nil {
		return ""
	}
	links := r.open(r.doc, n, "symlinks", nil)
	for _, key := range links.order {
		e := links.own[key]
		name, to := e.key.Value, r.doc.Text(e.value, "symlinks") // the name as it is written
		if err := judge.CheckFileName(name); err != nil || path.Clean(to) != "/dev/stdin" || link != "" {
			r.doc.Refuse(e.key, "symlinks: one link to /dev/stdin is supported, in the work directory; this is %.64q to %.64q", name, to)
		}
		link = name
	}
	return link
}

// scale makes the site's points of the problem of those of all cases.
func (r *reader) scale(worth judge.Score) {
	if s := r.sitePoints; s != nil && worth.Sign() > 0 {
		factor := s.Over(worth)
		r.p.Score.Scale = &factor
	}
}

// times is a limit multiplied by a factor.
func times(factor judge.Score, d time.Duration) time.Duration {
	return time.Duration(math.Round(factor.Mul(judge.ScoreOf(int64(d))).Float()))
}
