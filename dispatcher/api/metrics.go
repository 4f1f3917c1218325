package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/queue"
	"judgefarm/judge"
)

// Registry is where the API's metrics are registered and what /metrics shows.
type Registry = prometheus.Registry

func newRegistry() *Registry { return prometheus.NewRegistry() }

const depthTimeout = 2 * time.Second

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	accepted *prometheus.CounterVec
	refused  *prometheus.CounterVec
	held     prometheus.Gauge
	bodies   prometheus.Gauge
}

func newMetrics(reg *Registry, service *dispatcher.Service, log *slog.Logger) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "judge_api_requests_total", Help: "HTTP requests answered, by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "judge_api_request_seconds", Help: "Time to answer an HTTP request, waits and event streams included.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
		}, []string{"route"}),
		accepted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "judge_submissions_accepted_total", Help: "Submissions acknowledged, replays of an Idempotency-Key included, by priority.",
		}, []string{"priority"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "judge_submissions_refused_total", Help: "Submissions refused: bad_request, full, unavailable or internal.",
		}, []string{"reason"}),
		held: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "judge_api_held_requests", Help: "Waiting requests and event streams that are open.",
		}),
		bodies: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "judge_api_body_bytes", Help: "Memory taken for JSON bodies that are being received or admitted.",
		}),
	}
	for _, p := range priorities() {
		m.accepted.WithLabelValues(p)
	}
	for _, reason := range []string{"bad_request", "full", "unavailable", "internal"} {
		m.refused.WithLabelValues(reason)
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.accepted, m.refused, m.held, m.bodies, newDepth(service, log), newQuarantined(service, log)} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

func priorities() []string { return []string{queue.Interactive, queue.Train, queue.Batch} }

func (m *metrics) request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// submitted counts one call of Submit.
func (m *metrics) submitted(priority string, err error) {
	switch {
	case err == nil:
		if priority == "" {
			priority = queue.Interactive
		}
		m.accepted.WithLabelValues(priority).Inc()
	case judge.IsBadRequest(err):
		m.invalid()
	case errors.Is(err, dispatcher.ErrFull):
		m.refused.WithLabelValues("full").Inc()
	case errors.Is(err, dispatcher.ErrUnavailable):
		m.refused.WithLabelValues("unavailable").Inc()
	default:
		m.refused.WithLabelValues("internal").Inc()
	}
}

func (m *metrics) invalid() { m.refused.WithLabelValues("bad_request").Inc() }

// depth reads the line when it is scraped. When the line does not answer there is
// no sample: a stale one would look like a stuck queue.
type depth struct {
	service *dispatcher.Service
	log     *slog.Logger
	desc    *prometheus.Desc
}

func newDepth(service *dispatcher.Service, log *slog.Logger) *depth {
	return &depth{service: service, log: log, desc: prometheus.NewDesc(
		"judge_queue_depth_jobs", "Submissions waiting for a worker, by priority.", []string{"priority"}, nil)}
}

// Describe implements prometheus.Collector.
func (d *depth) Describe(ch chan<- *prometheus.Desc) { ch <- d.desc }

// Collect implements prometheus.Collector.
func (d *depth) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), depthTimeout)
	defer cancel()
	counts, err := d.service.Depth(ctx)
	if err != nil {
		d.log.Warn("leave queue depth out of metrics", "error", err)
		return
	}
	for _, p := range priorities() {
		ch <- prometheus.MustNewConstMetric(d.desc, prometheus.GaugeValue, float64(counts[p]), p)
	}
}

// quarantined reads the results store when it is scraped.
type quarantined struct {
	service *dispatcher.Service
	log     *slog.Logger
	desc    *prometheus.Desc
}

func newQuarantined(service *dispatcher.Service, log *slog.Logger) *quarantined {
	return &quarantined{service: service, log: log, desc: prometheus.NewDesc(
		"judge_quarantined_packages", "Versions of problems in quarantine.", nil, nil)}
}

// Describe implements prometheus.Collector.
func (q *quarantined) Describe(ch chan<- *prometheus.Desc) { ch <- q.desc }

// Collect implements prometheus.Collector.
func (q *quarantined) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), depthTimeout)
	defer cancel()
	n, err := q.service.CountQuarantined(ctx)
	if err != nil {
		q.log.Warn("leave quarantined packages out of metrics", "error", err)
		return
	}
	ch <- prometheus.MustNewConstMetric(q.desc, prometheus.GaugeValue, float64(n))
}
