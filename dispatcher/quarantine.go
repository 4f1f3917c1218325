package dispatcher

import (
	"context"

	"judgefarm/judge"
)

// ReleaseProblem lets a version of a problem out of quarantine; 0 is the current one.
// One that is not in quarantine stays as it is. Errors as GetProblem.
func (s *Service) ReleaseProblem(ctx context.Context, id string, version int) (judge.ProblemInfo, error) {
	info, err := s.findProblem(ctx, id, version)
	if err != nil {
		return info, err
	}
	was, err := s.cfg.Results.Unquarantine(ctx, info.Package)
	if err != nil {
		return info, storeError("release problem "+id, err)
	}
	if was {
		s.log.Info("problem let out of quarantine", "problem", id, "version", info.Version)
	}
	return info, nil
}

// CountQuarantined is how many versions of problems are in quarantine.
func (s *Service) CountQuarantined(ctx context.Context) (int, error) {
	n, err := s.cfg.Results.CountQuarantined(ctx)
	if err != nil {
		return 0, storeError("count quarantined problems", err)
	}
	return n, nil
}

func (s *Service) withQuarantine(ctx context.Context, info judge.ProblemInfo) (judge.ProblemInfo, error) {
	q, err := s.cfg.Results.Quarantined(ctx, info.Package)
	if err != nil {
		return info, storeError("look for quarantine of problem "+info.ID, err)
	}
	info.Quarantine = q
	return info, nil
}
