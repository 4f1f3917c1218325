package results

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"judgefarm/judge"
)

// PutProblem implements Problems.
func (s *Redis) PutProblem(ctx context.Context, info judge.ProblemInfo) (judge.ProblemInfo, error) {
	data, err := encodeVersion(info)
	if err != nil {
		return judge.ProblemInfo{}, err
	}
	return s.version(ctx, "store", s.run.problem.put, info.ID, data, sameVersion(info), s.cfg.MaxProblems, s.cfg.MaxVersions)
}

// GetProblem implements Problems.
func (s *Redis) GetProblem(ctx context.Context, id string, version int) (judge.ProblemInfo, error) {
	return s.version(ctx, "get", s.run.problem.get, id, version)
}

// PointProblem implements Problems.
func (s *Redis) PointProblem(ctx context.Context, id string, version int) (judge.ProblemInfo, error) {
	return s.version(ctx, "roll back", s.run.problem.point, id, version)
}

// ProblemVersions implements Problems.
func (s *Redis) ProblemVersions(ctx context.Context, id string) (judge.ProblemVersions, error) {
	out, err := s.problem(ctx, "get versions of", s.run.problem.all, id)
	if err != nil {
		return judge.ProblemVersions{}, err
	}
	v := judge.ProblemVersions{ID: id, Current: int(number(out, 1)), Revision: number(out, 2)}
	for i := 3; i+1 < len(out); i += 2 {
		info, err := decodeVersion(id, int(number(out, i)), []byte(text(out, i+1)))
		if err != nil {
			return v, err
		}
		v.Versions = append(v.Versions, info)
	}
	newestFirst(v.Versions)
	return v, nil
}

// ListProblems implements Problems. A name that is deleted meanwhile is left out.
func (s *Redis) ListProblems(ctx context.Context, after string, max int) ([]judge.ProblemInfo, error) {
	from := "-"
	if after != "" {
		from = "(" + after
	}
	short, cancel := context.WithTimeout(ctx, opTimeout)
	ids, err := s.client.ZRangeByLex(short, s.key("problems"), &redis.ZRangeBy{Min: from, Max: "+", Count: int64(max)}).Result()
	cancel()
	if err != nil {
		return nil, fmt.Errorf("list problems: %w", cut(err))
	}
	all := make([]judge.ProblemInfo, 0, len(ids))
	for _, id := range ids {
		info, err := s.GetProblem(ctx, id, 0)
		if errors.Is(err, ErrNoProblem) {
			continue
		}
		if err != nil {
			return all, err
		}
		all = append(all, info)
	}
	return all, nil
}

// DeleteProblem implements Problems.
func (s *Redis) DeleteProblem(ctx context.Context, id string) error {
	_, err := s.problem(ctx, "delete", s.run.problem.remove, id, goneFor.Milliseconds())
	return err
}

// RestoreProblem implements Problems.
func (s *Redis) RestoreProblem(ctx context.Context, v judge.ProblemVersions) (bool, error) {
	if err := checkVersions(v); err != nil {
		return false, err
	}
	last := 0
	var versions []any
	for _, info := range v.Versions {
		info.ID = v.ID
		data, err := encodeVersion(info)
		if err != nil {
			return false, err
		}
		versions = append(versions, info.Version, data, sameVersion(info))
		last = max(last, info.Version)
	}
	args := append([]any{goneFor.Milliseconds(), v.Current, v.Revision, last}, versions...)
	out, err := s.problem(ctx, "restore", s.run.problem.restore, v.ID, args...)
	return number(out, 1) == 1, err
}

// version runs a script that answers with a version.
func (s *Redis) version(ctx context.Context, verb string, script *redis.Script, id string, args ...any) (judge.ProblemInfo, error) {
	out, err := s.problem(ctx, verb, script, id, args...)
	if err != nil {
		return judge.ProblemInfo{}, err
	}
	return decodeVersion(id, int(number(out, 1)), []byte(text(out, 2)))
}

// problem runs a script of one problem and turns its code into an error.
func (s *Redis) problem(ctx context.Context, verb string, script *redis.Script, id string, args ...any) ([]any, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	keys := []string{s.key("problem:" + id), s.key("problems"), s.key("problems-gone")}
	out, err := script.Run(ctx, s.client, keys, append([]any{id}, args...)...).Slice()
	if err != nil {
		return nil, fmt.Errorf("%s problem %s: %w", verb, id, cut(err))
	}
	switch code := number(out, 0); code {
	case codeOK:
		return out, nil
	case codeNoProblem:
		err = ErrNoProblem
	case codeNoVersion:
		err = ErrNoVersion
	case codeFull:
		err = ErrProblemsFull
	default:
		err = fmt.Errorf("redis script answered code %d", code)
	}
	return nil, fmt.Errorf("%s problem %s: %w", verb, id, err)
}
