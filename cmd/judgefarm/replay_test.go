package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	client "judgefarm/clients/go"
	"judgefarm/cmd/judgefarm/internal/replay"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/languages"
)

// A server that is gone ends a replay at the first line that has waited for it, and
// what was judged before is reported.
func TestReplayEndsWithItsServer(t *testing.T) {
	t.Parallel()
	const lines = 100
	file := filepath.Join(t.TempDir(), "old.ndjson")
	line := `{"problem":"sum","language":"python3","source":"print(3)","verdict":"AC"}` + "\n"
	if err := os.WriteFile(file, []byte(strings.Repeat(line, lines)), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := languages.Load(languages.Config{})
	if err != nil {
		t.Fatal(err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer bad.Close()
	for name, url := range map[string]string{"gone": gone.URL, "behind a proxy": bad.URL} {
		server, err := client.New(client.Config{URL: url, Patience: -1})
		if err != nil {
			t.Fatal(err)
		}
		var asked atomic.Int64
		verdict := judge.Accepted
		once := func(ctx context.Context, l replay.Line) (judge.Judgement, error) {
			if l.Number == 1 {
				return judge.Judgement{State: judge.Judged, Verdict: &verdict}, nil
			}
			asked.Add(1)
			return onServer(server)(ctx, l)
		}
		c := &replayCmd{File: file, Server: url}
		report, err := c.replay(t.Context(), &daemon.Env{App: daemon.App{Stderr: io.Discard}}, set, once, 4, lines)
		if !errors.Is(err, errAway) || report == nil || report.Agree != 1 || report.Lines != 1 {
			t.Errorf("%s: got %+v, %v, want the one line that was judged", name, report, err)
		}
		if n := asked.Load(); n > 10 {
			t.Errorf("%s: it was asked %d times", name, n)
		}
	}
}
