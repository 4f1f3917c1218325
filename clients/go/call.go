package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"judgefarm/judge"
)

// call is one request that may be tried again: it has the same effect twice.
type call struct {
	verb, method, path string
	header             http.Header
	body               func() io.Reader // a new reader for each try; nil: no body
	size               int64
	timeout            time.Duration // of one try
}

// The pauses where the server names none: they double from the first to the most.
const (
	firstPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// call tries until the server has answered for good or patience is used up, and
// decodes the answer into v, unless that is nil. The first try may take its time, what
// comes after it counts.
func (c *Client) call(ctx context.Context, do call, v any) error {
	var spent time.Duration
	for wait, first := firstPause, true; ; wait, first = min(2*wait, mostPause), false {
		began := time.Now()
		err := c.try(ctx, do, v)
		if err == nil {
			return nil
		}
		if !first {
			spent += time.Since(began)
		}
		again, after := retryable(err)
		if after == 0 {
			after = wait/2 + rand.N(wait/2)
		}
		if spent += after; !again || ctx.Err() != nil || spent > c.cfg.Patience {
			return fmt.Errorf("%s: %w", do.verb, err)
		}
		if err := c.cfg.Pause(ctx, after); err != nil {
			return fmt.Errorf("%s: %w", do.verb, err)
		}
	}
}

// retryable tells whether trying again may help, and when where the server said so.
// An error that is no answer is the network's.
func retryable(err error) (again bool, after time.Duration) {
	var e *Error
	if !errors.As(err, &e) {
		return true, 0
	}
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return true, e.RetryAfter
	}
	return false, 0
}

func (c *Client) try(ctx context.Context, do call, v any) error {
	ctx, cancel := context.WithTimeout(ctx, do.timeout)
	defer cancel()
	res, err := c.send(ctx, do)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if v == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(v); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// send returns an answer below 300; others become an *Error.
func (c *Client) send(ctx context.Context, do call) (*http.Response, error) {
	var body io.Reader
	if do.body != nil {
		body = do.body()
	}
	req, err := http.NewRequestWithContext(ctx, do.method, c.base+do.path, body)
	if err != nil {
		return nil, err
	}
	if do.body != nil {
		req.ContentLength = do.size
	}
	for name, values := range do.header {
		req.Header[name] = values
	}
	res, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, readError(res)
}

// readError reads a problem document; whatever stands between (a proxy) may answer
// with another type.
func readError(res *http.Response) *Error {
	e := &Error{Status: res.StatusCode, Detail: "no detail", RequestID: res.Header.Get("X-Request-Id")}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	var p struct {
		Detail string              `json:"detail"`
		Errors []*judge.FieldError `json:"errors"`
	}
	if json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&p) == nil && p.Detail != "" {
		e.Detail, e.Faults = p.Detail, p.Errors
	}
	return e
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
