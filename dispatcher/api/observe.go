package api

import (
	"context"
	"crypto/rand"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

type requestKey struct{}

// requestID returns the id of the request that ctx belongs to.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

const requestIDHeader = "X-Request-Id"

// observe gives every request an id, counts and logs it, and turns a panic into a
// problem document.
func (a *api) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := r.Header.Get(requestIDHeader)
		if !plainID(id) {
			id = rand.Text()
		}
		w.Header().Set(requestIDHeader, id)
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
		sw := &statusWriter{ResponseWriter: w, conn: http.NewResponseController(w), slow: a.cfg.WriteTimeout}
		sw.limit(0) // of the request before on this connection
		defer sw.limit(sw.slow)
		defer func() {
			if v := recover(); v != nil {
				if v == http.ErrAbortHandler {
					panic(v)
				}
				a.log.Error("answer a panic", "request", id, "panic", v, "stack", string(debug.Stack()))
				if sw.status == 0 {
					writeProblem(sw, r, newProblem(http.StatusInternalServerError,
						"this is a fault of the server; its log has the request_id"))
				}
			}
			a.finished(r, id, sw.status, time.Since(start))
		}()
		if r.ContentLength != 0 {
			a.limitRead(w, a.cfg.BodyTimeout)
		}
		next.ServeHTTP(sw, r)
	})
}

// finished counts and logs. The mux has left its pattern in r: the label is
// bounded by the number of routes.
func (a *api) finished(r *http.Request, id string, status int, took time.Duration) {
	route := r.Pattern
	if route == "" || route == "/" {
		route = "none"
	}
	if status == 0 {
		status = http.StatusOK
	}
	a.metrics.request(route, status, took)
	log := a.log.Debug
	if status >= http.StatusInternalServerError {
		log = a.log.Warn
	}
	log("answered", "request", id, "route", route, "status", status, "took", took)
}

// plainID accepts a caller's id when it can do no harm in a log or header.
func plainID(id string) bool {
	return id != "" && len(id) <= 128 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-") == ""
}

// writePiece is how much of an answer its reader must take within the time limit.
const writePiece = 64 << 10

// statusWriter remembers the status, and drops a client that reads nothing of an answer
// for so long: its memory is in no bound. http.ResponseController finds the rest by
// Unwrap.
type statusWriter struct {
	http.ResponseWriter
	status int
	conn   *http.ResponseController
	slow   time.Duration
}

// limit begins the time for what is written next, the rest that net/http flushes after
// the handler included; 0 ends it.
func (w *statusWriter) limit(d time.Duration) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	_ = w.conn.SetWriteDeadline(until) // a recorder of a test has none; a connection that is gone says so in Write
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	written := 0
	for {
		piece := b[written:min(len(b), written+writePiece)]
		w.limit(w.slow)
		n, err := w.ResponseWriter.Write(piece)
		if written += n; err != nil || written == len(b) {
			return written, err
		}
	}
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
