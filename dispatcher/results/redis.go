package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"judgefarm/judge"
)

// Redis keeps everything in one Redis, shared by all dispatchers and workers.
// What survives a crash of Redis is told by its persistence settings, see
// docs/states.md. Every operation is one script and so happens whole or not at all.
type Redis struct {
	cfg    Config
	client redis.UniversalClient
	owned  bool
	run    scripts
	hub    *hub
	warned policyWarnings
}

var _ Store = (*Redis)(nil)

// opTimeout bounds one operation when Redis does not answer.
const opTimeout = 3 * time.Second

// NewRedis returns a store in the Redis of cfg.Client or cfg.URL. It does not
// connect: see Ready. The caller closes it.
func NewRedis(cfg Config) (*Redis, error) {
	cfg = cfg.withDefaults()
	s := &Redis{cfg: cfg, client: cfg.Client, run: newScripts()}
	if s.client == nil {
		opt, err := redis.ParseURL(cfg.URL)
		if err != nil {
			return nil, fmt.Errorf("parse redis URL: %w", err)
		}
		opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = time.Second, 2*time.Second, 2*time.Second
		// No retries in the client: a write that was done but not answered would be done
		// again and refused as stale. Callers see the error and decide.
		opt.MaxRetries, opt.ContextTimeoutEnabled = -1, true
		s.client, s.owned = redis.NewClient(opt), true
	}
	s.hub = newHub(s.client, s.channel(), cfg.Logger)
	return s, nil
}

// Close ends the subscription, and the connection when it was opened by NewRedis.
// Waits that go on return when their contexts end.
func (s *Redis) Close() error {
	err := s.hub.close()
	if s.owned {
		err = errors.Join(err, s.client.Close())
	}
	return err
}

// Create implements Store.
func (s *Redis) Create(ctx context.Context, r Record) error {
	data, err := newRecord(r, s.cfg.Now())
	if err != nil {
		return err
	}
	_, err = s.one(ctx, "create", s.run.create, r.ID, data, problemOf(r))
	return err
}

// Get implements Store.
func (s *Redis) Get(ctx context.Context, id string) (Record, error) {
	f, err := s.read(ctx, id)
	if err != nil {
		return Record{}, err
	}
	return f.assemble()
}

// Lease implements Store. The lease ends by Redis's clock.
func (s *Redis) Lease(ctx context.Context, id, worker string, ttl time.Duration) (judge.Attempt, error) {
	name, err := json.Marshal(worker)
	if err != nil {
		return judge.Attempt{}, fmt.Errorf("encode worker name: %w", err)
	}
	out, err := s.one(ctx, "lease", s.run.lease, id, worker, name, ttl.Milliseconds())
	if err != nil {
		return judge.Attempt{}, err
	}
	return judge.Attempt{Submission: id, Worker: worker, Charged: int(number(out, 1)), Fence: number(out, 2)}, nil
}

// Renew implements Store.
func (s *Redis) Renew(ctx context.Context, a judge.Attempt, ttl time.Duration) (bool, error) {
	out, err := s.one(ctx, "renew", s.run.renew, a.Submission, a.Fence, ttl.Milliseconds())
	return number(out, 1) == 1, err
}

// Progress implements Store.
func (s *Redis) Progress(ctx context.Context, a judge.Attempt, runs ...CaseEvent) error {
	events, err := caseEvents(a, runs)
	if err != nil || len(events) == 0 {
		return err
	}
	args := []any{a.Fence, s.cfg.MaxEvents}
	for _, data := range events {
		args = append(args, data)
	}
	_, err = s.one(ctx, "report progress of", s.run.progress, a.Submission, args...)
	return err
}

// Finish implements Store.
func (s *Redis) Finish(ctx context.Context, a judge.Attempt, j judge.Judgement) error {
	data, err := finalJudgement(a, j, s.cfg.Now())
	if err != nil {
		return err
	}
	_, err = s.one(ctx, "finish", s.run.finish, a.Submission, a.Fence, data, string(j.State))
	return err
}

// Release implements Store.
func (s *Redis) Release(ctx context.Context, a judge.Attempt, charge bool, why *judge.Failed) (judge.State, error) {
	last, err := lastFailure(why, s.cfg.MaxAttempts)
	if err != nil {
		return "", err
	}
	flag := "0"
	if charge {
		flag = "1"
	}
	out, err := s.one(ctx, "release", s.run.release, a.Submission, a.Fence, flag, s.cfg.MaxAttempts, last)
	return judge.State(text(out, 1)), err
}

// Cancel implements Store.
func (s *Redis) Cancel(ctx context.Context, id string) (judge.State, error) {
	out, err := s.one(ctx, "cancel", s.run.cancel, id)
	return judge.State(text(out, 1)), err
}

// one runs a script of one submission and turns its code into an error.
func (s *Redis) one(ctx context.Context, verb string, script *redis.Script, id string, args ...any) ([]any, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	keys := []string{s.subKey(id), s.eventsKey(id), s.key("queued"), s.key("leases"), s.key("finals"), s.key("by-problem")}
	out, err := script.Run(ctx, s.client, keys, append([]any{s.channel(), id}, args...)...).Slice()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", verb, id, cut(err))
	}
	switch code := number(out, 0); code {
	case codeOK:
		return out, nil
	case codeNotFound:
		err = ErrNotFound
	case codeNotOpen:
		err = ErrNotOpen
	case codeExists:
		err = ErrExists
	case codeFenced:
		err = ErrFenced
	default:
		err = fmt.Errorf("redis script answered code %d", code)
	}
	return nil, fmt.Errorf("%s %s: %w", verb, id, err)
}

// read returns the facts of a submission.
func (s *Redis) read(ctx context.Context, id string) (facts, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	out, err := s.run.read.Run(ctx, s.client, []string{s.subKey(id), s.eventsKey(id)}).Slice()
	switch {
	case err != nil:
		return facts{}, fmt.Errorf("get %s: %w", id, cut(err))
	case len(out) == 0:
		return facts{}, fmt.Errorf("get %s: %w", id, ErrNotFound)
	}
	fields, events := nested(out, 0), nested(out, 1)
	f := facts{
		record: optional(fields, 0), state: judge.State(text(fields, 1)), worker: text(fields, 2),
		charged: int(number(fields, 3)), fence: number(fields, 4), cancel: text(fields, 5) == "1",
		final: optional(fields, 6), why: optional(fields, 7), judgedAt: time.UnixMilli(number(fields, 8)),
		number: int(number(fields, 9)),
	}
	for i := range events {
		if event := text(events, i); event != "" && event[0] == kindCase {
			f.cases = append(f.cases, []byte(event[1:]))
		}
	}
	return f, nil
}

func (s *Redis) key(name string) string     { return "{" + s.cfg.Prefix + "}:" + name }
func (s *Redis) subKey(id string) string    { return s.key("sub:" + id) }
func (s *Redis) eventsKey(id string) string { return s.key("ev:" + id) }
func (s *Redis) channel() string            { return s.key("events") }

// The elements of a script's answer; what is absent is the zero value.

func number(out []any, i int) int64 {
	if i >= len(out) {
		return 0
	}
	switch v := out[i].(type) {
	case int64:
		return v
	case string:
		n, _ := strconv.ParseInt(v, 10, 64) // our scripts wrote it
		return n
	}
	return 0
}

func text(out []any, i int) string {
	if i < len(out) {
		if v, ok := out[i].(string); ok {
			return v
		}
	}
	return ""
}

// optional returns nil for a field that is not set.
func optional(out []any, i int) []byte {
	if v := text(out, i); v != "" {
		return []byte(v)
	}
	return nil
}

func nested(out []any, i int) []any {
	if i < len(out) {
		if v, ok := out[i].([]any); ok {
			return v
		}
	}
	return nil
}
