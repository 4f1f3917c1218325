package sandbox

import (
	"bytes"
	"sync"
)

// wanted remembers which boxes runs needed lately, so that the likeliest is prepared:
// one compilation between hundreds of cases does not change it.
type wanted struct {
	mu    sync.Mutex
	boxes [4]struct {
		key   []byte
		score float64 // of each run 1, of the run before it 7/8, and so on
	}
}

// add counts a run that needs a box by its key, which is kept and not to be changed.
func (w *wanted) add(key []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := 0
	for i := range w.boxes {
		w.boxes[i].score *= 7. / 8
		if w.boxes[i].score < w.boxes[at].score {
			at = i
		}
	}
	for i := range w.boxes {
		if bytes.Equal(w.boxes[i].key, key) {
			w.boxes[i].score++
			return
		}
	}
	w.boxes[at].key, w.boxes[at].score = key, 1 // in the place of the least wanted
}

// most is the key of the likeliest box, nil before the first run.
func (w *wanted) most() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := 0
	for i := range w.boxes {
		if w.boxes[i].score > w.boxes[at].score {
			at = i
		}
	}
	return w.boxes[at].key
}
