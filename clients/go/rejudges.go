package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"judgefarm/judge"
)

// rejudgeTimeout is for one try of what reads or writes every submission of a rejudge.
const rejudgeTimeout = 5 * time.Minute

// Rejudge has submissions judged again; their judgements stay as they are. Tried
// again after a lost answer it may make two rejudges: one that nobody applies changes
// nothing.
func (c *Client) Rejudge(ctx context.Context, req judge.RejudgeRequest) (judge.Rejudge, error) {
	var r judge.Rejudge
	body, err := json.Marshal(req)
	if err != nil {
		return r, fmt.Errorf("encode rejudge: %w", err)
	}
	err = c.call(ctx, call{
		verb: "rejudge", method: http.MethodPost, path: "/v1/rejudges", timeout: rejudgeTimeout,
		header: http.Header{"Content-Type": {"application/json"}},
		body:   func() io.Reader { return bytes.NewReader(body) }, size: int64(len(body)),
	}, &r)
	return r, err
}

// GetRejudge returns the rejudge as it stands, with the difference it would make.
func (c *Client) GetRejudge(ctx context.Context, id string) (judge.Rejudge, error) {
	var r judge.Rejudge
	err := c.call(ctx, call{verb: "get rejudge", method: http.MethodGet, path: rejudgePath(id), timeout: rejudgeTimeout}, &r)
	return r, err
}

// WaitRejudge asks until every new judgement is final; seen, where not nil, hears how
// far it is.
func (c *Client) WaitRejudge(ctx context.Context, id string, seen func(judge.Rejudge)) (judge.Rejudge, error) {
	for wait := firstPause; ; wait = min(2*wait, mostPause) {
		r, err := c.GetRejudge(ctx, id)
		if err != nil {
			return r, err
		}
		if seen != nil {
			seen(r)
		}
		if r.State != judge.RejudgeJudging {
			return r, nil
		}
		if err := pause(ctx, wait); err != nil {
			return r, fmt.Errorf("wait for rejudge: %w", err)
		}
	}
}

// ApplyRejudge makes the new judgements those of the submissions. It may be called again.
func (c *Client) ApplyRejudge(ctx context.Context, id string) (judge.Rejudge, error) {
	var r judge.Rejudge
	err := c.call(ctx, call{verb: "apply rejudge", method: http.MethodPost, path: rejudgePath(id) + "/apply", timeout: rejudgeTimeout}, &r)
	return r, err
}

// DropRejudge leaves the submissions as they are.
func (c *Client) DropRejudge(ctx context.Context, id string) error {
	return c.call(ctx, call{verb: "drop rejudge", method: http.MethodDelete, path: rejudgePath(id), timeout: rejudgeTimeout}, nil)
}

func rejudgePath(id string) string { return "/v1/rejudges/" + url.PathEscape(id) }
