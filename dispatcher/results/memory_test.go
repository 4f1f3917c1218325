package results_test

import (
	"testing"

	"judgefarm/dispatcher/results"
	"judgefarm/dispatcher/results/resultstest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	resultstest.Run(t, func(_ *testing.T, cfg results.Config) results.Store { return results.NewMemory(cfg) })
}
