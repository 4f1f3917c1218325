package dispatcher

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"judgefarm/internal/blob"
	"judgefarm/judge"
)

// A package that no version of a problem names any more is removed, long after the last
// submission that can ask for it: an intent is kept for Config.IntentRetention, and
// only a rejudge makes another for a package without a name. A mark says since when.
//
//	unnamed/<hex>    mark: when the package was first seen without a name
//
// Whoever is about to need a package claims it first, by taking the mark away: a push
// before it stores, a rejudge before it looks whether the package is there. A package
// whose mark went while it was being removed is put back.
const (
	unnamedPrefix = "unnamed/"
	contentPrefix = "sha256/"
	collectEvery  = 6 * time.Hour
	oldIntent     = 24 * time.Hour   // beyond the retention of intents; pruning goes by days
	collectSlack  = 48 * time.Hour   // beyond it; so whatever can ask for the package is an old intent
	collectMax    = 10 * time.Minute // one round
	collectPage   = 500
	collectMost   = 100 // packages removed by one round
)

// mark is one of them, as it is stored.
type mark struct {
	Since time.Time `json:"since"`
}

// claim keeps a package, "sha256:" and hex, at least as long as an intent that is made now.
func (s *Service) claim(ctx context.Context, pkg string) error {
	if err := s.cfg.Blobs.Delete(ctx, unnamedPrefix+packageHex(pkg)); err != nil {
		return storeError("claim package", err)
	}
	return nil
}

func packageHex(pkg string) string { return strings.TrimPrefix(pkg, "sha256:") }

// collect is one round over all packages.
func (s *Service) collect(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, collectMax, errSlow)
	defer cancel()
	named, err := s.namedPackages(ctx)
	if err != nil {
		return err
	}
	marks, err := s.marks(ctx)
	if err != nil {
		return err
	}
	settled, err := s.noOldIntent(ctx)
	if err != nil {
		return err
	}
	before := s.cfg.Now().Add(-s.cfg.IntentRetention - collectSlack)
	removed := 0
	err = s.eachKey(ctx, contentPrefix, func(key string) error {
		hex := path.Base(key)
		m, marked := marks[hex]
		delete(marks, hex)
		switch {
		case named[hex] && marked:
			return s.cfg.Blobs.Delete(ctx, unnamedPrefix+hex)
		case named[hex]:
			return nil
		case !marked:
			return s.setMark(ctx, hex)
		case !settled || !m.Since.Before(before) || removed == collectMost:
			return nil
		}
		gone, err := s.removePackage(ctx, hex, m)
		if gone {
			removed++
		}
		return err
	})
	for hex, m := range marks { // of packages that are not there
		if err == nil && m.Since.Before(before) {
			err = s.cfg.Blobs.Delete(ctx, unnamedPrefix+hex)
		}
	}
	if removed > 0 {
		s.log.Info("removed packages that no problem names", "packages", removed)
	}
	return err
}

// removePackage removes what has the mark, and puts it back where that changed. It is
// in a file of ours for that long.
func (s *Service) removePackage(ctx context.Context, hex string, m mark) (gone bool, err error) {
	key := blob.ContentKey(hex)
	r, size, err := s.cfg.Blobs.Get(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil // somebody else removed it
	}
	if err != nil {
		return false, err
	}
	defer r.Close()
	kept, err := os.CreateTemp("", "judgefarm-package-")
	if err != nil {
		return false, err
	}
	defer kept.Close()
	if err := os.Remove(kept.Name()); err != nil {
		return false, err
	}
	if _, err := io.Copy(kept, r); err != nil {
		return false, err
	}
	if same, err := s.hasMark(ctx, hex, m); err != nil || !same {
		return false, err
	}
	if err := s.cfg.Blobs.Delete(ctx, key); err != nil {
		return false, err
	}
	same, err := s.hasMark(ctx, hex, m)
	if err == nil && same {
		// Nobody could let it out of quarantine any more: it has no name.
		_, err := s.cfg.Results.Unquarantine(ctx, "sha256:"+hex)
		return true, errors.Join(err, s.cfg.Blobs.Delete(ctx, unnamedPrefix+hex))
	}
	undo, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), finishTimeout, errSlow)
	defer cancel()
	if _, seekErr := kept.Seek(0, io.SeekStart); seekErr != nil {
		return false, errors.Join(err, seekErr)
	}
	return false, errors.Join(err, s.cfg.Blobs.Put(undo, key, kept, size, "application/octet-stream"))
}

func (s *Service) setMark(ctx context.Context, hex string) error {
	doc, err := json.Marshal(mark{s.cfg.Now().UTC()})
	if err != nil {
		return fmt.Errorf("encode mark: %w", err)
	}
	return s.cfg.Blobs.Put(ctx, unnamedPrefix+hex, bytes.NewReader(doc), int64(len(doc)), "application/json")
}

func (s *Service) hasMark(ctx context.Context, hex string, m mark) (bool, error) {
	var now mark
	err := s.readJSON(ctx, unnamedPrefix+hex, &now)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil && now.Since.Equal(m.Since), err
}

// namedPackages are the packages of all versions of all problems, by hex: what results
// knows and what the copies say, which results may have forgotten.
func (s *Service) namedPackages(ctx context.Context) (map[string]bool, error) {
	named := map[string]bool{}
	add := func(v judge.ProblemVersions) {
		for _, info := range v.Versions {
			named[packageHex(info.Package)] = true
		}
	}
	for after := ""; ; {
		page, err := s.cfg.Results.ListProblems(ctx, after, maxProblemsPg)
		if err != nil {
			return nil, err
		}
		for _, info := range page {
			after = info.ID
			v, err := s.cfg.Results.ProblemVersions(ctx, info.ID)
			if errors.Is(err, ErrNoProblem) {
				continue
			}
			if err != nil {
				return nil, err
			}
			add(v)
		}
		if len(page) < maxProblemsPg {
			break
		}
	}
	return named, s.eachKey(ctx, problemsRoot, func(key string) error {
		v, err := s.readCopy(ctx, path.Base(path.Dir(key)))
		if errors.Is(err, blob.ErrNotFound) { // deleted just now
			return nil
		}
		add(v)
		return err
	})
}

func (s *Service) marks(ctx context.Context) (map[string]mark, error) {
	marks := map[string]mark{}
	return marks, s.eachKey(ctx, unnamedPrefix, func(key string) error {
		var m mark
		err := s.readJSON(ctx, key, &m)
		if errors.Is(err, blob.ErrNotFound) {
			return nil
		}
		marks[path.Base(key)] = m
		return err
	})
}

// noOldIntent reports whether every intent is younger than its retention: an older one
// is still to be judged, or pruning is behind.
func (s *Service) noOldIntent(ctx context.Context) (bool, error) {
	keys, err := s.cfg.Blobs.List(ctx, intentPrefix, "", 1)
	if err != nil || len(keys) == 0 {
		return true, err
	}
	last := s.cfg.Now().UTC().Add(-s.cfg.IntentRetention - oldIntent).Format(intentDay)
	return keys[0] >= intentPrefix+last, nil
}

func (s *Service) eachKey(ctx context.Context, prefix string, do func(key string) error) error {
	for after := ""; ; {
		keys, err := s.cfg.Blobs.List(ctx, prefix, after, collectPage)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if err := do(key); err != nil {
				return err
			}
			after = key
		}
		if len(keys) < collectPage {
			return nil
		}
	}
}
