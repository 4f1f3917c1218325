package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/api"
	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
	"judgefarm/testcases/cache"
	"judgefarm/testcases/format"
	"judgefarm/worker"
	"judgefarm/worker/artifacts"
)

// storeFlags say where the farm's parts meet.
type storeFlags struct {
	Redis  string `help:"URL of Redis: redis://[:PASSWORD@]HOST:PORT/DB, rediss:// or unix://." placeholder:"URL"`
	Prefix string `help:"Name of the farm in Redis; all its parts use the same." default:"jf"`
	blob.Config
}

// stores are where dispatchers and workers meet.
type stores struct {
	line    *queue.Queue
	source  *queue.Taker
	results results.Store
	blobs   blob.Store
	close   []func() error
}

// open connects to what the flags name. It talks to nobody yet: the daemons' checks do.
func (f *storeFlags) open(env *daemon.Env, redisURL string) (s *stores, err error) {
	s = &stores{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.blobs, err = blob.Open(f.Config); err != nil {
		return s, daemon.Usage("--blobs: %w", err)
	}
	results.LogRedis(env.Log)
	cfg := queue.Config{URL: redisURL, Prefix: f.Prefix, Logger: env.Log}
	if s.line, err = queue.New(cfg); err != nil {
		return s, daemon.Usage("--redis: %w", err)
	}
	s.close = append(s.close, s.line.Close)
	if s.source, err = queue.NewSource(cfg); err != nil {
		return s, daemon.Usage("--redis: %w", err)
	}
	s.close = append(s.close, s.source.Close)
	if f.Redis == "" {
		s.results = results.NewMemory(results.Config{Logger: env.Log})
		return s, nil
	}
	store, err := results.NewRedis(results.Config{URL: f.Redis, Prefix: f.Prefix, Logger: env.Log})
	if err != nil {
		return s, daemon.Usage("--redis: %w", err)
	}
	s.results = store
	s.close = append(s.close, store.Close)
	return s, nil
}

// needReal refuses flags with which daemons of different machines could not meet.
func (f *storeFlags) needReal() error {
	switch {
	case f.Redis == "":
		return daemon.Usage("--redis: state the Redis where dispatchers and workers meet, or run judgefarm serve")
	case f.URL == "":
		return daemon.Usage("--blobs: state the blob store that dispatchers and workers share, or run judgefarm serve")
	case f.URL == "memory:":
		return daemon.Usage("--blobs: memory: is seen by one process only; state a shared directory or an S3 bucket")
	}
	return nil
}

// Close gives the connections up, the newest first.
func (s *stores) Close() error {
	var errs []error
	for i := len(s.close) - 1; i >= 0; i-- {
		errs = append(errs, s.close[i]())
	}
	return errors.Join(errs...)
}

// apiFlags configure a process that answers HTTP.
type apiFlags struct {
	Listen      string `help:"Address of the HTTP API." default:"127.0.0.1:8080"`
	AddressFile string `help:"File to write the address to once the API listens; for port 0." placeholder:"FILE"`
	packageFlags
}

// workerFlags configure a process that judges.
type workerFlags struct {
	Name  string        `help:"Name of this worker, unique in the farm; by default the host's name and the process id." placeholder:"NAME"`
	Slots int           `help:"Submissions judged at once; 0: one for each core that this process may use." default:"0"`
	Lease time.Duration `help:"How long a silent worker keeps a submission." default:"5s"`
	Drain time.Duration `help:"How long running submissions may go on after SIGTERM; what is left goes back uncharged." default:"30s"`

	QuarantineAfter int `help:"For how many submissions in a row a problem's checker or interactor may fail on this worker until submissions to it fail at once; negative: without end." default:"5"`

	SideBySide bool        `help:"Run further cases of a submission in slots that no submission wants. Verdicts are those of one case after another; programs that are bound by memory may take longer while another runs."`
	Dialogues  judge.Bytes `help:"How much of each dialogue with an interactor is kept as an artifact, 0 is nothing: what both sides say goes through the worker then, and takes about twice as long." default:"0"`

	Keep artifacts.Config `embed:""`
}

// workerName is --name, or host and process id in the characters that keys allow.
func (f *workerFlags) workerName() (string, error) {
	if f.Name != "" {
		if err := blob.CheckKey(judge.WorkerPrefix + f.Name + ".json"); err != nil {
			return "", daemon.Usage("--name: %w", err)
		}
		return f.Name, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", daemon.Usage("--name: %w; state one", err)
	}
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, host)
	return fmt.Sprintf("%s-%d", clean, os.Getpid()), nil
}

// check refuses times that no worker can keep to.
func (f *workerFlags) check() error {
	const shortest = 2 * worker.DefaultHeartbeat // one lost heartbeat is no lost worker
	switch {
	case f.Lease != 0 && f.Lease < shortest:
		return daemon.Usage("--lease: must be at least %v, is %v", shortest, f.Lease)
	case f.QuarantineAfter == 0:
		return daemon.Usage("--quarantine-after: must be 1 or more, or negative for never, is 0")
	case f.Drain < 0:
		return daemon.Usage("--drain: must not be negative, is %v", f.Drain)
	}
	return nil
}

// judging is a worker with what it judges with.
type judging struct {
	*local
	problems *cache.Cache
	worker   *worker.Worker
	floor    []byte // see heapFloor
}

// heapFloor is how much a worker allocates at least between two collections. What it
// keeps is a few megabytes and what a submission allocates one or more: without it
// the collector ran after every other submission and took 8 % of our CPU time. It
// is never written, so no memory stands behind it; what comes on top is as much
// garbage as it is large.
const heapFloor = 32 << 20

// Close gives up what openWorker took.
func (j *judging) Close() error { return errors.Join(j.problems.Close(), j.local.Close()) }

// openWorker makes the worker of this process.
func openWorker(ctx context.Context, env *daemon.Env, wf *workerFlags, lf *localFlags, s *stores, reg *registry) (*judging, error) {
	name, err := wf.workerName()
	if err != nil {
		return nil, err
	}
	slots, err := cores(wf.Slots)
	if err != nil {
		return nil, err
	}
	if err := lf.checkSideBySide(wf.SideBySide); err != nil {
		return nil, err
	}
	metrics := worker.NewMetrics(reg)
	l, err := lf.openLocal(env, slots, func(r sandbox.Runner) sandbox.Runner {
		return worker.Measured{Runner: r, Metrics: metrics}
	})
	if err != nil {
		return nil, err
	}
	if wf.SideBySide {
		l.sideBySide(slots)
	}
	l.keep(wf.Keep.MaxStream, wf.Dialogues)
	// The first look at a toolchain reads all of it: now, and not at the first submission.
	if _, err := languageInfos(ctx, l); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	j := &judging{local: l, floor: make([]byte, heapFloor)}
	j.problems, err = cache.New(cache.Config{Store: s.blobs, Dir: filepath.Join(l.cacheDir, "problems"), MaxBytes: lf.CacheSize, Build: l.builder.Build, Metrics: cache.NewMetrics(reg), Log: env.Log})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	keep := wf.Keep
	keep.Store, keep.Stored = s.blobs, metrics.Stored
	keeper, err := artifacts.New(keep)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	j.worker, err = worker.New(worker.Config{
		Name: name, Slots: slots, Source: s.source, Line: s.line, Results: s.results, Blobs: s.blobs,
		Problems: j.problems, Judge: l.engine, Artifacts: keeper, Metrics: metrics, Lease: wf.Lease, Log: env.Log,
		Well: diskCheck(l.cacheDir).Run, Quarantine: wf.QuarantineAfter,
	})
	if err != nil {
		return nil, errors.Join(daemon.Usage("%w", err), j.Close())
	}
	return j, nil
}

// infos is what this process has of each language.
func (j *judging) infos(ctx context.Context) ([]judge.LanguageInfo, error) {
	return languageInfos(ctx, j.local)
}

// serviceParts is what a dispatcher and its API are made of.
type serviceParts struct {
	stores    *stores
	languages *languages.Set // that are known
	infos     languageLister // what the workers have of them; nil lists none
	metrics   *registry
	checks    []daemon.Check  // of /readyz, beside the stores'
	stopping  <-chan struct{} // closed when waits must end
	packages  format.Options  // what problem packages may need beside them
}

// openService makes the dispatcher and its API of this process.
func openService(env *daemon.Env, p serviceParts) (*dispatcher.Service, http.Handler, error) {
	s := p.stores
	service, err := dispatcher.New(dispatcher.Config{
		Line: s.line, Results: s.results, Blobs: s.blobs, Log: env.Log, Packages: p.packages,
		Language: func(name string) (string, bool) {
			lang, ok := p.languages.Find(name)
			if !ok {
				return "", false
			}
			return lang.ID, true
		},
	})
	if err != nil {
		return nil, nil, err
	}
	handler, err := api.New(api.Config{
		Service: service, Languages: p.infos, Metrics: p.metrics, Checks: p.checks, Log: env.Log, Stopping: p.stopping,
	})
	return service, handler, err
}

// languageLister tells which languages submissions can be judged in.
type languageLister func(ctx context.Context) ([]judge.LanguageInfo, error)

// announced is what the farm's workers say that they have.
func announced(log *slog.Logger, s *stores, set *languages.Set) languageLister {
	known := &dispatcher.Languages{Blobs: s.blobs, Log: log}
	for _, l := range set.All() {
		known.Defined = append(known.Defined, judge.LanguageInfo{ID: l.ID, Name: l.Name, Aliases: l.Aliases, Source: l.Source})
	}
	return known.List
}

// runService starts the dispatcher in the group and returns the address it listens on.
func runService(ctx context.Context, env *daemon.Env, g *daemon.Group, f *apiFlags, s *stores, service *dispatcher.Service, handler http.Handler) (string, error) {
	ln, err := daemon.Listen(ctx, "--listen", f.Listen)
	if err != nil {
		return "", err
	}
	address := ln.Addr().String()
	if f.AddressFile != "" {
		if err := writeWhole(f.AddressFile, address+"\n"); err != nil {
			return "", errors.Join(daemon.Usage("--address-file: %w", err), ln.Close())
		}
	}
	g.Go("api", func(take, _ context.Context) error { return daemon.Serve(take, ln, handler, env.Log) })
	g.Go("feeder", func(take, _ context.Context) error { return s.line.Feed(take) })
	g.Go("maintenance", func(take, _ context.Context) error { return service.Maintain(take) })
	return address, nil
}

// writeWhole makes the file appear with all of its content.
func writeWhole(path, content string) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
