package checker

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"judgefarm/judge"
)

// dmojLines are DMOJ's checkers that look at lines as a whole: linecount,
// linematches, rstripped, sorted and unordered. Both sides are held in memory; of the
// output no more lines or words than the answer has and one, each of which takes more
// than its bytes: else an output of short ones would take twenty times its size.
type dmojLines struct {
	name   string
	words  map[string]string
	points []int64 // of linematches: what each line is worth
}

func newDMOJLines(name string, options map[string]string) dmojLines {
	c := dmojLines{name: name, words: options, points: []int64{1}}
	if list := options["points"]; list != "" {
		c.points = nil
		for number := range strings.SplitSeq(list, ",") {
			n, _ := strconv.ParseInt(number, 10, 64) // the grammar of arguments has let nothing else through
			c.points = append(c.points, n)
		}
	}
	return c
}

func (c dmojLines) ID() string { return dmojID(c.name) }

// OnError reports that points are given for what was printed before a run ended
// wrongly.
func (c dmojLines) OnError() bool { return c.name == "linecount" }

func (c dmojLines) Check(ctx context.Context, in Input) (Ruling, error) {
	out, ans, err := sides(ctx, in)
	if err != nil {
		return Ruling{}, err
	}
	switch c.name {
	case "linecount":
		want := filled(ans, all)
		return c.count(filled(out, len(want)), want), nil
	case "linematches":
		want := filled(ans, all)
		return c.matches(in.Case, filled(out, len(want)), want)
	case "rstripped":
		return c.stripped(out, ans), nil
	case "unordered":
		want := fields(ans, &space, all)
		return sameSorted(fields(out, &space, len(want)), want, "words"), nil
	}
	want := filled(ans, all)
	return sameSorted(words(filled(out, len(want))), words(want), "lines"), nil
}

// count gives a share for the lines that are right, all of them or not, but only all
// of them are accepted.
func (c dmojLines) count(out, ans [][]byte) Ruling {
	if len(out) > len(ans) {
		return refused(judge.WrongAnswer, goesOn, "")
	}
	marks, right := slices.Repeat([]string{"✗"}, len(ans)), int64(0)
	for i, line := range out {
		if bytes.Equal(trim(line), trim(ans[i])) {
			marks[i] = "✓"
			right++
		}
	}
	share, message := judge.ScoreOf(1), ""
	if len(ans) > 0 {
		share = judge.ShareOf(right, int64(len(ans)))
	}
	if c.words["no_feedback"] == "" && len(ans) > 0 {
		message = strings.Join(marks[:min(len(marks), maxMarks)], "")
	}
	if right == int64(len(ans)) {
		return Ruling{Verdict: judge.Accepted, Share: &share, Message: message}
	}
	r := refused(judge.WrongAnswer, message, fmt.Sprintf("%d of %d lines are right", right, len(ans)))
	r.Share = &share
	return r
}

// maxMarks bounds the lines that a message tells of.
const maxMarks = 300

// matches adds up what the lines are worth that are right; some is accepted.
func (c dmojLines) matches(name string, out, ans [][]byte) (Ruling, error) {
	all := int64(0)
	for _, p := range c.points {
		all += p
	}
	if len(c.points) != len(ans) || all == 0 {
		return Ruling{}, &judge.Failed{Kind: judge.FailProblem, Reason: fmt.Sprintf(
			"the checker of case %s has points for %d lines, %d together; the answer has %d lines", name, len(c.points), all, len(ans))}
	}
	if c.words["filler_lines_optional"] == "" && len(out) != len(ans) {
		return refused(judge.WrongAnswer, "the output has not as many lines as was expected", ""), nil
	}
	got := int64(0)
	for i := range min(len(out), len(ans)) {
		if bytes.Equal(out[i], ans[i]) {
			got += c.points[i]
		}
	}
	return sharing(judge.ShareOf(got, all), fmt.Sprintf("lines worth %d of %d are right", got, all)), nil
}

// stripped wants as many lines, empty ones included unless they are filtered.
func (c dmojLines) stripped(out, ans []byte) Ruling {
	split := everyLine
	if c.words["filter_new_line"] != "" {
		split = filled
	}
	want := split(ans, all)
	got := split(out, len(want))
	for i := range min(len(got), len(want)) {
		if !bytes.Equal(bytes.TrimRightFunc(got[i], isSpace), bytes.TrimRightFunc(want[i], isSpace)) {
			return refused(judge.WrongAnswer, fmt.Sprintf("line %d: the line differs", i+1), "")
		}
	}
	if len(got) != len(want) {
		return refused(judge.WrongAnswer, "the output has not as many lines as was expected", fmt.Sprintf("expected %d", len(want)))
	}
	return Ruling{Verdict: judge.Accepted}
}

func sameSorted(out, ans [][]byte, what string) Ruling {
	if len(out) == len(ans) {
		slices.SortFunc(out, bytes.Compare)
		slices.SortFunc(ans, bytes.Compare)
	}
	if !slices.EqualFunc(out, ans, bytes.Equal) {
		return refused(judge.WrongAnswer, "the "+what+" are not those that were expected", "")
	}
	return Ruling{Verdict: judge.Accepted}
}

// words makes one blank of what is between the words of each line.
func words(lines [][]byte) [][]byte {
	for i, line := range lines {
		lines[i] = bytes.Join(fields(line, &space, all), []byte{' '})
	}
	return lines
}

// all is no bound of what a text is split into.
const all = math.MaxInt - 1

// everyLine splits at each line end: CR LF ends two lines, the second of them empty.
// It stops after one more than most.
func everyLine(b []byte, most int) (lines [][]byte) {
	for len(lines) <= most {
		i := bytes.IndexAny(b, "\r\n")
		if i < 0 {
			return append(lines, b)
		}
		lines, b = append(lines, b[:i]), b[i+1:]
	}
	return lines
}

// filled are the lines with anything in them, one more than most of them at most.
func filled(b []byte, most int) [][]byte { return fields(b, &lineEnd, most) }

// fields are what is between the bytes of a class, likewise.
func fields(b []byte, class *[256]bool, most int) (parts [][]byte) {
	for len(parts) <= most {
		for len(b) > 0 && class[b[0]] {
			b = b[1:]
		}
		if len(b) == 0 {
			break
		}
		n := 1
		for n < len(b) && !class[b[n]] {
			n++
		}
		parts, b = append(parts, b[:n]), b[n:]
	}
	return parts
}

// isSpace knows the white space of C only: nothing is decoded.
func isSpace(r rune) bool { return r < 128 && space[r] }

func trim(line []byte) []byte { return bytes.TrimFunc(line, isSpace) }
