package results_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"judgefarm/dispatcher/results"
	"judgefarm/dispatcher/results/resultstest"
	"judgefarm/internal/testenv"
)

// fresh returns a function that opens empty stores, each under its own prefix.
func fresh(addr string) resultstest.New {
	var count atomic.Int64
	return func(t *testing.T, cfg results.Config) results.Store {
		t.Helper()
		cfg.URL = "redis://" + addr
		cfg.Prefix = fmt.Sprintf("t%d", count.Add(1))
		s, err := results.NewRedis(cfg)
		if err != nil {
			t.Fatalf("NewRedis: %v", err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		return s
	}
}

func TestRedis(t *testing.T) {
	t.Parallel()
	resultstest.Run(t, fresh(testenv.Redis(t)))
}

func TestMiniredis(t *testing.T) {
	t.Parallel()
	resultstest.Run(t, fresh(miniredis.RunT(t).Addr()))
}
