package client_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	client "judgefarm/clients/go"
	"judgefarm/judge"
)

// silent is a server behind a network that swallows everything.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// Patience is time, not a sum of pauses: tries that nobody answers count.
func TestPatienceWithASilentServer(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(ctx context.Context, c *client.Client) error{
		"submit": func(ctx context.Context, c *client.Client) error {
			_, err := c.Submit(ctx, judge.Request{})
			return err
		},
		"wait": func(ctx context.Context, c *client.Client) error {
			_, err := c.Wait(ctx, "x")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, err := client.New(client.Config{URL: "http://127.0.0.1:1", HTTP: &http.Client{Transport: silent{}}})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if err := do(t.Context(), c); err == nil {
					t.Fatal("got an answer")
				}
				if took := time.Since(began); took < 2*time.Minute || took > 4*time.Minute {
					t.Errorf("gave up after %v, want two minutes and the tries at both ends", took)
				}
			})
		})
	}
}
