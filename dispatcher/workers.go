package dispatcher

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"judgefarm/internal/blob"
	"judgefarm/judge"
)

const (
	workerSilent = 3 * time.Minute // a worker that said nothing for so long is gone
	workerGone   = 24 * time.Hour  // and after so long what it said is removed
	workersMost  = 10_000
	workersFresh = 5 * time.Second // how long an answer is kept
	workerDoc    = 1 << 20
)

// Languages tells what the farm's workers have, as they announce it: a language is
// available when one worker has it, with that worker's version. defined are the
// languages that are listed even when no worker has them. Safe for concurrent use.
type Languages struct {
	Blobs   blob.Store
	Defined []judge.LanguageInfo
	Log     *slog.Logger     // must be set
	Now     func() time.Time // nil is time.Now

	mu   sync.Mutex
	last []judge.LanguageInfo
	at   time.Time
}

// List returns the languages by id. An error means that the blob store did not answer.
func (l *Languages) List(ctx context.Context) ([]judge.LanguageInfo, error) {
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && now().Sub(l.at) < workersFresh {
		return l.last, nil
	}
	keys, err := l.Blobs.List(ctx, judge.WorkerPrefix, "", workersMost)
	if err != nil {
		return nil, storeError("list workers", err)
	}
	byID := map[string]judge.LanguageInfo{}
	for _, d := range l.Defined {
		d.Available, d.Version, d.Toolchain = false, "", ""
		if d.Missing == "" {
			d.Missing = "no worker has it"
		}
		byID[d.ID] = d
	}
	for _, key := range keys {
		info, err := l.worker(ctx, key)
		if err != nil {
			return nil, err
		}
		silent := now().Sub(info.At)
		if silent > workerGone && !info.At.IsZero() {
			// Names are new with each process: what killed ones said would be read for ever.
			if err := l.Blobs.Delete(ctx, key); err != nil {
				return nil, storeError("remove worker", err)
			}
		}
		if silent > workerSilent {
			continue
		}
		for _, have := range info.Languages {
			if known, ok := byID[have.ID]; !ok || !known.Available {
				byID[have.ID] = have
			}
		}
	}
	all := make([]judge.LanguageInfo, 0, len(byID))
	for _, info := range byID {
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b judge.LanguageInfo) int { return strings.Compare(a.ID, b.ID) })
	l.last, l.at = all, now()
	return all, nil
}

// worker reads one announcement; one that vanished since the listing is empty, and so
// is one that is no such document: the others still count.
func (l *Languages) worker(ctx context.Context, key string) (judge.WorkerInfo, error) {
	var info judge.WorkerInfo
	r, _, err := l.Blobs.Get(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return info, nil
	}
	if err != nil {
		return info, storeError("read worker", err)
	}
	defer r.Close()
	doc, err := io.ReadAll(io.LimitReader(r, workerDoc))
	if err != nil {
		return info, storeError("read worker "+key, err)
	}
	if err := json.Unmarshal(doc, &info); err != nil {
		l.Log.Warn("leave out a worker whose announcement cannot be read", "key", key, "error", err)
		return judge.WorkerInfo{}, nil
	}
	return info, nil
}
