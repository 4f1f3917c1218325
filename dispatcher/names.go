package dispatcher

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"judgefarm/internal/blob"
	"judgefarm/judge"
)

// Which version a name points to is decided in results, one change after the other.
// Beside each name lies a copy in the blob store, rewritten after each change: a
// results store that forgot (memory after a restart, a Redis that was emptied) gets
// its names back from the copies. What dispatchers before there were versions wrote
// is read too.
//
//	problems/<id>/versions.json   judge.ProblemVersions, the copy
//	problems/<id>/current.json    judge.ProblemInfo of such a dispatcher
const (
	problemsRoot  = "problems/"
	versionsFile  = "/versions.json"
	currentFile   = "/current.json"
	maxCopy       = 4 << 20 // bytes
	copyTries     = 16
	restorePage   = 500
	maxProblemsPg = 100 // problems of one answer
)

// nameProblem makes info the current version and returns it as it is stored.
func (s *Service) nameProblem(ctx context.Context, info judge.ProblemInfo) (judge.ProblemInfo, error) {
	if err := s.recall(ctx, info.ID); err != nil {
		return judge.ProblemInfo{}, err
	}
	stored, err := s.cfg.Results.PutProblem(ctx, info)
	if err != nil {
		return judge.ProblemInfo{}, storeError("store problem "+info.ID, err)
	}
	if err := s.copyName(ctx, info.ID); err != nil {
		return judge.ProblemInfo{}, err
	}
	s.log.Info("problem changed", "problem", info.ID, "version", stored.Version, "digest", stored.Digest, "cases", stored.Cases)
	return stored, nil
}

// GetProblem returns a version of a problem, 0 is the current one, and why it is in
// quarantine, if it is. Errors wrap ErrNoProblem, ErrNoVersion or ErrUnavailable.
func (s *Service) GetProblem(ctx context.Context, id string, version int) (judge.ProblemInfo, error) {
	info, err := s.findProblem(ctx, id, version)
	if err != nil {
		return info, err
	}
	return s.withQuarantine(ctx, info)
}

// findProblem is GetProblem without a look at the quarantine.
func (s *Service) findProblem(ctx context.Context, id string, version int) (judge.ProblemInfo, error) {
	if checkProblemID(id) != nil {
		return judge.ProblemInfo{}, fmt.Errorf("get problem %.64q: %w", id, ErrNoProblem)
	}
	info, err := s.cfg.Results.GetProblem(ctx, id, version)
	if errors.Is(err, ErrNoProblem) {
		if err = s.recall(ctx, id); err == nil {
			info, err = s.cfg.Results.GetProblem(ctx, id, version)
		}
	}
	if err != nil {
		return judge.ProblemInfo{}, storeError("get problem "+id, err)
	}
	return info, nil
}

// splitProblem reads what a submission calls its problem: NAME or NAME@VERSION.
func splitProblem(name string) (id string, version int, ok bool) {
	id, number, pinned := strings.Cut(name, "@")
	if !pinned {
		return id, 0, true
	}
	version, err := strconv.Atoi(number)
	return id, version, err == nil && version > 0 && strconv.Itoa(version) == number
}

// ProblemVersions returns what is kept of a name. Errors as GetProblem.
func (s *Service) ProblemVersions(ctx context.Context, id string) (judge.ProblemVersions, error) {
	if _, err := s.findProblem(ctx, id, 0); err != nil {
		return judge.ProblemVersions{}, err
	}
	v, err := s.cfg.Results.ProblemVersions(ctx, id)
	if err != nil {
		return v, storeError("get versions of problem "+id, err)
	}
	for i := range v.Versions {
		if v.Versions[i], err = s.withQuarantine(ctx, v.Versions[i]); err != nil {
			return v, err
		}
	}
	return v, nil
}

// Problems returns the current versions of up to 100 problems after the id after, in
// byte order of their ids.
func (s *Service) Problems(ctx context.Context, after string, max int) ([]judge.ProblemInfo, error) {
	if max < 1 || max > maxProblemsPg {
		max = maxProblemsPg
	}
	list, err := s.cfg.Results.ListProblems(ctx, after, max)
	if err != nil {
		return nil, storeError("list problems", err)
	}
	for i := range list {
		if list[i], err = s.withQuarantine(ctx, list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// RollbackProblem points the name to a version that is kept; 0 is the newest before
// the current one. Submissions that were accepted keep theirs. Errors as GetProblem.
func (s *Service) RollbackProblem(ctx context.Context, id string, version int) (judge.ProblemInfo, error) {
	if _, err := s.findProblem(ctx, id, 0); err != nil {
		return judge.ProblemInfo{}, err
	}
	info, err := s.cfg.Results.PointProblem(ctx, id, version)
	if err == nil {
		err = s.copyName(ctx, id)
	}
	if err != nil {
		return judge.ProblemInfo{}, storeError("roll problem back", err)
	}
	s.log.Info("problem rolled back", "problem", id, "version", info.Version, "digest", info.Digest)
	return info, nil
}

// DeleteProblem forgets a name and its versions. Submissions that were accepted are
// judged all the same: their packages stay as long as they can ask for them, see
// collect.go. Errors as GetProblem.
func (s *Service) DeleteProblem(ctx context.Context, id string) error {
	if _, err := s.findProblem(ctx, id, 0); err != nil {
		return err
	}
	// The copies first: what is left after a crash is the name, which is deleted again.
	for _, file := range []string{versionsFile, currentFile} {
		if err := s.cfg.Blobs.Delete(ctx, problemsRoot+id+file); err != nil {
			return storeError("delete problem "+id, err)
		}
	}
	err := s.cfg.Results.DeleteProblem(ctx, id)
	if err == nil {
		err = s.copyName(ctx, id) // of a push at the same time
	}
	if err != nil {
		return storeError("delete problem "+id, err)
	}
	s.log.Info("problem deleted", "problem", id)
	return nil
}

// copyName makes the copy what results says, and looks again until nobody changed
// the name meanwhile: of two that write at the same time the older may be last.
func (s *Service) copyName(ctx context.Context, id string) error {
	v, err := s.cfg.Results.ProblemVersions(ctx, id)
	for range copyTries {
		switch {
		case errors.Is(err, ErrNoProblem):
			if err = s.cfg.Blobs.Delete(ctx, problemsRoot+id+versionsFile); err == nil {
				_, err = s.cfg.Results.ProblemVersions(ctx, id)
			}
			if errors.Is(err, ErrNoProblem) {
				return nil
			}
			continue
		case err != nil:
			return storeError("copy problem "+id, err)
		}
		doc, err2 := json.Marshal(v)
		if err2 != nil {
			return fmt.Errorf("encode problem %s: %w", id, err2)
		}
		if err := s.cfg.Blobs.Put(ctx, problemsRoot+id+versionsFile, bytes.NewReader(doc), int64(len(doc)), "application/json"); err != nil {
			return storeError("copy problem "+id, err)
		}
		before := v.Revision
		if v, err = s.cfg.Results.ProblemVersions(ctx, id); err == nil && v.Revision == before {
			return nil
		}
	}
	return fmt.Errorf("copy problem %s: %w: it is changed all the time", id, ErrUnavailable)
}

// recall restores a name from its copy, if it has one and results has forgotten it.
func (s *Service) recall(ctx context.Context, id string) error {
	v, err := s.readCopy(ctx, id)
	if errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	if err != nil {
		return storeError("read problem "+id, err)
	}
	restored, err := s.cfg.Results.RestoreProblem(ctx, v)
	if err != nil {
		return storeError("restore problem "+id, err)
	}
	if restored {
		s.log.Info("problem restored from its copy", "problem", id, "version", v.Current)
	}
	return nil
}

// readCopy returns the copy, or what an earlier dispatcher wrote as version 1.
func (s *Service) readCopy(ctx context.Context, id string) (v judge.ProblemVersions, err error) {
	if err = s.readJSON(ctx, problemsRoot+id+versionsFile, &v); !errors.Is(err, blob.ErrNotFound) {
		return v, err
	}
	var info judge.ProblemInfo
	err = s.readJSON(ctx, problemsRoot+id+currentFile, &info)
	info.Version = 1
	return judge.ProblemVersions{ID: id, Current: 1, Revision: 1, Versions: []judge.ProblemInfo{info}}, err
}

func (s *Service) readJSON(ctx context.Context, key string, v any) error {
	r, _, err := s.cfg.Blobs.Get(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	return json.NewDecoder(io.LimitReader(r, maxCopy)).Decode(v)
}

// recallAll restores every name that results has forgotten, so that listings are
// whole. What fails is tried at the next use of the name.
func (s *Service) recallAll(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, problemsTimeout, errSlow)
	defer cancel()
	last, after := "", ""
	for {
		keys, err := s.cfg.Blobs.List(ctx, problemsRoot, after, restorePage)
		if err != nil {
			s.complain(ctx, "restore problems", err)
			return
		}
		for _, key := range keys {
			after = key
			id := path.Base(path.Dir(key))
			if id == last {
				continue
			}
			last = id
			if _, err := s.cfg.Results.GetProblem(ctx, id, 0); !errors.Is(err, ErrNoProblem) {
				continue
			}
			if err := s.recall(ctx, id); err != nil {
				s.complain(ctx, "restore problem "+id, err)
			}
		}
		if len(keys) < restorePage {
			return
		}
	}
}
