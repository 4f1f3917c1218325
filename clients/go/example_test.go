package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	client "judgefarm/clients/go"
	"judgefarm/judge"
)

// exampleServer answers as judgefarm serve does: it accepts one submission, runs its
// case and finds the output right.
func exampleServer() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/submissions", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"id":"0197","state":"queued"}`)
	})
	mux.HandleFunc("GET /v1/submissions/0197/events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "id: 1\nevent: state\ndata: {\"state\":\"judging\",\"attempt\":1}\n\n"+
			"id: 2\nevent: case\ndata: {\"index\":0,\"total\":1,\"name\":\"1\",\"verdict\":\"AC\"}\n\n"+
			"id: 3\nevent: final\ndata: {\"id\":\"0197\",\"state\":\"judged\",\"verdict\":\"AC\",\"score\":1}\n\n")
	})
	return httptest.NewServer(mux)
}

func Example() {
	server := exampleServer()
	defer server.Close()

	c, err := client.New(client.Config{URL: server.URL}) // http://127.0.0.1:8080
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	j, err := c.Submit(ctx, judge.Request{
		Language: "python3",
		Files:    []judge.FileJSON{{Name: "sum.py", Content: "print(sum(map(int, input().split())))\n"}},
		Tests:    []judge.TestJSON{{Stdin: "1 2\n", Expected: "3\n"}},
	})
	if err != nil {
		fmt.Println(err) // an *Error names every fault of the request
		return
	}
	fmt.Println(j.ID, j.State)
	j, err = c.Follow(ctx, j.ID, client.Watcher{
		State: func(s judge.State, attempt int) { fmt.Println(s, "in attempt", attempt) },
		Case:  func(i, total int, run judge.Run) { fmt.Println(i+1, "of", total, run.Verdict) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(j.State, *j.Verdict, *j.Score)
	// Output:
	// 0197 queued
	// judging in attempt 1
	// 1 of 1 AC
	// judged AC 1
}
