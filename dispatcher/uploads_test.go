package dispatcher_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/dispatchertest"
)

// Uploads that never end keep others from nothing but a place: who finds none is told
// so, and the places are free again when the senders have gone.
func TestUploadsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := dispatchertest.New(t, nil)
		const most = 4
		var slow []*io.PipeWriter
		ended := make(chan error, most)
		for range most {
			r, w := io.Pipe()
			slow = append(slow, w)
			go func() {
				_, err := f.Service.PutProblem(t.Context(), "slow", r)
				ended <- err
			}()
		}
		synctest.Wait()
		began := time.Now()
		if _, err := f.Service.PutProblem(t.Context(), "p", nil); !errors.Is(err, dispatcher.ErrBusy) {
			t.Errorf("got %v, want busy", err)
		}
		if waited := time.Since(began); waited != 10*time.Second {
			t.Errorf("waited %v, want 10 s", waited)
		}
		for _, w := range slow {
			w.CloseWithError(io.ErrUnexpectedEOF)
		}
		for range most {
			if err := <-ended; !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("got %v, want that the sender has gone", err)
			}
		}
		push(t, f, "p", "1\n")
	})
}
