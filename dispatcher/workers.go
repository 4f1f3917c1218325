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

	"golang.org/x/sync/errgroup"

	"judgefarm/internal/blob"
	"judgefarm/judge"
)

const (
	workerSilent = 3 * time.Minute // a worker that said nothing for so long is gone
	workerGone   = 24 * time.Hour  // and after so long what it said is removed
	workersMost  = 10_000
	workersFresh = 5 * time.Second // how long an answer is kept
	workerDoc    = 1 << 20
	workersReads = 16 // that are read at one time
)

// Languages tells what the farm's workers have, as they announce it: a language is
// available when one worker has it, with that worker's version. defined are the
// languages that are listed even when no worker has them. Safe for concurrent use.
type Languages struct {
	Blobs   blob.Store
	Defined []judge.LanguageInfo
	Log     *slog.Logger     // must be set
	Now     func() time.Time // nil is time.Now

	mu      sync.Mutex // guards what follows, and is not held while workers are read
	last    []judge.LanguageInfo
	at      time.Time
	reading chan struct{} // closed when who reads now is done; nil: nobody does
}

// List returns the languages by id. Of several callers one reads, and the others have
// its answer. An error means that the blob store did not answer, or is ctx's cause.
func (l *Languages) List(ctx context.Context) ([]judge.LanguageInfo, error) {
	for {
		last, wait := l.fresh()
		if last != nil {
			return last, nil
		}
		if wait == nil {
			break
		}
		select {
		case <-wait: // where it failed it is our turn
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	at := l.now()
	all, err := l.read(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.last, l.at = all, at
	}
	close(l.reading)
	l.reading = nil
	return all, err
}

// fresh returns the last answer while it is good, or what to wait for, or neither:
// then the caller is to read.
func (l *Languages) fresh() (last []judge.LanguageInfo, wait <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && l.now().Sub(l.at) < workersFresh {
		return l.last, nil
	}
	if l.reading != nil {
		return nil, l.reading
	}
	l.reading = make(chan struct{})
	return nil, nil
}

func (l *Languages) now() time.Time {
	if l.Now != nil {
		return l.Now()
	}
	return time.Now()
}

// read asks for what every worker has.
func (l *Languages) read(ctx context.Context) ([]judge.LanguageInfo, error) {
	keys, err := l.Blobs.List(ctx, judge.WorkerPrefix, "", workersMost)
	if err != nil {
		return nil, storeError("list workers", err)
	}
	infos := make([]judge.WorkerInfo, len(keys))
	g, readCtx := errgroup.WithContext(ctx)
	g.SetLimit(workersReads)
	for i, key := range keys {
		g.Go(func() (err error) {
			infos[i], err = l.worker(readCtx, key)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	byID := map[string]judge.LanguageInfo{}
	for _, d := range l.Defined {
		d.Available, d.Version, d.Toolchain = false, "", ""
		if d.Missing == "" {
			d.Missing = "no worker has it"
		}
		byID[d.ID] = d
	}
	for i, info := range infos {
		silent := l.now().Sub(info.At)
		if silent > workerGone && !info.At.IsZero() {
			// Names are new with each process: what killed ones said would be read for ever.
			if err := l.Blobs.Delete(ctx, keys[i]); err != nil {
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
