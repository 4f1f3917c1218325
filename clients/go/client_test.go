package client_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	client "judgefarm/clients/go"
	"judgefarm/dispatcher/api"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/judge"
)

var request = judge.Request{
	Language: "c", Files: []judge.FileJSON{{Name: "a.c", Content: "int main(){}"}},
	Tests: []judge.TestJSON{{Expected: ""}},
}

// serve runs the real API behind front, which may break what passes, and returns
// a client that pauses without waiting.
func serve(t *testing.T, front func(http.Handler) http.Handler, change func(*client.Config)) (*client.Client, *dispatchertest.Farm) {
	t.Helper()
	f := dispatchertest.New(t, nil)
	h, err := api.New(api.Config{Service: f.Service, Log: slog.New(slog.DiscardHandler), Heartbeat: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if front != nil {
		h = front(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	cfg := client.Config{URL: srv.URL, Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	if change != nil {
		change(&cfg)
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, f
}

func TestSubmitWaitCancel(t *testing.T) {
	t.Parallel()
	c, f := serve(t, nil, nil)
	j, err := c.Submit(t.Context(), request)
	if err != nil || j.State != judge.Queued {
		t.Fatalf("got %+v, %v", j, err)
	}
	states, cases := make(chan judge.State, 10), make(chan int, 10)
	type result struct {
		j   judge.Judgement
		err error
	}
	done := make(chan result, 1)
	go func() {
		got, err := c.Follow(t.Context(), j.ID, client.Watcher{
			State: func(s judge.State, _ int) { states <- s },
			Case:  func(index, total int, _ judge.Run) { cases <- 10*index + total },
		})
		done <- result{got, err}
	}()
	if s := <-states; s != judge.Queued {
		t.Errorf("got state %s, want queued", s)
	}
	a := f.Start(t, j.ID)
	if s := <-states; s != judge.Judging {
		t.Errorf("got state %s, want judging", s)
	}
	f.Case(t, a, 0, 2)
	f.Case(t, a, 1, 2)
	if first, second := <-cases, <-cases; first != 2 || second != 12 {
		t.Errorf("got cases %d, %d", first, second)
	}
	f.Finish(t, a, judge.RuntimeError)
	if r := <-done; r.err != nil || *r.j.Verdict != judge.RuntimeError {
		t.Errorf("got %+v, %v", r.j, r.err)
	}

	j, err = c.Submit(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if j, err = c.Cancel(t.Context(), j.ID); err != nil || j.State != judge.Cancelled {
		t.Errorf("got %s, %v", j.State, err)
	}
	if j, err = c.Get(t.Context(), j.ID); err != nil || j.State != judge.Cancelled {
		t.Errorf("got %s, %v", j.State, err)
	}
}

// The first answers are lost on the way back: the submission must not be made twice.
func TestSubmitAgainIsOneSubmission(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	c, f := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch tries.Add(1) {
			case 1:
				h.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			case 2:
				h.ServeHTTP(httptest.NewRecorder(), r)
				w.WriteHeader(http.StatusBadGateway)
			default:
				h.ServeHTTP(w, r)
			}
		})
	}, nil)
	j, err := c.Submit(t.Context(), request)
	if err != nil || tries.Load() != 3 {
		t.Fatalf("got %v after %d tries", err, tries.Load())
	}
	if jobs := f.Line.Jobs(); len(jobs) != 1 || jobs[0].ID != j.ID {
		t.Errorf("got line %v, want %s alone", jobs, j.ID)
	}
	first, err := c.SubmitKeyed(t.Context(), request, "mine")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.SubmitKeyed(t.Context(), request, "mine"); err != nil || again.ID != first.ID || again.ID == j.ID {
		t.Errorf("got %s, %v, want %s again", again.ID, err, first.ID)
	}
}

func TestFullServer(t *testing.T) {
	t.Parallel()
	var pauses []time.Duration
	c, f := serve(t, nil, func(cfg *client.Config) {
		cfg.Patience = 10 * time.Second
		cfg.Pause = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
	})
	f.Line.Bound = 0
	_, err := c.Submit(t.Context(), request)
	var e *client.Error
	if !errors.As(err, &e) || e.Status != http.StatusTooManyRequests || e.RetryAfter != 3*time.Second {
		t.Fatalf("got %v", err)
	}
	if len(pauses) != 3 || pauses[0] != 3*time.Second {
		t.Errorf("got pauses %v, want the three of 3 s that fit in 10 s", pauses)
	}
}

func TestFaultsAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, nil, func(cfg *client.Config) {
		cfg.Pause = func(context.Context, time.Duration) error { return errors.New("tried again") }
	})
	bad := request
	bad.Language, bad.Stop = "cobol", judge.StopNever
	_, err := c.Submit(t.Context(), bad)
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 422 || len(e.Faults) != 1 || e.Faults[0].Field != "language" || !judge.IsBadRequest(err) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Get(t.Context(), "nope"); !client.IsNotFound(err) || judge.IsBadRequest(err) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Wait(t.Context(), "nope"); !client.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

// A front that cuts every stream after its first event: all of it still arrives, once.
func TestWaitGoesOnAfterCuts(t *testing.T) {
	t.Parallel()
	var streams atomic.Int32
	c, f := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/events") {
				h.ServeHTTP(w, r)
				return
			}
			streams.Add(1)
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			h.ServeHTTP(&cutter{ResponseWriter: w, cut: cancel}, r.WithContext(ctx))
		})
	}, nil)
	j, err := c.Submit(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	a := f.Start(t, j.ID)
	var seen []int
	got, err := c.Follow(t.Context(), j.ID, client.Watcher{Case: func(index, _ int, _ judge.Run) {
		if seen = append(seen, index); len(seen) == 3 {
			f.Finish(t, a, judge.Accepted)
			return
		}
		f.Case(t, a, len(seen), 3)
	}, State: func(s judge.State, _ int) {
		if s == judge.Judging {
			f.Case(t, a, 0, 3)
		}
	}})
	if err != nil || *got.Verdict != judge.Accepted {
		t.Fatalf("got %+v, %v", got, err)
	}
	if len(seen) != 3 || seen[0] != 0 || seen[1] != 1 || seen[2] != 2 {
		t.Errorf("got cases %v, want each once in order", seen)
	}
	if streams.Load() < 3 {
		t.Errorf("got %d streams: nothing was cut", streams.Load())
	}
}

// cutter ends the stream after the first write that holds an event. The handler may
// look at its context late, so later writes fail as well.
type cutter struct {
	http.ResponseWriter
	cut  func()
	done bool
}

func (c *cutter) Write(b []byte) (int, error) {
	if c.done {
		return 0, io.ErrClosedPipe
	}
	n, err := c.ResponseWriter.Write(b)
	if bytes.Contains(b, []byte("event: ")) {
		c.done = true
		c.cut()
	}
	return n, err
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func TestWaitLeavesASilentStream(t *testing.T) {
	t.Parallel()
	var streams atomic.Int32
	c, f := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/events") && streams.Add(1) == 1 {
				w.WriteHeader(http.StatusOK)
				http.NewResponseController(w).Flush()
				<-r.Context().Done() // as a connection whose other end is gone
				return
			}
			h.ServeHTTP(w, r)
		})
	}, func(cfg *client.Config) { cfg.Quiet = 200 * time.Millisecond })
	j, err := c.Submit(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	f.Finish(t, f.Start(t, j.ID), judge.Accepted)
	if got, err := c.Wait(t.Context(), j.ID); err != nil || got.State != judge.Judged || streams.Load() < 2 { // more on a host that stands still for as long
		t.Errorf("got %s, %v, %d streams", got.State, err, streams.Load())
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, nil, nil)
	j, err := c.Submit(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = c.Follow(ctx, j.ID, client.Watcher{State: func(judge.State, int) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestServerThatIsAway(t *testing.T) {
	t.Parallel()
	tries := 0
	c, err := client.New(client.Config{URL: "http://127.0.0.1:1", Patience: time.Second,
		Pause: func(context.Context, time.Duration) error { tries++; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(t.Context(), "x"); err == nil || tries < 2 || tries > 20 {
		t.Errorf("got %v after %d pauses", err, tries)
	}
}

func TestProblemsAndLanguages(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, nil, nil)
	_, err := c.PutProblem(t.Context(), "p", []byte("no archive"))
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 422 || len(e.Faults) == 0 {
		t.Errorf("got %v", err)
	}
	if _, err := c.GetProblem(t.Context(), "p"); !client.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	archive := packageZip(t)
	info, err := c.PutProblem(t.Context(), "p", archive)
	if err != nil || info.Cases != 1 {
		t.Errorf("got %+v, %v", info, err)
	}
	if got, err := c.GetProblem(t.Context(), "p"); err != nil || got.Digest != info.Digest {
		t.Errorf("got %+v, %v, want %+v", got, err, info)
	}
	if list, err := c.Problems(t.Context()); err != nil || len(list) != 1 || list[0].Version != 1 {
		t.Errorf("got problems %+v, %v", list, err)
	}
	if _, err := c.RollbackProblem(t.Context(), "p", 0); err == nil {
		t.Error("a rollback without a number was sent")
	}
	if _, err := c.RollbackProblem(t.Context(), "p", 7); !client.IsNotFound(err) {
		t.Errorf("got %v for a version that is not there", err)
	}
	if got, err := c.RollbackProblem(t.Context(), "p", 1); err != nil || got.Version != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if v, err := c.ProblemVersions(t.Context(), "p"); err != nil || v.Current != 1 || len(v.Versions) != 1 {
		t.Errorf("got versions %+v, %v", v, err)
	}
	if err := c.DeleteProblem(t.Context(), "p"); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := c.DeleteProblem(t.Context(), "p"); !client.IsNotFound(err) {
		t.Errorf("delete twice: %v", err)
	}
	if list, err := c.Languages(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v", list, err)
	}
}

func packageZip(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"1.in", "1.out"} {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBadURL(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "localhost:8080", "ftp://x", "http://", "http://x?y=1"} {
		if _, err := client.New(client.Config{URL: u}); err == nil {
			t.Errorf("%q is taken", u)
		}
	}
}
