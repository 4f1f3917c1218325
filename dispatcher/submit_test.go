package dispatcher_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/dispatcher/queue"
	"judgefarm/internal/blob"
	"judgefarm/judge"
)

// good returns a request that is admitted.
func good() dispatcher.Request {
	return dispatcher.Request{Request: judge.Request{
		Language: "py",
		Files:    []judge.FileJSON{{Name: "a.py", Content: "print(3)"}},
		Tests:    []judge.TestJSON{{Stdin: "1 2\n", Expected: "3\n"}},
	}}
}

func submit(t *testing.T, f *dispatchertest.Farm, r dispatcher.Request) judge.Judgement {
	t.Helper()
	j, err := f.Service.Submit(t.Context(), r)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	return j
}

func TestSubmitStoresRecordsAndEnqueues(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	r := good()
	r.Labels = map[string]string{"course": "x"}
	r.Priority, r.FairKey = queue.Batch, "team"
	raw := []byte("\xff\x00")
	r.Files = append(r.Files, judge.FileJSONOf(judge.File{Name: "b/bin", Data: raw}))
	j := submit(t, f, r)

	if j.State != judge.Queued || j.ID == "" || j.ID[14] != '7' || j.Labels["course"] != "x" || j.Problem == nil {
		t.Errorf("got judgement %+v, want a queued UUIDv7 with labels and problem digest", j)
	}
	rec, err := f.Results.Get(t.Context(), j.ID)
	if err != nil {
		t.Fatal(err)
	}
	b, err := readBlob(t, f, rec.Request)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := judge.ParseAdmitted(b)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := doc.Submission()
	if err != nil {
		t.Fatal(err)
	}
	if sub.ID != j.ID || sub.Language != "python3" || sub.Stop != "" || string(sub.Files[1].Data) != string(raw) {
		t.Errorf("got submission %+v", sub)
	}
	if want := "intents/" + j.CreatedAt.Format("20060102") + "/" + j.ID; rec.Request != want {
		t.Errorf("got blob key %s, want %s", rec.Request, want)
	}
	jobs := f.Line.Jobs()
	if len(jobs) != 1 || jobs[0].ID != j.ID || jobs[0].Priority != queue.Batch || jobs[0].FairKey != "team" {
		t.Errorf("got line %+v", jobs)
	}
}

func readBlob(t *testing.T, f *dispatchertest.Farm, key string) ([]byte, error) {
	t.Helper()
	r, _, err := f.Blobs.Get(t.Context(), key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestSubmitRefuses(t *testing.T) {
	t.Parallel()
	bounds := dispatcher.Bounds{Files: 3, SourceBytes: 100, Tests: 2, TestBytes: 50, Labels: 1}
	f := dispatchertest.New(t, func(c *dispatcher.Config) { c.Bounds = bounds })
	file := func(name, content string) judge.FileJSON { return judge.FileJSON{Name: name, Content: content} }
	for name, c := range map[string]struct {
		change func(*dispatcher.Request)
		fields string // of the faults, in order
	}{
		"unknown language":   {func(r *dispatcher.Request) { r.Language = "cobol" }, "language"},
		"no language":        {func(r *dispatcher.Request) { r.Language = "" }, "language"},
		"no files":           {func(r *dispatcher.Request) { r.Files = nil }, "files"},
		"too many files":     {func(r *dispatcher.Request) { r.Files = make([]judge.FileJSON, 4) }, "files"},
		"absolute name":      {func(r *dispatcher.Request) { r.Files[0].Name = "/etc/passwd" }, "files[0].name"},
		"name that climbs":   {func(r *dispatcher.Request) { r.Files[0].Name = "a/../../b" }, "files[0].name"},
		"same name":          {func(r *dispatcher.Request) { r.Files = append(r.Files, file("a.py", "")) }, "files[1].name"},
		"file and folder":    {func(r *dispatcher.Request) { r.Files = append(r.Files, file("a.py/x", "")) }, "files[1].name"},
		"broken base64":      {func(r *dispatcher.Request) { r.Files[0].Encoding = "base64" }, "files[0].content"},
		"unknown encoding":   {func(r *dispatcher.Request) { r.Files[0].Encoding = "rot13" }, "files[0].content"},
		"large source":       {func(r *dispatcher.Request) { r.Files[0].Content = strings.Repeat("x", 101) }, "files"},
		"no tests":           {func(r *dispatcher.Request) { r.Tests = nil }, "tests"},
		"too many tests":     {func(r *dispatcher.Request) { r.Tests = make([]judge.TestJSON, 3) }, "tests"},
		"large tests":        {func(r *dispatcher.Request) { r.Tests[0].Stdin = strings.Repeat("x", 60) }, "tests"},
		"broken test":        {func(r *dispatcher.Request) { r.Tests[0].Encoding = "base64" }, "tests[0]"},
		"tests and problem":  {func(r *dispatcher.Request) { r.Problem = "p" }, "tests"},
		"unknown problem":    {func(r *dispatcher.Request) { r.Tests, r.Problem = nil, "nope" }, "problem"},
		"impossible problem": {func(r *dispatcher.Request) { r.Tests, r.Problem = nil, "../x" }, "problem"},
		"unknown checker":    {func(r *dispatcher.Request) { r.Checker = &judge.CheckerSpec{Name: "magic"} }, "checker.name"},
		"checker argument": {func(r *dispatcher.Request) {
			r.Checker = &judge.CheckerSpec{Name: "floats", Args: []string{"abs=nan"}}
		}, "checker.args[0]"},
		"custom inline": {func(r *dispatcher.Request) { r.Checker = &judge.CheckerSpec{Name: "custom"} }, "checker.name"},
		"stop":          {func(r *dispatcher.Request) { r.Stop = "maybe" }, "stop"},
		"priority":      {func(r *dispatcher.Request) { r.Priority = "urgent" }, "priority"},
		"fair key":      {func(r *dispatcher.Request) { r.FairKey = strings.Repeat("x", 129) }, "fair_key"},
		"key":           {func(r *dispatcher.Request) { r.Key = "a\nb" }, "Idempotency-Key"},
		"labels":        {func(r *dispatcher.Request) { r.Labels = map[string]string{"a": "", "b": ""} }, "labels"},
		"label value":   {func(r *dispatcher.Request) { r.Labels = map[string]string{"a": strings.Repeat("x", 513)} }, `labels["a"]`},
		"wall below cpu": {func(r *dispatcher.Request) {
			r.Limits = &judge.LimitsJSON{CPU: 2000, Wall: 1000}
		}, "limits.wall_ms"},
		"limits over bounds": {func(r *dispatcher.Request) {
			r.Limits = &judge.LimitsJSON{CPU: 1e300, Wall: 1e9, Memory: 1 << 62, Output: 1 << 40, Tasks: 1 << 30}
		}, "limits.cpu_ms limits.wall_ms limits.memory_kib limits.output_kib limits.tasks"},
		"negative limits": {func(r *dispatcher.Request) {
			r.Limits = &judge.LimitsJSON{CPU: -1, Tasks: -1}
		}, "limits.cpu_ms limits.tasks"},
		"all at once": {func(r *dispatcher.Request) {
			r.Language, r.Files[0].Name, r.Stop = "", "", "x"
		}, "language files[0].name stop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := good()
			c.change(&r)
			_, err := f.Service.Submit(t.Context(), r)
			var bad *judge.BadRequest
			if !errors.As(err, &bad) {
				t.Fatalf("got error %v, want a bad request", err)
			}
			var fields []string
			for _, fault := range bad.Faults {
				fields = append(fields, fault.Field)
				if fault.Reason == "" {
					t.Errorf("%s has no reason", fault.Field)
				}
			}
			if got := strings.Join(fields, " "); got != c.fields {
				t.Errorf("got faults %q, want of fields %q", bad.Error(), c.fields)
			}
		})
	}
	if jobs := f.Line.Jobs(); len(jobs) != 0 {
		t.Errorf("refused submissions are in the line: %v", jobs)
	}
}

func TestSubmitFullTakesBack(t *testing.T) {
	t.Parallel()
	var clock sync.Mutex
	now := time.Now()
	f := dispatchertest.New(t, func(c *dispatcher.Config) {
		c.Now = func() time.Time { clock.Lock(); defer clock.Unlock(); return now }
	})
	f.Line.Bound = 1
	first := submit(t, f, good())
	for range 3 {
		r := good()
		r.Key = "k"
		_, err := f.Service.Submit(t.Context(), r)
		var full *dispatcher.FullError
		if !errors.As(err, &full) || !errors.Is(err, dispatcher.ErrFull) || full.RetryAfter != 3*time.Second {
			t.Fatalf("got %v, want full with 3 s", err)
		}
	}
	keys, err := f.Blobs.List(t.Context(), "intents/", "", 10)
	if err != nil || len(keys) != 1 || !strings.HasSuffix(keys[0], first.ID) {
		t.Errorf("got intents %v, %v, want that of %s alone", keys, err, first.ID)
	}
	// When there is room the key that was refused is accepted, once.
	f.Line.Remove(t.Context(), first.ID)
	clock.Lock()
	now = now.Add(2 * time.Second)
	clock.Unlock()
	r := good()
	r.Key = "k"
	j := submit(t, f, r)
	if again := submit(t, f, r); again.ID != j.ID || j.State != judge.Queued {
		t.Errorf("got %s then %s in state %s", j.ID, again.ID, j.State)
	}
	if jobs := f.Line.Jobs(); len(jobs) != 1 || jobs[0].ID != j.ID {
		t.Errorf("got line %v, want %s", jobs, j.ID)
	}
}

func TestKeyNamesOneSubmission(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	r := good()
	r.Key = "k"
	var wg sync.WaitGroup
	ids := make([]string, 20)
	for i := range ids {
		wg.Go(func() {
			j, err := f.Service.Submit(t.Context(), r)
			if err != nil {
				t.Errorf("submit: %v", err)
			}
			ids[i] = j.ID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("got ids %s and %s for one key", ids[0], id)
		}
	}
	if jobs := f.Line.Jobs(); len(jobs) != 1 {
		t.Errorf("got %d jobs, want 1", len(jobs))
	}
	other := good()
	other.Key, other.Tenant = "k", "t2"
	if j := submit(t, f, other); j.ID == ids[0] {
		t.Error("two tenants share a key")
	}
	changed := good()
	changed.Key = "k"
	changed.Files[0].Content += " "
	if _, err := f.Service.Submit(t.Context(), changed); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "Idempotency-Key") {
		t.Errorf("got %v for a key with another body", err)
	}
	// A cancelled submission stays what its key names.
	if _, err := f.Service.Cancel(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	if j := submit(t, f, r); j.ID != ids[0] || j.State != judge.Cancelled {
		t.Errorf("got %s in state %s, want %s cancelled", j.ID, j.State, ids[0])
	}
}

// A dispatcher that dies between Create and Push leaves a record that is not in
// the line; so does a Redis that goes away there.
func TestKeyAfterLostPush(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	r := good()
	r.Key = "k"
	f.Line.Down(errors.New("connection refused to redis-7:6379"))
	if _, err := f.Service.Submit(t.Context(), r); !errors.Is(err, dispatcher.ErrUnavailable) {
		t.Fatalf("got %v, want unavailable", err)
	}
	f.Line.Down(nil)
	j := submit(t, f, r)
	if jobs := f.Line.Jobs(); len(jobs) != 1 || jobs[0].ID != j.ID || j.State != judge.Queued {
		t.Errorf("got line %v and state %s, want %s queued", jobs, j.State, j.ID)
	}
}

func TestUnkeyedIsTakenBackWhenTheLineIsDown(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	f.Line.Down(errors.New("down"))
	if _, err := f.Service.Submit(t.Context(), good()); !errors.Is(err, dispatcher.ErrUnavailable) {
		t.Fatalf("got %v, want unavailable", err)
	}
	waiting, err := f.Results.Waiting(t.Context(), time.Now().Add(time.Hour), 10)
	if err != nil || len(waiting) != 0 {
		t.Errorf("got waiting %v, %v: the sender will send it again", waiting, err)
	}
}

func TestSubmitStoreDown(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, func(c *dispatcher.Config) { c.Blobs = brokenBlobs{c.Blobs} })
	if _, err := f.Service.Submit(t.Context(), good()); !errors.Is(err, dispatcher.ErrUnavailable) {
		t.Fatalf("got %v, want unavailable", err)
	}
	if jobs := f.Line.Jobs(); len(jobs) != 0 {
		t.Errorf("got line %v", jobs)
	}
}

func TestCancelAndWait(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	j := submit(t, f, good())
	got, err := f.Service.Cancel(t.Context(), j.ID)
	if err != nil || got.State != judge.Cancelled || len(f.Line.Jobs()) != 0 {
		t.Fatalf("got %v, %v, line %v, want cancelled and out of the line", got.State, err, f.Line.Jobs())
	}
	j = submit(t, f, good())
	a := f.Start(t, j.ID)
	if got, err := f.Service.Cancel(t.Context(), j.ID); err != nil || got.State != judge.Judging {
		t.Fatalf("got %v, %v, want judging until the worker has heard", got.State, err)
	}
	done := make(chan judge.Judgement, 1)
	go func() {
		got, err := f.Service.Wait(t.Context(), j.ID)
		if err != nil {
			t.Errorf("wait: %v", err)
		}
		done <- got
	}()
	f.Finish(t, a, judge.Accepted)
	if got := <-done; got.State != judge.Judged || *got.Verdict != judge.Accepted {
		t.Errorf("got %+v", got)
	}
}

func TestBodyHoldsWhatTheBoundsAllow(t *testing.T) {
	t.Parallel()
	b := dispatcher.DefaultBounds()
	encoded := base64.StdEncoding.EncodedLen(int(b.SourceBytes)) + base64.StdEncoding.EncodedLen(int(b.TestBytes))
	if int64(encoded)+int64(b.Tests)*100 > int64(b.Body()) {
		t.Errorf("got a body of at most %d bytes, but a submission within the bounds can need %d", b.Body(), encoded)
	}
}

type brokenBlobs struct{ blob.Store }

func (brokenBlobs) Put(context.Context, string, io.Reader, int64, string) error {
	return fmt.Errorf("disk full on /srv/blobs")
}
