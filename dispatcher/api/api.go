// Package api is judgefarm's own HTTP API, described by the OpenAPI 3.1 document
// that it generates from its types. It translates between HTTP and
// dispatcher.Service and decides nothing. The protocols of other judges are
// dispatcher/compat. It is the only importer of huma.
//
// What goes wrong is told in problem documents (RFC 9457), see Problem.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"judgefarm/dispatcher"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
)

// Config tells New what the API stands on and how much it holds at one time. Only
// Service is needed.
type Config struct {
	Service *dispatcher.Service
	// Languages returns what the workers have; nil answers an empty list.
	Languages func(ctx context.Context) ([]judge.LanguageInfo, error)
	Metrics   *Registry      // nil: a registry of its own
	Checks    []daemon.Check // of /readyz, beside those of the Service
	Log       *slog.Logger   // nil: slog.Default

	MaxWait   time.Duration // longest ?wait=true; 60 s when 0
	Heartbeat time.Duration // between comments on a quiet event stream; 15 s when 0
	// BodyTimeout is how long a JSON body may take to arrive, and six times how long
	// its sender waits for memory that others hold; 30 s when 0.
	BodyTimeout time.Duration
	// WriteTimeout is how long a client may take none of an answer; 30 s when 0.
	WriteTimeout time.Duration
	MaxBody      judge.Bytes // largest JSON body; what Service.Bounds needs when 0
	MaxBodies    judge.Bytes // JSON bodies in memory at one time; 4 x MaxBody when 0
	MaxHeld      int         // waiting requests and event streams at one time; 4096 when 0

	// Stopping, when closed, ends waits and event streams, so that a server can
	// shut down; their clients come again.
	Stopping <-chan struct{}
}

// api is the handler. It holds no goroutine of its own.
type api struct {
	cfg     Config
	log     *slog.Logger
	service *dispatcher.Service
	metrics *metrics
	held    chan struct{} // one entry for each held request
	bodies  *memory       // of JSON bodies
	mux     *http.ServeMux
	schemas huma.Registry
}

// New returns the handler of the whole API: /v1, /openapi.json and .yaml, /healthz,
// /readyz and /metrics.
func New(cfg Config) (http.Handler, error) {
	if cfg.Service == nil {
		return nil, errors.New("make api: Service is missing")
	}
	cfg = cfg.withDefaults()
	a := &api{
		cfg: cfg, log: cfg.Log, service: cfg.Service,
		held:   make(chan struct{}, cfg.MaxHeld),
		bodies: newMemory(int64(cfg.MaxBodies), int64(cfg.MaxBody)),
		mux:    http.NewServeMux(),
	}
	var err error
	if a.metrics, err = newMetrics(cfg.Metrics, cfg.Service, cfg.Log); err != nil {
		return nil, err
	}
	routes := humago.New(a.mux, a.humaConfig())
	a.schemas = routes.OpenAPI().Components.Schemas
	a.register(routes)
	if err := a.serveDocument(routes.OpenAPI()); err != nil {
		return nil, err
	}
	ops := daemon.Ops(daemon.OpsConfig{Metrics: cfg.Metrics, Checks: a.checks()})
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		a.mux.Handle("GET "+path, ops)
	}
	a.mux.HandleFunc("/", a.notFound)
	return a.observe(a.sameOrigin(a.mux)), nil
}

// sameOrigin refuses what a page of another origin has a browser send: the API has no
// passwords, so a page that somebody looks at beside it could submit, roll back or
// drop. Programs that are no browser send neither Sec-Fetch-Site nor Origin.
func (a *api) sameOrigin(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, r, newProblem(http.StatusForbidden, "a browser sent this for a page of another origin, which may only read"))
	}))
	return guard.Handler(next)
}

func (c Config) withDefaults() Config {
	if c.Languages == nil {
		c.Languages = func(context.Context) ([]judge.LanguageInfo, error) { return nil, nil }
	}
	if c.Metrics == nil {
		c.Metrics = newRegistry()
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.MaxWait == 0 {
		c.MaxWait = time.Minute
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = 15 * time.Second
	}
	if c.BodyTimeout == 0 {
		c.BodyTimeout = 30 * time.Second
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 30 * time.Second
	}
	if c.MaxBody == 0 {
		c.MaxBody = c.Service.Bounds().Body()
	}
	if c.MaxBodies < c.MaxBody {
		c.MaxBodies = 4 * c.MaxBody
	}
	if c.MaxHeld == 0 {
		c.MaxHeld = 4096
	}
	return c
}

// humaConfig turns off what reaches out of the machine (the documentation page
// loads scripts from elsewhere) or changes documents ($schema fields).
func (a *api) humaConfig() huma.Config {
	c := huma.DefaultConfig("judgefarm", "1")
	c.Info.Description = "Submit programs, follow how they are judged, upload problems. " +
		"Text that is not UTF-8 travels as base64, marked by an encoding field."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.RejectUnknownQueryParameters = true
	c.Transformers = []huma.Transformer{a.problemDocuments}
	return c
}

// checks are the Service's, in a fixed order, and those of the configuration.
func (a *api) checks() []daemon.Check {
	fixes := []struct{ name, fix string }{
		{"queue", "start Redis, or correct the --redis address"},
		{"results", "start Redis, or correct the --redis address"},
		{"blobs", "start the S3 service, or make the blob directory writable"},
	}
	run := a.service.Ready()
	var checks []daemon.Check
	for _, f := range fixes {
		checks = append(checks, daemon.Check{Name: f.name, Run: run[f.name], Fix: f.fix})
	}
	return append(checks, a.cfg.Checks...)
}

// notFound answers what no route matches: 405 with Allow where another method
// would match, else 404.
func (a *api) notFound(w http.ResponseWriter, r *http.Request) {
	allowed := ""
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := a.mux.Handler(probe); pattern != "/" && pattern != "" {
			if allowed != "" {
				allowed += ", "
			}
			allowed += method
		}
	}
	if allowed == "" {
		writeProblem(w, r, newProblem(http.StatusNotFound, "there is nothing at this path; see /openapi.json"))
		return
	}
	w.Header().Set("Allow", allowed)
	writeProblem(w, r, newProblem(http.StatusMethodNotAllowed,
		fmt.Sprintf("this path answers %s, not %.16s", allowed, r.Method)))
}

// hold takes a place for a request that waits and returns how to give it back;
// nil when all are taken.
func (a *api) hold() func() {
	select {
	case a.held <- struct{}{}:
		a.metrics.held.Inc()
		return func() { <-a.held; a.metrics.held.Dec() }
	default:
		return nil
	}
}

// heldContext ends with ctx, after d, or when the server stops.
func (a *api) heldContext(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, d)
	if a.cfg.Stopping == nil {
		return ctx, cancel
	}
	released := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-a.cfg.Stopping:
			cancel()
		case <-released:
		}
	}()
	return ctx, func() { close(released); <-gone; cancel() }
}
