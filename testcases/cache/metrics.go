package cache

import "github.com/prometheus/client_golang/prometheus"

// Metrics of a cache: judge_problem_cache_requests_total by result (hit, fetched or
// failed), judge_problem_cache_bytes and judge_problem_cache_problems.
type Metrics struct {
	requests        *prometheus.CounterVec
	bytes, problems prometheus.Gauge
}

// The results a request can have.
const (
	resultHit     = "hit"
	resultFetched = "fetched"
	resultFailed  = "failed"
)

// NewMetrics registers the metrics; a nil registerer keeps them to itself.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "judge_problem_cache_requests_total",
			Help: "Problems asked of the worker's cache; result is hit, fetched or failed.",
		}, []string{"result"}),
		bytes: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "judge_problem_cache_bytes", Help: "Disk taken by unpacked problems.",
		}),
		problems: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "judge_problem_cache_problems", Help: "Problems on the worker's disk.",
		}),
	}
	for _, result := range []string{resultHit, resultFetched, resultFailed} {
		m.requests.WithLabelValues(result) // there from the start, as 0
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.bytes, m.problems)
	}
	return m
}

func (m *Metrics) asked(result string) { m.requests.WithLabelValues(result).Inc() }

func (m *Metrics) size(used int64, problems int) {
	m.bytes.Set(float64(used))
	m.problems.Set(float64(problems))
}
