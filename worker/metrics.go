package worker

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// Metrics is what Prometheus sees of a worker. docs/metrics.md lists it.
type Metrics struct {
	slots, busy             prometheus.Gauge
	runs, judgements        *prometheus.CounterVec
	failures                *prometheus.CounterVec
	lost, quarantines       prometheus.Counter
	compiles                *prometheus.CounterVec
	boxSetup, boxTeardown   prometheus.Histogram
	boxFailures             prometheus.Counter
	cpu, wall, memory       *prometheus.HistogramVec
	runDelay                prometheus.Histogram
	queueWait               *prometheus.HistogramVec
	uploads, uploadFailures prometheus.Counter
	uploadBytes             prometheus.Counter
}

var (
	boxBuckets    = []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .5, 1}
	timeBuckets   = []float64{.001, .005, .02, .05, .1, .25, .5, 1, 2, 5, 10, 30, 60}
	delayBuckets  = []float64{.0001, .0005, .001, .004, .01, .05, .1, .5, 1, 5}
	waitBuckets   = []float64{.005, .01, .02, .03, .05, .1, .5, 1, 5, 30, 120, 600}
	memoryBuckets = prometheus.ExponentialBuckets(1<<20, 2, 14)
)

// NewMetrics registers the metrics; a nil registerer keeps them to itself.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return f.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	histograms := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return f.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"language"})
	}
	return &Metrics{
		slots:       f.NewGauge(prometheus.GaugeOpts{Name: "judge_slots", Help: "Submissions this worker judges at once."}),
		busy:        f.NewGauge(prometheus.GaugeOpts{Name: "judge_busy_slots", Help: "Submissions being judged now."}),
		runs:        counters("judge_runs_total", "Runs by language and verdict.", "language", "verdict"),
		judgements:  counters("judge_judgements_total", "Final judgements by language, state and verdict.", "language", "state", "verdict"),
		failures:    counters("judge_failures_total", "Attempts that failed through a fault of ours, by kind.", "kind"),
		quarantines: counter("judge_quarantines_total", "Problems that this worker took into quarantine."),
		lost:        counter("judge_leases_lost_total", "Attempts whose lease another took or whose result was refused as stale."),
		compiles:    counters("judge_compiles_total", "Compile steps by language and where the executable came from.", "language", "cache"),
		boxSetup:    histogram("judge_box_setup_seconds", "Time to make a box.", boxBuckets),
		boxTeardown: histogram("judge_box_teardown_seconds", "Time from the end of the program until nothing of its box was left.", boxBuckets),
		boxFailures: counter("judge_box_failures_total", "Boxes that could not be made or measured."),
		cpu:         histograms("judge_run_cpu_seconds", "CPU time of runs.", timeBuckets),
		wall:        histograms("judge_run_wall_seconds", "Wall time of runs.", timeBuckets),
		memory:      histograms("judge_run_memory_bytes", "Peak memory of runs.", memoryBuckets),
		runDelay:    histogram("judge_run_delay_seconds", "Time the main program of a run could have run and had no core.", delayBuckets),
		queueWait: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "judge_queue_wait_seconds", Help: "Time from acceptance to the start of an attempt, by priority.", Buckets: waitBuckets,
		}, []string{"priority"}),
		uploads:        counter("judge_uploads_total", "Artifacts stored."),
		uploadFailures: counter("judge_upload_failures_total", "Attempts whose artifacts could not be stored."),
		uploadBytes:    counter("judge_upload_bytes_total", "Bytes of artifacts stored."),
	}
}

// judged counts a final document.
func (m *Metrics) judged(j *judge.Judgement) {
	language := ""
	if j.Language != nil {
		language = j.Language.ID
	}
	m.judgements.WithLabelValues(language, string(j.State), string(verdictOf(*j))).Inc()
	if j.State != judge.Judged {
		return
	}
	if j.Compile != nil {
		m.compiles.WithLabelValues(language, cacheLabel(j.Compile.Cached)).Inc()
	}
	for _, run := range j.Cases {
		m.runs.WithLabelValues(language, string(run.Verdict)).Inc()
		if run.Verdict == judge.Skipped {
			continue
		}
		m.cpu.WithLabelValues(language).Observe(run.Usage.CPU.Duration().Seconds())
		m.wall.WithLabelValues(language).Observe(run.Usage.Wall.Duration().Seconds())
		m.memory.WithLabelValues(language).Observe(float64(run.Usage.Memory.Bytes()))
		if run.Noise != nil && run.Noise.RunDelay != nil {
			m.runDelay.Observe(run.Noise.RunDelay.Duration().Seconds())
		}
	}
}

// Stored counts what a Keep stored; it is for artifacts.Config.
func (m *Metrics) Stored(objects int, bytes int64, err error) {
	if err != nil {
		m.uploadFailures.Inc()
		return
	}
	m.uploads.Add(float64(objects))
	m.uploadBytes.Add(float64(bytes))
}

func cacheLabel(hit bool) string {
	if hit {
		return "hit"
	}
	return "miss"
}

// Measured is a runner that counts what its boxes cost.
type Measured struct {
	sandbox.Runner
	Metrics *Metrics
}

// Run implements sandbox.Runner.
func (r Measured) Run(ctx context.Context, spec sandbox.Spec) (*sandbox.Report, error) {
	rep, err := r.Runner.Run(ctx, spec)
	switch {
	case err == nil:
		r.Metrics.boxSetup.Observe(rep.Setup.Seconds())
		r.Metrics.boxTeardown.Observe(rep.Teardown.Seconds())
	case ctx.Err() == nil && !judge.IsBadRequest(err):
		r.Metrics.boxFailures.Inc()
	}
	return rep, err
}
