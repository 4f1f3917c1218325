package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// Request is a submission and who sent it.
type Request struct {
	judge.Request
	// Key is an Idempotency-Key: 1 to 255 printable ASCII characters, or "". The
	// same key with the same request names the same submission as long as its
	// result is kept.
	Key    string
	Tenant string // keys of different tenants are different; "" is a tenant too
}

// admission collects faults on the way through a request.
type admission struct {
	bounds Bounds
	faults []*judge.FieldError
}

func (a *admission) refuse(field, format string, args ...any) {
	a.faults = append(a.faults, &judge.FieldError{Field: field, Reason: fmt.Sprintf(format, args...)})
}

// Check reports the faults of a request without accepting it: all of them, in a
// *judge.BadRequest. Another error wraps ErrUnavailable and says nothing about it.
func (s *Service) Check(ctx context.Context, req Request) error {
	_, err := s.admit(ctx, req)
	return err
}

// admit checks the request and returns the document to store, with the digest of
// the problem. Every fault is reported at once in a *judge.BadRequest.
func (s *Service) admit(ctx context.Context, req Request) (*judge.Admitted, error) {
	a := &admission{bounds: s.cfg.Bounds}
	doc := &judge.Admitted{Stop: req.Stop, Checker: req.Checker, Labels: req.Labels, Files: req.Files}
	if id, known := s.cfg.Language(req.Language); known {
		doc.Language = id
	} else if req.Language == "" {
		a.refuse("language", "is required")
	} else {
		a.refuse("language", "is not known: %.64q; GET /v1/languages lists them", req.Language)
	}
	a.files(req.Files)
	a.labels(req.Labels)
	a.words(&req)
	stated := a.limits(req.Limits)
	doc.Limits = stated.JSON()
	if err := s.admitProblem(ctx, a, doc, req, stated); err != nil {
		return nil, err
	}
	return doc, judge.Refuse(a.faults...)
}

// admitProblem settles what is judged against: an uploaded problem or inline tests.
func (s *Service) admitProblem(ctx context.Context, a *admission, doc *judge.Admitted, req Request, stated judge.Limits) error {
	switch {
	case req.Problem != "" && len(req.Tests) > 0:
		a.refuse("tests", "must be absent where problem names one")
		a.checker(req.Checker, testcases.CustomChecker)
		return nil
	case req.Problem == "" && len(req.Tests) == 0:
		a.refuse("tests", "must hold at least one test where problem names none")
		a.checker(req.Checker, testcases.CustomChecker)
		return nil
	case req.Problem != "":
		id, version, right := splitProblem(req.Problem)
		info, err := s.findProblem(ctx, id, version)
		if !right || errors.Is(err, ErrNoProblem) || errors.Is(err, ErrNoVersion) {
			a.refuse("problem", "is not known: %.64q; PUT /v1/problems/{id} uploads one, ID@VERSION names one that is not current", req.Problem)
			a.checker(req.Checker, testcases.CustomChecker)
			return nil
		}
		if err != nil {
			return err
		}
		doc.Problem = &judge.ProblemRef{ID: info.ID, Version: info.Version, Digest: info.Digest}
		doc.Package = info.Package
		a.checker(req.Checker, info.Checker.Name)
		a.complete(stated.Or(info.Limits.Limits()))
		return nil
	}
	a.checker(req.Checker, "")
	a.complete(stated)
	doc.Tests = req.Tests
	tests := a.tests(req.Tests)
	if len(a.faults) > 0 {
		return nil
	}
	inline := testcases.InlineConfig{Limits: stated, Tests: tests}
	if req.Checker != nil {
		inline.Checker = *req.Checker
	}
	problem, err := testcases.Inline(inline)
	if err != nil {
		return err
	}
	doc.Problem = &judge.ProblemRef{Digest: problem.Digest}
	return nil
}

func (a *admission) files(files []judge.FileJSON) {
	if len(files) == 0 {
		a.refuse("files", "must hold at least one file")
	}
	if len(files) > a.bounds.Files {
		a.refuse("files", "must be at most %d, are %d", a.bounds.Files, len(files))
		return
	}
	var total judge.Bytes
	names := make(map[string]int, len(files))
	for i, f := range files {
		field := fmt.Sprintf("files[%d]", i)
		if err := judge.CheckFileName(f.Name); err != nil {
			a.refuse(field+".name", "%v", err)
		} else if first, twice := names[f.Name]; twice {
			a.refuse(field+".name", "is the name of files[%d] too", first)
		} else {
			names[f.Name] = i
		}
		file, err := f.File()
		if err != nil {
			a.refuse(field+".content", "%v", errors.Unwrap(err))
			continue
		}
		total += judge.Bytes(len(file.Data))
	}
	for i, f := range files { // "a" cannot be a file and a folder at once
		for at, r := range f.Name {
			if first, clash := names[f.Name[:at]]; r == '/' && clash {
				a.refuse(fmt.Sprintf("files[%d].name", i), "lies below files[%d], which is a file", first)
			}
		}
	}
	if total > a.bounds.SourceBytes {
		a.refuse("files", "must be at most %d bytes together, are %d", a.bounds.SourceBytes, total)
	}
}

func (a *admission) tests(tests []judge.TestJSON) []testcases.InlineTest {
	if len(tests) > a.bounds.Tests {
		a.refuse("tests", "must be at most %d, are %d", a.bounds.Tests, len(tests))
		return nil
	}
	var total judge.Bytes
	decoded := make([]testcases.InlineTest, 0, len(tests))
	for i, t := range tests {
		test, err := t.Test()
		if err != nil {
			a.refuse(fmt.Sprintf("tests[%d]", i), "%v", err)
			continue
		}
		total += judge.Bytes(len(test.Stdin) + len(test.Expected))
		decoded = append(decoded, testcases.InlineTest{Stdin: test.Stdin, Expected: test.Expected})
	}
	if total > a.bounds.TestBytes {
		a.refuse("tests", "must be at most %d bytes together, are %d; upload a problem for more", a.bounds.TestBytes, total)
	}
	return decoded
}

func (a *admission) labels(labels map[string]string) {
	if len(labels) > a.bounds.Labels {
		a.refuse("labels", "must be at most %d, are %d", a.bounds.Labels, len(labels))
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		value := labels[key]
		switch {
		case key == "" || len(key) > 64:
			a.refuse("labels", "keys must be 1 to 64 bytes, %.80q has %d", key, len(key))
		case len(value) > 512:
			a.refuse(fmt.Sprintf("labels[%q]", key), "must be at most 512 bytes, is %d", len(value))
		}
	}
}

// words checks the fields that are one of a few words or short.
func (a *admission) words(req *Request) {
	switch req.Stop {
	case "", judge.StopFirstFail, judge.StopHardest, judge.StopGroup, judge.StopNever:
	default:
		a.refuse("stop", "must be %s, %s, %s or %s, is %.64q", judge.StopFirstFail, judge.StopHardest, judge.StopGroup, judge.StopNever, string(req.Stop))
	}
	switch req.Priority {
	case "", queue.Interactive, queue.Train, queue.Batch:
	default:
		a.refuse("priority", "must be %s, %s or %s, is %.64q", queue.Interactive, queue.Train, queue.Batch, req.Priority)
	}
	if len(req.FairKey) > 128 {
		a.refuse("fair_key", "must be at most 128 bytes, is %d", len(req.FairKey))
	}
	printable := !strings.ContainsFunc(req.Key, func(r rune) bool { return r < ' ' || r > '~' })
	if len(req.Key) > 255 || !printable {
		a.refuse("Idempotency-Key", "must be 1 to 255 printable ASCII characters")
	}
}

// checker checks the request's own choice. A custom one needs a problem whose
// checker is a program; where nobody knows the problem it is taken to have one.
func (a *admission) checker(spec *judge.CheckerSpec, problem string) {
	if spec == nil {
		return
	}
	choice, faults := testcases.ParseChecker(*spec)
	a.faults = append(a.faults, faults...)
	if choice.Name == testcases.CustomChecker && problem != testcases.CustomChecker {
		a.refuse("checker.name", "custom needs a problem that brings its own checker program")
	}
}

// limits checks what the request states against the highest allowed and converts
// it. It compares before it converts: a huge number has no time.Duration.
func (a *admission) limits(l *judge.LimitsJSON) judge.Limits {
	if l == nil {
		return judge.Limits{}
	}
	before := len(a.faults)
	most := a.bounds.Limits.JSON()
	time := func(field string, v, most judge.Millis) {
		if !(v >= 0 && v <= most) || math.IsNaN(float64(v)) {
			a.refuse("limits."+field, "must be 0 to %v ms, is %v", most, v)
		}
	}
	size := func(field string, v, most judge.Kibibytes) {
		if v < 0 || v > most {
			a.refuse("limits."+field, "must be 0 to %d KiB, is %d", most, v)
		}
	}
	time("cpu_ms", l.CPU, most.CPU)
	time("wall_ms", l.Wall, most.Wall)
	size("memory_kib", l.Memory, most.Memory)
	size("output_kib", l.Output, most.Output)
	if l.Tasks < 0 || l.Tasks > most.Tasks {
		a.refuse("limits.tasks", "must be 0 to %d, is %d", most.Tasks, l.Tasks)
	}
	if len(a.faults) > before {
		return judge.Limits{}
	}
	return l.Limits()
}

// complete checks the limits that will be applied, the problem's and the defaults
// included.
func (a *admission) complete(l judge.Limits) {
	a.faults = append(a.faults, l.Complete().Validate("limits.")...)
}

// overBounds names the limits of a problem that are over the highest allowed.
func overBounds(l, most judge.Limits) []*judge.FieldError {
	var faults []*judge.FieldError
	over := func(field string, is, most any) {
		faults = append(faults, &judge.FieldError{Field: "limits." + field,
			Reason: fmt.Sprintf("must be at most %v on this server, is %v", most, is)})
	}
	for _, t := range []struct {
		field    string
		is, most time.Duration
	}{{"cpu", l.CPU, most.CPU}, {"wall", l.Wall, most.Wall}} {
		if t.is > t.most {
			over(t.field, t.is, t.most)
		}
	}
	for _, n := range []struct {
		field    string
		is, most int64
	}{
		{"memory", int64(l.Memory), int64(most.Memory)}, {"output", int64(l.Output), int64(most.Output)},
		{"tasks", int64(l.Tasks), int64(most.Tasks)},
	} {
		if n.is > n.most {
			over(n.field, n.is, n.most)
		}
	}
	return faults
}
