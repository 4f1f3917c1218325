package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/judge"
)

// The bodies of requests that wait are not kept: only those that are read count
// towards MaxBodies. Not in parallel: it looks at the memory of the process.
func TestWaitKeepsNoBody(t *testing.T) {
	s := serve(t, nil)
	const waits = 8
	body, err := json.Marshal(judge.Request{
		Language: "python3", Files: []judge.FileJSON{{Name: "a.py", Content: strings.Repeat("x", 3<<20)}},
		Tests: []judge.TestJSON{{Expected: "1\n"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := string(body)
	before := heap()
	ctx, hangUp := context.WithCancel(t.Context())
	ended := make(chan struct{}, waits)
	for range waits {
		go func() {
			defer func() { ended <- struct{}{} }()
			req, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/v1/submissions?wait=true", strings.NewReader(text))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Content-Type", "application/json")
			if res, err := http.DefaultClient.Do(req); err == nil {
				res.Body.Close()
			}
		}()
	}
	await, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Line.Await(await, func(jobs []queue.Job) bool { return len(jobs) == waits }); err != nil {
		t.Fatal(err)
	}
	s.awaitMetric(t, "judge_api_held_requests 8")
	// What is stored is in memory too, here.
	keys, err := s.Blobs.List(t.Context(), "", "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := s.Blobs.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if now := heap(); now > before+waits<<20 {
		t.Errorf("%d requests with bodies of 3 MiB wait in %d MiB", waits, (now-before)>>20)
	}
	hangUp()
	for range waits {
		<-ended
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
