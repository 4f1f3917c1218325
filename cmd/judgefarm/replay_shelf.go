package main

import (
	"context"
	"path/filepath"
	"strconv"
	"sync"

	"judgefarm/cmd/judgefarm/internal/replay"
	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

// shelf holds the problems that lines name, opened once each, and judges on this
// machine.
type shelf struct {
	local            *local
	packages, single string // --problems, --problem
	options          format.Options
	dir              string // of what is unpacked

	mu   sync.Mutex
	open map[string]*shelved
}

// shelved is a problem while, and after, somebody opens it.
type shelved struct {
	once    sync.Once
	problem *testcases.Problem
	err     error
}

func (s *shelf) judge(ctx context.Context, l replay.Line) (judge.Judgement, error) {
	problem, err := s.problem(ctx, l)
	if err != nil {
		return judge.Judgement{}, err
	}
	job, err := localJob(l, problem)
	if err != nil {
		return judge.Judgement{}, err
	}
	out, err := judgeLocally(ctx, s.local, job)
	if err != nil {
		return judge.Judgement{}, err
	}
	return out.Judgement, nil
}

func (s *shelf) problem(ctx context.Context, l replay.Line) (*testcases.Problem, error) {
	name := l.Request.Problem
	if name == "" {
		return localTests(l.Request)
	}
	s.mu.Lock()
	one := s.open[name]
	if one == nil {
		one = &shelved{}
		s.open[name] = one
	}
	place := filepath.Join(s.dir, strconv.Itoa(len(s.open)))
	s.mu.Unlock()
	one.once.Do(func() { one.problem, one.err = s.fetch(ctx, name, place) })
	return one.problem, one.err
}

// fetch opens the package of a name, and makes what it has no data for.
func (s *shelf) fetch(ctx context.Context, name, place string) (*testcases.Problem, error) {
	path := s.single
	if name != s.single {
		var err error
		if path, err = packagePath(s.packages, name); err != nil {
			return nil, err
		}
	}
	p, err := openPackage(s.options, "--problem", path, place)
	if err != nil {
		return nil, err
	}
	return s.local.built(ctx, p)
}
