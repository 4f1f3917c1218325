package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Bounds of the operators' endpoints.
const (
	checkTimeout = 2 * time.Second // a check that takes longer counts as failed
	checkMaxAge  = time.Second     // probes that come faster get the last answer
	closeTimeout = 5 * time.Second // for requests on their way when a server stops
)

var errCheckSlow = fmt.Errorf("no answer within %v", checkTimeout)

// Check is one thing that must hold before the daemon can do its work.
type Check struct {
	Name string                          // "redis", "blobs", "sandbox"
	Run  func(ctx context.Context) error // nil when it holds
	Fix  string                          // what an operator does when it does not
}

// Draining is the check that stops holding when take ends, so that load balancers
// turn elsewhere during a drain.
func Draining(take context.Context) Check {
	return Check{
		Name: "taking work",
		Run:  func(context.Context) error { return context.Cause(take) },
		Fix:  "none needed: the process is stopping",
	}
}

// OpsConfig configures Ops.
type OpsConfig struct {
	Metrics prometheus.Gatherer // nil: no /metrics
	Checks  []Check
}

// Ops returns the handler of /metrics, /healthz (the process answers) and /readyz
// (every check holds: 200; else 503 with a problem document (RFC 9457) that tells
// each check, its error and its fix). Answers of /readyz are kept for one second.
func Ops(cfg OpsConfig) http.Handler {
	mux := http.NewServeMux()
	if cfg.Metrics != nil {
		mux.Handle("GET /metrics", promhttp.HandlerFor(cfg.Metrics, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, "application/json", http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.Handle("GET /readyz", &readiness{checks: cfg.Checks})
	return mux
}

// readiness answers /readyz.
type readiness struct {
	checks []Check

	mu      sync.Mutex
	last    []CheckResult
	checked time.Time
}

// CheckResult is how one check stands, as /readyz shows it.
type CheckResult struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Fix   string `json:"fix,omitempty"`
}

func (r *readiness) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	results := r.results(req.Context())
	for _, c := range results {
		if !c.OK {
			writeJSON(w, "application/problem+json", http.StatusServiceUnavailable, map[string]any{
				"type": "about:blank", "title": "not ready", "status": http.StatusServiceUnavailable,
				"detail": c.Name + ": " + c.Error, "checks": results,
			})
			return
		}
	}
	writeJSON(w, "application/json", http.StatusOK, map[string]any{"status": "ready", "checks": results})
}

// results holds the lock while checking: one round of checks runs at a time, and
// those who come meanwhile get its answer.
func (r *readiness) results(ctx context.Context) []CheckResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil || time.Since(r.checked) > checkMaxAge {
		// The answer is for everyone, so the first asker's hanging up must not spoil it.
		r.last = RunChecks(context.WithoutCancel(ctx), r.checks)
		r.checked = time.Now()
	}
	return r.last
}

// RunChecks runs all checks at once, each with two seconds, and returns how each
// stands, in order.
func RunChecks(ctx context.Context, checks []Check) []CheckResult {
	ctx, cancel := context.WithTimeoutCause(ctx, checkTimeout, errCheckSlow)
	defer cancel()
	answers := make([]chan error, len(checks))
	for i, c := range checks {
		answers[i] = make(chan error, 1)
		go func() { answers[i] <- c.Run(ctx) }()
	}
	results := make([]CheckResult, len(checks))
	for i, c := range checks {
		results[i] = CheckResult{Name: c.Name, OK: true}
		var err error
		select {
		case err = <-answers[i]:
		case <-ctx.Done():
			select {
			case err = <-answers[i]: // it was in time, another one was not
			default: // a check that ignores its context is left behind, not waited for
				err = context.Cause(ctx)
			}
		}
		if err != nil {
			results[i] = CheckResult{Name: c.Name, Error: err.Error(), Fix: c.Fix}
		}
	}
	return results
}

func writeJSON(w http.ResponseWriter, contentType string, status int, doc any) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// An error here is a client that went away: nobody is left to tell.
	_ = json.NewEncoder(w).Encode(doc)
}

// Listen opens a TCP listener. Its error, a UsageError, names the flag to change,
// given as it is written: "--listen".
func Listen(ctx context.Context, flag, address string) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, Usage("open %s %s: %w", flag, address, err)
	}
	return ln, nil
}

// Serve answers HTTP on ln until ctx ends, then lets requests on their way finish
// for up to five seconds. It closes ln and returns nil after an orderly stop.
func Serve(ctx context.Context, ln net.Listener, handler http.Handler, log *slog.Logger) error {
	// Requests outlive ctx on purpose: Shutdown waits for them.
	requests, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve http on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	err := srv.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("cut requests off", "address", ln.Addr().String())
		hangUp()
		err = srv.Close()
	}
	<-served
	return err
}
