package checker

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"judgefarm/judge"
)

// quoteMax bounds what a message quotes of either side.
const quoteMax = 64

// rule finds the first difference of an output from the answer; nil is none.
type rule func(out, ans *stream) *difference

// difference is the first place where the output is not as the answer wants it.
type difference struct {
	token  int // from 1, 0 where the rule does not count tokens
	line   int // of the output
	column int64
	what   string // safe to show: says nothing of the data
	want   []byte // of the answer, at most quoteMax and one byte
	got    []byte // of the output

	verdict judge.Verdict // "" is that of the checker
	answer  bool          // it is the answer that is not as it must be
}

// differ notes where out is and copies what both sides hold there.
func differ(what string, out *stream, got, want []byte) *difference {
	return &difference{line: out.line, column: out.column, what: what,
		got: clip(got), want: clip(want)}
}

func clip(b []byte) []byte { return append([]byte{}, b[:min(len(b), quoteMax+1)]...) }

// String says where and what, without data.
func (d *difference) String() string {
	where := fmt.Sprintf("line %d, column %d", d.line, d.column)
	if d.token > 0 {
		where += fmt.Sprintf(", token %d", d.token)
	}
	return where + ": " + d.what
}

// full adds the data of both sides, bounded and escaped.
func (d *difference) full() string {
	return d.String() + ": expected " + quote(d.want) + ", found " + quote(d.got)
}

func quote(b []byte) string {
	if len(b) == 0 {
		return "nothing"
	}
	if len(b) > quoteMax {
		return strconv.Quote(string(b[:quoteMax])) + "..."
	}
	return strconv.Quote(string(b))
}

// compare applies a rule to fresh streams of the output and the answer. textOnly
// refuses an output with a NUL byte, whatever the rule says.
func compare(ctx context.Context, in Input, find rule, textOnly bool) (*difference, error) {
	ans, err := newStream(ctx, in.Answer)
	if err != nil {
		return nil, judge.Fail(judge.FailProblem, fmt.Errorf("open answer of case %s: %w", in.Case, err))
	}
	defer ans.close()
	out, err := newStream(ctx, in.Output)
	if err != nil {
		return nil, judge.Fail(judge.FailInternal, fmt.Errorf("open output of case %s: %w", in.Case, err))
	}
	defer out.close()

	diff := find(out, ans)
	switch {
	case ctx.Err() != nil && (errors.Is(ans.err, context.Cause(ctx)) || errors.Is(out.err, context.Cause(ctx))):
		return nil, context.Cause(ctx)
	case ans.err != nil:
		return nil, judge.Fail(judge.FailProblem, fmt.Errorf("read answer of case %s: %w", in.Case, ans.err))
	case out.err != nil:
		return nil, judge.Fail(judge.FailInternal, fmt.Errorf("read output of case %s: %w", in.Case, out.err))
	case diff == nil && textOnly && out.nul:
		return differ("the output holds a NUL byte", out, nil, nil), nil
	}
	return diff, nil
}

// ruling turns a difference into what the submitter and the jury read.
func ruling(diff *difference, verdict judge.Verdict, reveal bool) Ruling {
	if diff == nil {
		return Ruling{Verdict: judge.Accepted}
	}
	r := Ruling{Verdict: verdict, Message: diff.String(), Jury: diff.full()}
	if reveal {
		r.Message = r.Jury
	}
	return r
}
