package checker

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// protocol is how one format's checkers are called and answer. Between the files and
// the output come nothing but the arguments of problem and case, at the end.
type protocol struct {
	files    []string // of the command line, after the program
	output   bool     // is on standard input too
	feedback bool     // there is a folder for messages and scores
	static   bool     // it looks at the submission's files
	// harness, where set, makes the program of the package's files.
	harness func([]judge.File) []judge.File
	ruling  func(name string, rep *sandbox.Report) (Ruling, error)
}

const (
	inputPath  = dataDir + "/input"
	answerPath = dataDir + "/answer"
	outputPath = dataDir + "/output"
)

func protocolOf(p testcases.Protocol) (protocol, bool) {
	switch p {
	case testcases.ProtocolKattis, testcases.ProtocolPlain: // a checker that states none is of the plain format
		return protocol{files: []string{inputPath, answerPath, feedbackArg}, output: true, feedback: true, ruling: kattisRuling}, true
	case testcases.ProtocolTestlib:
		return protocol{files: []string{inputPath, outputPath, answerPath}, ruling: testlibRuling}, true
	case testcases.ProtocolTestlibPercent:
		return protocol{files: []string{inputPath, outputPath, answerPath}, ruling: percentRuling}, true
	case testcases.ProtocolCMS:
		return protocol{files: []string{inputPath, answerPath, outputPath}, ruling: cmsRuling}, true
	case testcases.ProtocolExit:
		return protocol{files: []string{inputPath, outputPath, answerPath}, ruling: exitRuling}, true
	case testcases.ProtocolCOCI:
		return protocol{files: []string{inputPath, outputPath, answerPath}, ruling: cociRuling}, true
	case testcases.ProtocolPEG:
		return protocol{files: []string{answerPath, outputPath, inputPath}, ruling: pegRuling}, true
	case testcases.ProtocolKattisStatic:
		return static(), true
	case testcases.ProtocolDMOJ:
		return protocol{files: []string{"check", inputPath, answerPath, outputPath}, harness: dmojHarness, ruling: dmojRuling}, true
	}
	return protocol{}, false
}

// broken is the failure of a checker that ended in no way that its protocol knows. A
// reason never holds what the program printed, which may be answer data; the wrapped
// error does, for the log.
func broken(name string, rep *sandbox.Report, wanted string) error {
	reason := fmt.Sprintf("the checker was ended on case %s: %s", name, rep.Cause)
	switch {
	case rep.Cause == sandbox.CauseExit:
		reason = fmt.Sprintf("the checker exited with status %d on case %s, not with %s", rep.Exit, name, wanted)
	case rep.Cause == sandbox.CauseSignal:
		reason = fmt.Sprintf("the checker was ended by signal %d on case %s", rep.Signal, name)
	}
	return &judge.Failed{Kind: judge.FailChecker, Reason: reason, Retryable: true,
		Err: fmt.Errorf("%s; it said %.2000q", reason, rep.Stderr.Data)}
}

// nonsense is the failure of a checker that answered what its protocol does not allow.
func nonsense(name, what string, rep *sandbox.Report) error {
	reason := fmt.Sprintf("the checker %s on case %s", what, name)
	return &judge.Failed{Kind: judge.FailChecker, Reason: reason, Retryable: true,
		Err: fmt.Errorf("%s; it said %.2000q and %.2000q", reason, rep.Stdout.Data, rep.Stderr.Data)}
}

// refused is a ruling of WA, or PE, with a message for the submitter where there is
// none.
func refused(v judge.Verdict, message, jury string) Ruling {
	if message == "" {
		message = "the problem's checker refused the output"
	}
	return Ruling{Verdict: v, Message: message, Jury: jury}
}

// kattisRuling: 42 accepts, 43 refuses; score.txt and score_multiplier.txt are the
// points of an accepted case. Problem package format, "Reporting a judgement" and
// "Scoring test cases". A problem without points has no use for either.
func kattisRuling(name string, rep *sandbox.Report) (Ruling, error) {
	jury := message(rep, juryMessage, int(feedbackSize))
	team := message(rep, teamMessage, teamMax)
	switch {
	case rep.Cause == sandbox.CauseExit && rep.Exit == 42:
	case rep.Cause == sandbox.CauseExit && rep.Exit == 43:
		return refused(judge.WrongAnswer, team, jury), nil
	default:
		return Ruling{}, broken(name, rep, "42 or 43")
	}
	r := Ruling{Verdict: judge.Accepted, Message: team, Jury: jury}
	for file, to := range map[string]**judge.Score{scoreFile: &r.Points, shareFile: &r.Share} {
		if !left(rep, file) {
			continue
		}
		s, err := judge.ParseScore(message(rep, file, int(feedbackSize)))
		if err != nil || s.Sign() < 0 || file == shareFile && s.Cmp(judge.ScoreOf(1)) > 0 {
			return Ruling{}, nonsense(name, "wrote a score that is none", rep)
		}
		*to = &s
	}
	if r.Points != nil && r.Share != nil {
		return Ruling{}, nonsense(name, "wrote both score.txt and score_multiplier.txt", rep)
	}
	return r, nil
}

// left reports whether a checker left a file that was asked for, be it one that the box
// refused to hand out: a score that cannot be read is not the same as none.
func left(rep *sandbox.Report, name string) bool {
	return slices.ContainsFunc(rep.Files, func(f sandbox.Collected) bool {
		return f.Name == name && !errors.Is(f.Err, fs.ErrNotExist)
	})
}

// partly is how testlib tells a partial result; the exit status alone cannot, since
// its base is 0.
var partly = regexp.MustCompile(`^partially correct \((\d+)\)`)

// testlibPart is what testlib's partial results are parts of.
const testlibPart = 200

// testlibRuling: the exit statuses of testlib.h (0 OK, 1 WA, 2 PE, 3 FAIL, 4 dirt, 7
// points, 8 unexpected end of file), and its words on standard error. Dirt and an
// unexpected end are wrong formats. FAIL says that the answer or the checker is at
// fault.
func testlibRuling(name string, rep *sandbox.Report) (Ruling, error) {
	said := text(rep.Stderr.Data, int(feedbackSize))
	if rep.Cause != sandbox.CauseExit {
		return Ruling{}, broken(name, rep, "a status of testlib")
	}
	if m := partly.FindStringSubmatch(said); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil || n > testlibPart {
			return Ruling{}, nonsense(name, "gave more than everything", rep)
		}
		return sharing(judge.ShareOf(n, testlibPart), said), nil
	}
	switch rep.Exit {
	case 0:
		return Ruling{Verdict: judge.Accepted, Jury: said}, nil
	case 1:
		return refused(judge.WrongAnswer, "", said), nil
	case 2, 4, 8:
		return refused(judge.PresentationError, "", said), nil
	case 3:
		return Ruling{}, &judge.Failed{Kind: judge.FailChecker, Reason: "the checker reports that the problem is at fault on case " + name,
			Err: fmt.Errorf("checker on case %s: %.2000s", name, said)}
	case 7:
		word, _, _ := strings.Cut(strings.TrimPrefix(said, "points "), " ")
		s, err := judge.ParseScore(strings.TrimSpace(word))
		if err != nil || s.Sign() < 0 {
			return Ruling{}, nonsense(name, "gave points that are none", rep)
		}
		if s.Sign() == 0 {
			return refused(judge.WrongAnswer, "", said), nil
		}
		return Ruling{Verdict: judge.Accepted, Points: &s, Jury: said}, nil
	}
	return Ruling{}, broken(name, rep, "a status of testlib")
}

// percentRuling: as testlib, with points from 0 to 100 as hundredths of what the case
// is worth.
func percentRuling(name string, rep *sandbox.Report) (Ruling, error) {
	r, err := testlibRuling(name, rep)
	if err != nil || r.Points == nil {
		return r, err
	}
	share := r.Points.Div(100)
	if share.Cmp(judge.ScoreOf(1)) > 0 {
		return Ruling{}, nonsense(name, "gave more than 100 percent", rep)
	}
	r.Points, r.Share = nil, &share
	return r, nil
}

// sharing is the ruling of a checker that gives a share alone: nothing is wrong, a
// part is accepted with less.
func sharing(s judge.Score, jury string) Ruling {
	if s.Sign() == 0 {
		return refused(judge.WrongAnswer, "", jury)
	}
	return Ruling{Verdict: judge.Accepted, Share: &s, Jury: jury}
}

// cmsRuling: a share from 0 to 1 on the first line of standard output, a message on
// the first line of standard error; CMS documentation, "Standard manager output".
// Where a threshold is compared with it the share may be above 1, see bounded.
func cmsRuling(name string, rep *sandbox.Report) (Ruling, error) {
	if rep.Cause != sandbox.CauseExit || rep.Exit != 0 {
		return Ruling{}, broken(name, rep, "0")
	}
	line, _, _ := bytes.Cut(rep.Stdout.Data, []byte("\n"))
	s, err := judge.ParseScore(strings.TrimSpace(string(line)))
	if err != nil || s.Sign() < 0 {
		return Ruling{}, nonsense(name, "wrote no share from 0 to 1", rep)
	}
	line, _, _ = bytes.Cut(rep.Stderr.Data, []byte("\n"))
	r := sharing(s, text(line, int(feedbackSize)))
	if s.Cmp(judge.ScoreOf(1)) == 0 {
		r.Share = nil
	}
	return r, nil
}

// bounded refuses a share above 1 where nothing is measured.
func bounded(in Input, r Ruling, rep *sandbox.Report) (Ruling, error) {
	if r.Share != nil && !in.Measure && r.Share.Cmp(judge.ScoreOf(1)) > 0 {
		return Ruling{}, nonsense(in.Case, "wrote no share from 0 to 1", rep)
	}
	return r, nil
}

// exitRuling: 0 accepts, 1 refuses; DMOJ's bridged checkers of type default.
func exitRuling(name string, rep *sandbox.Report) (Ruling, error) { return byExit(name, rep) }

func byExit(name string, rep *sandbox.Report) (Ruling, error) {
	said := text(rep.Stderr.Data, int(feedbackSize))
	switch {
	case rep.Cause == sandbox.CauseExit && rep.Exit == 0:
		return Ruling{Verdict: judge.Accepted, Jury: said}, nil
	case rep.Cause == sandbox.CauseExit && rep.Exit == 1:
		return refused(judge.WrongAnswer, "", said), nil
	}
	return Ruling{}, broken(name, rep, "0 or 1")
}

// cociRuling: as testlib's 0, 1, 2 and 3, or 7 with a line "partial A/B" on standard
// error; DMOJ's bridged checkers of type coci.
func cociRuling(name string, rep *sandbox.Report) (Ruling, error) {
	if rep.Cause != sandbox.CauseExit || rep.Exit != 7 {
		return testlibRuling(name, rep)
	}
	said := text(rep.Stderr.Data, int(feedbackSize))
	for line := range strings.Lines(said) {
		ratio, ok := strings.CutPrefix(strings.TrimSpace(line), "partial ")
		a, b, divided := strings.Cut(ratio, "/")
		if !ok || !divided {
			continue
		}
		n, errN := strconv.ParseInt(a, 10, 32)
		d, errD := strconv.ParseInt(b, 10, 32)
		if errN == nil && errD == nil && 0 <= n && n <= d && d > 0 {
			share := judge.ShareOf(n, d) // DMOJ accepts with no points too
			return Ruling{Verdict: judge.Accepted, Share: &share, Jury: said}, nil
		}
	}
	return Ruling{}, nonsense(name, "wrote no share", rep)
}

// pegRuling: 0 accepts, 1 refuses, and two lines of numbers that follow each other on
// standard output are the share A/B, with either status; DMOJ's bridged checkers of
// type peg.
func pegRuling(name string, rep *sandbox.Report) (Ruling, error) {
	r, err := byExit(name, rep)
	if err != nil {
		return Ruling{}, err
	}
	lines := strings.Split(text(rep.Stdout.Data, int(feedbackSize)), "\n")
	for i := range len(lines) - 1 {
		a, errA := judge.ParseScore(strings.TrimSpace(lines[i]))
		b, errB := judge.ParseScore(strings.TrimSpace(lines[i+1]))
		if errA != nil || errB != nil || b.Sign() <= 0 || a.Sign() <= 0 {
			continue
		}
		if a.Cmp(b) > 0 {
			return Ruling{}, nonsense(name, "gave more than everything", rep)
		}
		return sharing(a.Over(b), r.Jury), nil
	}
	return r, nil
}

// text is what a program wrote, at most max bytes of it, as valid UTF-8.
func text(b []byte, max int) string {
	return strings.TrimSpace(strings.ToValidUTF8(string(b[:min(len(b), max)]), "\uFFFD"))
}
