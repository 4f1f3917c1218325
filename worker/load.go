package worker

import (
	"context"
	"errors"
	"fmt"
	"io"

	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
	"judgefarm/worker/artifacts"
)

// maxRequest bounds the stored document of one submission; the dispatcher admits less.
const maxRequest = 512 << 20

// load fetches the submission as admitted and its problem, with the digest of its
// package ("" for inline tests). release says that the problem is no longer in use.
func (w *Worker) load(ctx context.Context, id string) (job engine.Job, rec results.Record, pkg string, release func(), err error) {
	if rec, err = w.Results.Get(ctx, id); err != nil {
		return job, rec, "", nil, judge.Fail(judge.FailStorage, fmt.Errorf("read record: %w", err))
	}
	doc, err := w.fetch(ctx, rec.Request)
	if err != nil {
		return job, rec, "", nil, err
	}
	admitted, err := judge.ParseAdmitted(doc)
	if err != nil {
		return job, rec, "", nil, broken(err)
	}
	sub, err := admitted.Submission()
	if err != nil {
		return job, rec, "", nil, broken(err)
	}
	if err := w.checkQuarantine(ctx, admitted); err != nil {
		return job, rec, "", nil, err
	}
	p, release, err := w.problem(ctx, admitted)
	if err != nil {
		return job, rec, "", nil, err
	}
	return engine.Job{Submission: sub, Problem: p}, rec, admitted.Package, release, nil
}

// fetch reads one document. A missing one cannot come back; any other error may pass.
func (w *Worker) fetch(ctx context.Context, key string) ([]byte, error) {
	r, size, err := w.Blobs.Get(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, &judge.Failed{Kind: judge.FailStorage, Reason: "the stored submission is gone", Err: err}
	}
	if err != nil {
		return nil, judge.Fail(judge.FailStorage, fmt.Errorf("fetch submission: %w", err))
	}
	defer r.Close()
	if size > maxRequest {
		return nil, broken(fmt.Errorf("submission document has %d bytes, more than %d", size, maxRequest))
	}
	doc := make([]byte, size)
	if _, err := io.ReadFull(r, doc); err != nil {
		return nil, judge.Fail(judge.FailStorage, fmt.Errorf("fetch submission: %w", err))
	}
	return doc, nil
}

// problem is the uploaded one, from the cache, or the anonymous one of inline tests.
func (w *Worker) problem(ctx context.Context, a *judge.Admitted) (*testcases.Problem, func(), error) {
	if a.Package != "" {
		p, release, err := w.Problems.Get(ctx, a.Package)
		if err != nil {
			return nil, nil, err
		}
		if p.Named() != a.Problem.Digest {
			release()
			return nil, nil, &judge.Failed{Kind: judge.FailProblem,
				Reason: fmt.Sprintf("problem %s: the package reads as %s here, was admitted as %s: dispatcher and worker are of different versions", a.Problem.ID, p.Named(), a.Problem.Digest)}
		}
		named := *p // the cache shares problems between ids
		named.ID = a.Problem.ID
		return &named, release, nil
	}
	tests, err := a.InlineTests()
	if err != nil {
		return nil, nil, broken(err)
	}
	inline := testcases.InlineConfig{Limits: a.Limits.Limits()}
	if a.Checker != nil {
		inline.Checker = *a.Checker
	}
	for _, t := range tests {
		inline.Tests = append(inline.Tests, testcases.InlineTest(t))
	}
	p, err := testcases.Inline(inline)
	if err != nil {
		return nil, nil, err
	}
	return p, func() {}, nil
}

// broken is a stored document that no worker can read.
func broken(err error) error {
	return &judge.Failed{Kind: judge.FailInternal, Reason: err.Error(), Err: err}
}

// kept turns an outcome into artifacts; the policy of the keeper chooses among them.
func kept(out *engine.Outcome) []artifacts.Artifact {
	var files []artifacts.Artifact
	if len(out.CompileLog) > 0 {
		files = append(files, artifacts.Artifact{Kind: artifacts.CompileLog, Data: out.CompileLog})
	}
	for _, o := range out.Outputs {
		files = append(files,
			artifacts.Artifact{Kind: artifacts.Stdout, Case: o.Case, Verdict: o.Verdict, Data: o.Stdout, Total: o.StdoutTotal},
			artifacts.Artifact{Kind: artifacts.Stderr, Case: o.Case, Verdict: o.Verdict, Data: o.Stderr},
			artifacts.Artifact{Kind: artifacts.Dialogue, Case: o.Case, Verdict: o.Verdict, Data: o.Dialogue})
	}
	return files
}
