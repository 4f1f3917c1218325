package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"judgefarm/judge"
)

// announceEvery is how often a worker tells of itself; dispatchers forget one that
// was silent for three times that.
const announceEvery = time.Minute

// Announce tells the farm which languages this worker has, until ctx ends; then it
// takes the word back. languages is asked each time, since toolchains come and go.
// A store that fails is told in the log and tried again.
func (w *Worker) Announce(ctx context.Context, languages func(context.Context) ([]judge.LanguageInfo, error)) error {
	key := judge.WorkerPrefix + w.Name + ".json"
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		if err := w.tell(ctx, key, languages); err != nil && ctx.Err() == nil {
			w.Log.Warn("announce worker", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			if err := w.Blobs.Delete(gone, key); err != nil {
				w.Log.Debug("withdraw worker", "error", err) // it is forgotten by itself
			}
			return nil
		}
	}
}

func (w *Worker) tell(ctx context.Context, key string, languages func(context.Context) ([]judge.LanguageInfo, error)) error {
	infos, err := languages(ctx)
	if err != nil {
		return fmt.Errorf("look for languages: %w", err)
	}
	doc, err := json.Marshal(judge.WorkerInfo{Name: w.Name, Slots: w.Slots, Languages: infos, At: time.Now().UTC()})
	if err != nil {
		return err
	}
	return w.Blobs.Put(ctx, key, bytes.NewReader(doc), int64(len(doc)), "application/json")
}
