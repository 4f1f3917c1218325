// Package client talks to the HTTP API of judgefarm. It tries again where that is
// safe, follows submissions over broken connections, and imports nothing of the
// server but the documents. It is for programs in Go; judgefarm submit uses it.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"judgefarm/judge"
)

// Config says where the server is and how patient the client is.
type Config struct {
	URL string // http://127.0.0.1:8080
	// HTTP is used as it is; it must have no Timeout, or Wait ends early. nil:
	// http.DefaultClient.
	HTTP *http.Client
	// Patience is how long a call tries again when the server is full or away; two
	// minutes when 0, not at all when negative. Retry-After is kept to.
	Patience time.Duration
	// Pause waits between tries; nil waits on a timer.
	Pause func(ctx context.Context, d time.Duration) error
	// Quiet is how long a stream of events may say nothing before it is opened
	// anew; one minute when 0. The server sends a comment every 15 s.
	Quiet time.Duration
}

// Client is safe for concurrent use.
type Client struct {
	cfg  Config
	base string
}

const (
	requestTimeout = 30 * time.Second // of one try of a small request
	uploadTimeout  = 15 * time.Minute // of one try to upload a problem
	maxAnswer      = 256 << 20        // bytes of one answer or event
)

// New checks the configuration; it does not talk to the server.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("server URL must be like http://127.0.0.1:8080, is %q", cfg.URL)
	}
	if cfg.HTTP == nil {
		cfg.HTTP = http.DefaultClient
	}
	if cfg.Patience == 0 {
		cfg.Patience = 2 * time.Minute
	}
	if cfg.Pause == nil {
		cfg.Pause = pause
	}
	if cfg.Quiet == 0 {
		cfg.Quiet = time.Minute
	}
	return &Client{cfg: cfg, base: strings.TrimRight(cfg.URL, "/")}, nil
}

// Submit sends a submission and returns it as accepted; Wait tells what became of
// it. It makes an Idempotency-Key, so that trying again never submits twice. Errors
// are an *Error, or of the network.
func (c *Client) Submit(ctx context.Context, req judge.Request) (judge.Judgement, error) {
	return c.SubmitKeyed(ctx, req, rand.Text())
}

// SubmitKeyed is Submit with the caller's own Idempotency-Key: a caller that was
// restarted can send the request again.
func (c *Client) SubmitKeyed(ctx context.Context, req judge.Request, key string) (judge.Judgement, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return judge.Judgement{}, fmt.Errorf("encode submission: %w", err)
	}
	var j judge.Judgement
	err = c.call(ctx, call{
		verb: "submit", method: http.MethodPost, path: "/v1/submissions", timeout: requestTimeout,
		header: http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}},
		body:   func() io.Reader { return bytes.NewReader(body) }, size: int64(len(body)),
	}, &j)
	return j, err
}

// Get returns a submission as it stands.
func (c *Client) Get(ctx context.Context, id string) (judge.Judgement, error) {
	var j judge.Judgement
	err := c.call(ctx, call{verb: "get submission", method: http.MethodGet, path: submissionPath(id), timeout: requestTimeout}, &j)
	return j, err
}

// Cancel ends a submission, or asks its worker to: then it is not final yet.
func (c *Client) Cancel(ctx context.Context, id string) (judge.Judgement, error) {
	var j judge.Judgement
	err := c.call(ctx, call{verb: "cancel submission", method: http.MethodPost, path: submissionPath(id) + "/cancel", timeout: requestTimeout}, &j)
	return j, err
}

// PutProblem uploads a problem package (zip, tar or tar.gz) as the current version
// of id. An *Error names every fault of the package.
func (c *Client) PutProblem(ctx context.Context, id string, archive []byte) (judge.ProblemInfo, error) {
	return c.PutProblemFrom(ctx, id, bytes.NewReader(archive), int64(len(archive)))
}

// PutProblemFrom is PutProblem of an archive of size bytes that need not be in memory.
func (c *Client) PutProblemFrom(ctx context.Context, id string, archive io.ReaderAt, size int64) (judge.ProblemInfo, error) {
	var info judge.ProblemInfo
	err := c.call(ctx, call{
		verb: "upload problem", method: http.MethodPut, path: problemPath(id), timeout: uploadTimeout,
		header: http.Header{"Content-Type": {"application/octet-stream"}},
		body:   func() io.Reader { return io.NewSectionReader(archive, 0, size) }, size: size,
	}, &info)
	return info, err
}

// GetProblem returns what is known of an uploaded problem.
func (c *Client) GetProblem(ctx context.Context, id string) (judge.ProblemInfo, error) {
	var info judge.ProblemInfo
	err := c.call(ctx, call{verb: "get problem", method: http.MethodGet, path: problemPath(id), timeout: requestTimeout}, &info)
	return info, err
}

// Languages lists every defined language and whether the workers have it.
func (c *Client) Languages(ctx context.Context) ([]judge.LanguageInfo, error) {
	var list struct {
		Languages []judge.LanguageInfo `json:"languages"`
	}
	err := c.call(ctx, call{verb: "list languages", method: http.MethodGet, path: "/v1/languages", timeout: requestTimeout}, &list)
	return list.Languages, err
}

func submissionPath(id string) string { return "/v1/submissions/" + url.PathEscape(id) }

// Error is what the server answered instead.
type Error struct {
	Status     int
	Detail     string
	Faults     []*judge.FieldError // by field, where the request was at fault
	RetryAfter time.Duration       // 0: the server did not say
	RequestID  string              // finds the request in the server's log
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("server answered %d %s: %s", e.Status, http.StatusText(e.Status), e.Detail)
	if e.Status >= http.StatusInternalServerError && e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// Unwrap returns the faults as a *judge.BadRequest, so that a caller treats them as
// if it had found them itself; nil when the request was not at fault.
func (e *Error) Unwrap() error { return judge.Refuse(e.Faults...) }

// IsNotFound reports whether the server knows no such submission or problem.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}
