package bench

import (
	"math"
	"testing"
)

func TestMeanAndCV(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values   []float64
		mean, cv float64
	}{
		{[]float64{9, 11}, 10, math.Sqrt2 / 10},
		{[]float64{5, 5, 5}, 5, 0},
		{[]float64{7}, 7, 0},
		{nil, 0, 0},
	} {
		mean, cv := meanAndCV(c.values)
		if math.Abs(mean-c.mean) > 1e-9 || math.Abs(cv-c.cv) > 1e-9 {
			t.Errorf("meanAndCV(%v) = %v, %v, want %v, %v", c.values, mean, cv, c.mean, c.cv)
		}
	}
}
