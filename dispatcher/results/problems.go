package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"judgefarm/judge"
)

// The errors of Problems that callers tell apart.
var (
	ErrNoProblem    = errors.New("problem not found")
	ErrNoVersion    = errors.New("the problem has no such version")
	ErrProblemsFull = errors.New("there are as many problems as are allowed")
)

// goneFor is how long a deleted name is not restored from a copy: a dispatcher that
// began to restore before the name was deleted has ended long before.
const goneFor = 24 * time.Hour

// Problems is the part of a Store that knows to which version a problem's name
// points. Each method happens whole or not at all, whoever else calls it. A version
// never changes; its package is a blob.
type Problems interface {
	// PutProblem makes a new version of info.ID, whatever info.Version says, and points
	// the name to it. Where the current version has the same package and digest it is
	// returned and nothing changes. Past Config.MaxVersions the oldest is forgotten;
	// ErrProblemsFull for a new name past Config.MaxProblems.
	PutProblem(ctx context.Context, info judge.ProblemInfo) (judge.ProblemInfo, error)
	// GetProblem returns a version, 0 is the current one. ErrNoProblem or ErrNoVersion.
	GetProblem(ctx context.Context, id string, version int) (judge.ProblemInfo, error)
	// ProblemVersions returns everything that is kept of a name. ErrNoProblem.
	ProblemVersions(ctx context.Context, id string) (judge.ProblemVersions, error)
	// ListProblems returns the current versions of up to max names after the name
	// after, in byte order.
	ListProblems(ctx context.Context, after string, max int) ([]judge.ProblemInfo, error)
	// PointProblem points the name to a version that is kept; 0 is the newest of those
	// before the current one. ErrNoProblem or ErrNoVersion.
	PointProblem(ctx context.Context, id string, version int) (judge.ProblemInfo, error)
	// DeleteProblem forgets the name and its versions. ErrNoProblem.
	DeleteProblem(ctx context.Context, id string) error
	// RestoreProblem brings back what a store has forgotten. A name that is there, or
	// was deleted in the last day, stays as it is; it reports whether it restored.
	RestoreProblem(ctx context.Context, v judge.ProblemVersions) (bool, error)
}

// sameVersion is equal for packages that are judged alike.
func sameVersion(info judge.ProblemInfo) string { return info.Package + " " + info.Digest }

// encodeVersion is a version as it is stored; its number is stored beside it.
func encodeVersion(info judge.ProblemInfo) ([]byte, error) {
	if info.ID == "" {
		return nil, errors.New("store problem: the id is empty")
	}
	info.Version, info.Quarantine = 0, nil
	data, err := json.Marshal(info)
	if err != nil {
		return nil, fmt.Errorf("encode problem %s: %w", info.ID, err)
	}
	return data, nil
}

func decodeVersion(id string, version int, data []byte) (judge.ProblemInfo, error) {
	var info judge.ProblemInfo
	if err := json.Unmarshal(data, &info); err != nil {
		return info, fmt.Errorf("decode version %d of problem %s: %w", version, id, err)
	}
	info.ID, info.Version = id, version
	return info, nil
}

// checkVersions refuses what RestoreProblem cannot use.
func checkVersions(v judge.ProblemVersions) error {
	current := slices.ContainsFunc(v.Versions, func(i judge.ProblemInfo) bool { return i.Version == v.Current })
	for _, info := range v.Versions {
		if info.Version < 1 {
			return fmt.Errorf("restore problem %s: version %d must be 1 or more", v.ID, info.Version)
		}
	}
	if v.ID == "" || !current {
		return fmt.Errorf("restore problem %q: the current version %d is not among its versions", v.ID, v.Current)
	}
	return nil
}

// newestFirst orders versions as documents show them.
func newestFirst(v []judge.ProblemInfo) {
	slices.SortFunc(v, func(a, b judge.ProblemInfo) int { return b.Version - a.Version })
}
