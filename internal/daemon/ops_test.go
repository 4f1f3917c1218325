package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}

func TestOpsMetrics(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "judge_things_total", Help: "h"})
	reg.MustRegister(c)
	c.Inc()
	h := Ops(OpsConfig{Metrics: reg})
	if w := get(t, h, "/metrics"); w.Code != 200 || !strings.Contains(w.Body.String(), "judge_things_total 1") {
		t.Errorf("/metrics: %d %s", w.Code, w.Body)
	}
	if w := get(t, h, "/healthz"); w.Code != 200 || !strings.Contains(w.Body.String(), `"ok"`) {
		t.Errorf("/healthz: %d %s", w.Code, w.Body)
	}
	if w := get(t, Ops(OpsConfig{}), "/metrics"); w.Code != 404 {
		t.Errorf("/metrics without metrics: %d, want 404", w.Code)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		broken := errors.New("connection refused")
		take, drain := context.WithCancelCause(t.Context())
		h := Ops(OpsConfig{Checks: []Check{
			{Name: "redis", Run: func(context.Context) error { calls++; return broken }, Fix: "start redis-server"},
			Draining(take),
		}})
		w := get(t, h, "/readyz")
		var doc struct {
			Status int
			Detail string
			Checks []CheckResult
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if w.Code != 503 || doc.Status != 503 || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("not ready: %d %s, document says %d", w.Code, w.Header().Get("Content-Type"), doc.Status)
		}
		if len(doc.Checks) != 2 || doc.Checks[0].Fix != "start redis-server" || !doc.Checks[1].OK {
			t.Errorf("checks %+v", doc.Checks)
		}
		if doc.Detail != "redis: connection refused" {
			t.Errorf("detail %q", doc.Detail)
		}
		broken = nil
		if w := get(t, h, "/readyz"); w.Code != 503 || calls != 1 {
			t.Errorf("within a second: %d after %d rounds, want the kept answer", w.Code, calls)
		}
		time.Sleep(checkMaxAge + 1)
		if w := get(t, h, "/readyz"); w.Code != 200 || calls != 2 {
			t.Errorf("after the mend: %d, %d rounds", w.Code, calls)
		}
		drain(ErrDraining)
		time.Sleep(checkMaxAge + 1)
		if w := get(t, h, "/readyz"); w.Code != 503 || !strings.Contains(w.Body.String(), "draining") {
			t.Errorf("draining: %d %s", w.Code, w.Body)
		}
	})
}

func TestCheckThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		defer close(done)
		start := time.Now()
		got := RunChecks(t.Context(), []Check{
			{Name: "stuck", Run: func(context.Context) error { <-done; return nil }},
			{Name: "fine", Run: func(context.Context) error { return nil }},
		})
		if got[0].OK || !got[1].OK || time.Since(start) != checkTimeout {
			t.Errorf("got %+v after %v", got, time.Since(start))
		}
	})
}

func TestServeFinishesRequests(t *testing.T) {
	t.Parallel()
	ln, err := Listen(t.Context(), "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	entered, served := make(chan struct{}), make(chan error, 1)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-ctx.Done() // the server is stopping by now
		_, _ = io.WriteString(w, "whole")
	})
	go func() { served <- Serve(ctx, ln, h, slog.New(slog.DiscardHandler)) }()
	go func() { <-entered; stop() }()
	resp, err := http.Get("http://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); string(body) != "whole" || err != nil {
		t.Errorf("body %q, %v", body, err)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve() = %v", err)
	}
}

func TestListenNamesTheFlag(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, err = Listen(t.Context(), "--ops-listen", ln.Addr().String())
	if err == nil || !strings.HasPrefix(err.Error(), "open --ops-listen 127") || ExitCode(err) != ExitUsage {
		t.Errorf("Listen on a taken port: %v", err)
	}
}
