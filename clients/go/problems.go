package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"judgefarm/judge"
)

// Problems lists the current versions of all problems, in byte order of their ids.
func (c *Client) Problems(ctx context.Context) ([]judge.ProblemInfo, error) {
	var all []judge.ProblemInfo
	for after := ""; ; {
		var page struct {
			Problems []judge.ProblemInfo `json:"problems"`
			Next     string              `json:"next"`
		}
		path := "/v1/problems?after=" + url.QueryEscape(after)
		if err := c.call(ctx, call{verb: "list problems", method: http.MethodGet, path: path, timeout: requestTimeout}, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Problems...)
		if page.Next <= after {
			return all, nil
		}
		after = page.Next
	}
}

// ProblemVersions returns what is kept of a problem, the newest version first.
func (c *Client) ProblemVersions(ctx context.Context, id string) (judge.ProblemVersions, error) {
	var v judge.ProblemVersions
	err := c.call(ctx, call{verb: "list versions", method: http.MethodGet, path: problemPath(id) + "/versions", timeout: requestTimeout}, &v)
	return v, err
}

// RollbackProblem makes a version the current one. The number is needed: a call that
// is tried again must not go back twice.
func (c *Client) RollbackProblem(ctx context.Context, id string, version int) (judge.ProblemInfo, error) {
	var info judge.ProblemInfo
	if version < 1 {
		return info, fmt.Errorf("roll back problem: version must be 1 or more, is %d", version)
	}
	path := problemPath(id) + "/rollback?version=" + strconv.Itoa(version)
	err := c.call(ctx, call{verb: "roll back problem", method: http.MethodPost, path: path, timeout: requestTimeout}, &info)
	return info, err
}

// ReleaseProblem lets a version out of quarantine; 0 is the current one.
func (c *Client) ReleaseProblem(ctx context.Context, id string, version int) (judge.ProblemInfo, error) {
	var info judge.ProblemInfo
	path := problemPath(id) + "/release?version=" + strconv.Itoa(version)
	err := c.call(ctx, call{verb: "release problem", method: http.MethodPost, path: path, timeout: requestTimeout}, &info)
	return info, err
}

// DeleteProblem forgets a problem and its versions. Where the first try was done but
// not answered, the next one finds no problem: see IsNotFound.
func (c *Client) DeleteProblem(ctx context.Context, id string) error {
	return c.call(ctx, call{verb: "delete problem", method: http.MethodDelete, path: problemPath(id), timeout: requestTimeout}, nil)
}

func problemPath(id string) string { return "/v1/problems/" + url.PathEscape(id) }
