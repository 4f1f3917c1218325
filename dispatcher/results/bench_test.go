package results_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/internal/testenv"
	"judgefarm/judge"
)

// BenchmarkWait is the time from the call of Finish in one process to the return of
// Wait in another, with 100 other waiters there.
func BenchmarkWait(b *testing.B) {
	addr := testenv.Redis(b)
	open := func() *results.Redis {
		s, err := results.NewRedis(results.Config{URL: "redis://" + addr})
		if err != nil {
			b.Fatalf("NewRedis: %v", err)
		}
		b.Cleanup(func() { s.Close() })
		return s
	}
	worker, waiting := open(), open()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	ended := make(chan time.Time)
	wait := func(id string) {
		if r, err := waiting.Wait(ctx, id); err == nil && r.State.Final() {
			ended <- time.Now()
		}
	}
	lease := func(id string) judge.Attempt {
		if err := worker.Create(ctx, results.Record{ID: id}); err != nil {
			b.Fatalf("Create: %v", err)
		}
		a, err := worker.Lease(ctx, id, "w", time.Minute)
		if err != nil {
			b.Fatalf("Lease: %v", err)
		}
		return a
	}
	for i := range 100 {
		id := fmt.Sprintf("other-%d", i)
		lease(id)
		go wait(id)
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		id := fmt.Sprint(i)
		a := lease(id)
		go wait(id)
		began := time.Now()
		if err := worker.Finish(ctx, a, judge.Judgement{ID: id, State: judge.Judged}); err != nil {
			b.Fatalf("Finish: %v", err)
		}
		took = append(took, (<-ended).Sub(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[(len(took)-1)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkApplyRejudge applies the largest rejudge there may be, each judgement with
// 100 cases: how long Redis is held by its one script.
func BenchmarkApplyRejudge(b *testing.B) {
	s, err := results.NewRedis(results.Config{URL: "redis://" + testenv.Redis(b)})
	if err != nil {
		b.Fatalf("NewRedis: %v", err)
	}
	b.Cleanup(func() { s.Close() })
	ctx, verdict := b.Context(), judge.WrongAnswer
	judged := func(id string) {
		err := s.Create(ctx, results.Record{ID: id})
		if err != nil {
			b.Fatalf("Create: %v", err)
		}
		a, err := s.Lease(ctx, id, "w", time.Minute)
		if err != nil {
			b.Fatalf("Lease: %v", err)
		}
		j := judge.Judgement{ID: id, State: judge.Judged, Verdict: &verdict}
		for i := range 100 {
			j.Cases = append(j.Cases, judge.Run{Name: fmt.Sprintf("secret/%03d", i), Verdict: verdict, Message: "line 1, column 1, token 1: the token differs"})
		}
		if err := s.Finish(ctx, a, j); err != nil {
			b.Fatalf("Finish: %v", err)
		}
	}
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		r := results.Rejudge{ID: fmt.Sprint("r", i), CreatedAt: time.Now()}
		for m := range results.MaxRejudged {
			one := results.Rejudged{Submission: fmt.Sprintf("old-%d-%d", i, m), Judgement: fmt.Sprintf("new-%d-%d", i, m), Number: 1}
			judged(one.Submission)
			judged(one.Judgement)
			r.Members = append(r.Members, one)
		}
		if err := s.CreateRejudge(ctx, r); err != nil {
			b.Fatalf("CreateRejudge: %v", err)
		}
		b.StartTimer()
		if n, err := s.ApplyRejudge(ctx, r.ID); err != nil || n != results.MaxRejudged {
			b.Fatalf("ApplyRejudge: %d, %v", n, err)
		}
	}
}
