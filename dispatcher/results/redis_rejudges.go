package results

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"judgefarm/judge"
)

// SubmissionsOf implements Rejudges.
func (s *Redis) SubmissionsOf(ctx context.Context, problem, after string, max int) ([]string, error) {
	if problem == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	// A space comes before every character of an id, so that no other problem's lie between.
	of := &redis.ZRangeBy{Min: "(" + problem + " " + after, Max: "(" + problem + "!", Count: int64(max)}
	members, err := s.client.ZRangeByLex(ctx, s.key("by-problem"), of).Result()
	if err != nil {
		return nil, fmt.Errorf("list submissions of %s: %w", problem, cut(err))
	}
	for i, m := range members {
		members[i] = strings.TrimPrefix(m, problem+" ")
	}
	return members, nil
}

// CreateRejudge implements Rejudges.
func (s *Redis) CreateRejudge(ctx context.Context, r Rejudge) error {
	data, err := encodeRejudge(r)
	if err != nil {
		return err
	}
	keys := []string{s.key("rejudges"), s.rejudgeKey(r.ID)}
	_, err = s.rejudge(ctx, "create", s.run.rejudge.create, r.ID, keys, r.ID, data, s.cfg.Retention.Milliseconds(), maxRejudges, s.rejudgeKey(""))
	return err
}

// GetRejudge implements Rejudges.
func (s *Redis) GetRejudge(ctx context.Context, id string) (Rejudge, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	fields, err := s.client.HMGet(ctx, s.rejudgeKey(id), "doc", "state").Result()
	switch {
	case err != nil:
		return Rejudge{}, fmt.Errorf("get rejudge %s: %w", id, cut(err))
	case text(fields, 0) == "":
		return Rejudge{}, fmt.Errorf("get rejudge %s: %w", id, ErrNoRejudge)
	}
	r, err := decodeRejudge([]byte(text(fields, 0)), judge.RejudgeState(text(fields, 1)))
	if err == nil && s.cfg.Now().Sub(r.CreatedAt) > s.cfg.Retention {
		return Rejudge{}, fmt.Errorf("get rejudge %s: %w", id, ErrNoRejudge)
	}
	return r, err
}

// ListRejudges implements Rejudges.
func (s *Redis) ListRejudges(ctx context.Context) ([]Rejudge, error) {
	short, cancel := context.WithTimeout(ctx, opTimeout)
	ids, err := s.client.ZRange(short, s.key("rejudges"), 0, -1).Result()
	cancel()
	if err != nil {
		return nil, fmt.Errorf("list rejudges: %w", cut(err))
	}
	var all []Rejudge
	for _, id := range ids {
		r, err := s.GetRejudge(ctx, id)
		if errors.Is(err, ErrNoRejudge) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	newestRejudges(all)
	return all, nil
}

// ApplyRejudge implements Rejudges. The members do not change, so they may be read
// before the script runs.
func (s *Redis) ApplyRejudge(ctx context.Context, id string) (int, error) {
	r, err := s.GetRejudge(ctx, id)
	if err != nil {
		return 0, err
	}
	keys, args := []string{s.rejudgeKey(id), s.key("finals")}, []any{s.channel()}
	for _, m := range r.Members {
		keys = append(keys, s.subKey(m.Submission), s.eventsKey(m.Submission), s.subKey(m.Judgement))
		args = append(args, m.Submission, m.Number)
	}
	out, err := s.rejudge(ctx, "apply", s.run.rejudge.apply, id, keys, args...)
	return int(number(out, 1)), err
}

// DropRejudge implements Rejudges.
func (s *Redis) DropRejudge(ctx context.Context, id string) error {
	if _, err := s.GetRejudge(ctx, id); err != nil {
		return err
	}
	_, err := s.rejudge(ctx, "drop", s.run.rejudge.drop, id, []string{s.rejudgeKey(id)})
	return err
}

// rejudge runs a script of one rejudge and turns its code into an error.
func (s *Redis) rejudge(ctx context.Context, verb string, script *redis.Script, id string, keys []string, args ...any) ([]any, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	out, err := script.Run(ctx, s.client, keys, args...).Slice()
	if err != nil {
		return nil, fmt.Errorf("%s rejudge %s: %w", verb, id, cut(err))
	}
	known := map[int64]error{
		codeExists: ErrExists, codeNoRejudge: ErrNoRejudge, codeUnfinished: ErrUnfinished, codeOutdated: ErrOutdated,
		codeMissing: ErrMissing, codeDropped: ErrDropped, codeApplied: ErrApplied, codeRejudgesFull: ErrRejudgesFull,
	}
	switch code := number(out, 0); {
	case code == codeOK:
		return out, nil
	case known[code] == nil:
		return nil, fmt.Errorf("%s rejudge %s: redis script answered code %d", verb, id, code)
	case text(out, 2) != "":
		return nil, fmt.Errorf("%s rejudge %s, submission %s: %w", verb, id, text(out, 2), known[code])
	default:
		return nil, fmt.Errorf("%s rejudge %s: %w", verb, id, known[code])
	}
}

func (s *Redis) rejudgeKey(id string) string { return s.key("rejudge:" + id) }
