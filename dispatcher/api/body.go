package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"judgefarm/dispatcher"
	"judgefarm/judge"
)

type bodyKey struct{}

// received is the JSON body of a request while it is of use.
type received struct {
	text    []byte
	reader  *bytes.Reader // of text: the request's body by now
	forfeit func()        // gives the memory back that was claimed
}

// release forgets the body, then lets others have its memory. It may be called again.
func (b *received) release() {
	b.text = nil
	b.reader.Reset(nil)
	b.forfeit()
}

// bodyField is the field of faults that concern the body as a whole.
const bodyField = "body"

// releaseBody gives the memory of the request's body back before a long wait.
func releaseBody(ctx context.Context) {
	if b, ok := ctx.Value(bodyKey{}).(*received); ok {
		b.release()
	}
}

// readJSON is the middleware of operations with a JSON body. It reads the body
// itself because huma's reader answers 500 for a body cut short, and because
// encoding/json replaces bytes that are not UTF-8, silently: a program or a test
// would not be what was sent.
func (a *api) readJSON(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if problem := a.checkHead(r); problem != nil {
		writeProblem(w, r, problem)
		return
	}
	mine := &claim{from: a.bodies}
	release := sync.OnceFunc(func() {
		a.metrics.bodies.Sub(float64(mine.size))
		mine.release()
	})
	defer release()
	body, problem := a.receive(w, r, mine)
	if problem == nil {
		problem = checkText(body)
	}
	if problem == nil {
		problem = a.checkCount(body)
	}
	if problem != nil {
		if problem.Status != http.StatusServiceUnavailable {
			a.metrics.invalid()
		}
		writeProblem(w, r, problem)
		return
	}
	b := &received{text: body, reader: bytes.NewReader(body), forfeit: release}
	r.Body = io.NopCloser(b.reader)
	next(huma.WithValue(ctx, bodyKey{}, b))
}

// serviceFaults are the faults that the service finds in a request which does not
// fit the schema either, so that its sender learns of all in one answer. What
// cannot be decoded is taken as absent.
func (a *api) serviceFaults(ctx huma.Context) []*judge.FieldError {
	body, ok := ctx.Context().Value(bodyKey{}).(*received)
	if !ok {
		return nil
	}
	var (
		req   judge.Request
		wrong *json.UnmarshalTypeError // the rest is decoded all the same
		bad   *judge.BadRequest
	)
	if err := json.Unmarshal(body.text, &req); err != nil && !errors.As(err, &wrong) {
		return nil
	}
	err := a.service.Check(ctx.Context(), dispatcher.Request{Request: req, Key: ctx.Header("Idempotency-Key")})
	if errors.As(err, &bad) {
		return bad.Faults
	}
	return nil // a store that is away adds nothing: the request is at fault as it is
}

// checkHead refuses by its head what cannot be a body of ours.
func (a *api) checkHead(r *http.Request) *Problem {
	if ct := r.Header.Get("Content-Type"); ct != "" {
		if kind, _, err := mime.ParseMediaType(ct); err != nil || kind != "application/json" {
			return newProblem(http.StatusUnsupportedMediaType,
				fmt.Sprintf("Content-Type must be application/json, is %.64q", ct))
		}
	}
	if r.ContentLength > int64(a.cfg.MaxBody) {
		return a.tooLarge()
	}
	return nil
}

func (a *api) tooLarge() *Problem {
	return newProblem(http.StatusRequestEntityTooLarge,
		fmt.Sprintf("the body must be at most %d bytes; upload large tests as a problem", a.cfg.MaxBody))
}

// receive reads the body, within the time limit that observe has set, and takes the
// limit off again when it has all of it: left on, it would end a wait (net/http
// watches the connection by reading from it).
func (a *api) receive(w http.ResponseWriter, r *http.Request, mine *claim) ([]byte, *Problem) {
	body, err := a.readAll(r.Context(), http.MaxBytesReader(w, r.Body, int64(a.cfg.MaxBody)), r.ContentLength, mine)
	var (
		over    *http.MaxBytesError
		timeout net.Error
	)
	switch {
	case err == nil:
		a.limitRead(w, 0)
		return body, nil
	case errors.Is(err, errNoMemory):
		return nil, newProblem(http.StatusServiceUnavailable,
			"too many large requests are being read; try again").retryAfter(time.Second)
	case errors.As(err, &over):
		return nil, a.tooLarge()
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, newProblem(http.StatusRequestTimeout, fmt.Sprintf("the body did not arrive within %v", a.cfg.BodyTimeout))
	}
	return nil, newProblem(http.StatusBadRequest, "the body ended early or is not framed as HTTP says")
}

// firstPart is what a body may hold before any of it is there.
const firstPart = 4 << 10

var errNoMemory = errors.New("no memory for the body")

// readAll reads a body of size bytes, or of at most MaxBody where size is negative,
// into a buffer that it claims as it grows. What is copied into a larger one is not
// counted for as long as that takes.
func (a *api) readAll(ctx context.Context, from io.Reader, size int64, mine *claim) ([]byte, error) {
	if size < 0 {
		size = int64(a.cfg.MaxBody)
	}
	var buf []byte
	for {
		if len(buf) == cap(buf) {
			room := min(max(2*cap(buf), firstPart), int(size)+1) // one more: a full buffer cannot see the end
			if err := a.grow(ctx, mine, int64(room-cap(buf))); err != nil {
				return nil, err
			}
			buf = append(make([]byte, 0, room), buf...)
		}
		n, err := from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// grow claims n bytes more, for which it waits a while.
func (a *api) grow(ctx context.Context, mine *claim, n int64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, a.cfg.BodyTimeout/6, errNoMemory)
	defer cancel()
	if err := mine.grow(ctx, n); err != nil {
		return err
	}
	a.metrics.bodies.Add(float64(n))
	return nil
}

// limitRead limits how long the rest of the body may take; 0 takes the limit off.
// Without one, a refused request whose body never ends would hang: net/http reads
// the rest before it sends the answer.
func (a *api) limitRead(w http.ResponseWriter, d time.Duration) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	// A recorder of a test has no connection to limit.
	if err := http.NewResponseController(w).SetReadDeadline(until); err != nil && !errors.Is(err, http.ErrNotSupported) {
		a.log.Debug("limit reading", "error", err) // the connection is gone
	}
}

// checkText refuses JSON that would lose bytes when decoded.
func checkText(body []byte) *Problem {
	at, what := badUTF8(body), "bytes that are not UTF-8"
	if at < 0 {
		at, what = loneSurrogate(body), `half of a surrogate pair, which is no character`
	}
	if at < 0 {
		return nil
	}
	fault := &judge.FieldError{Field: bodyField, Reason: fmt.Sprintf(
		`has %s at byte %d; send such text as base64 with "encoding":"base64"`, what, at)}
	return newProblem(http.StatusBadRequest, "the body "+fault.Reason, fault)
}

// valuesFor is how many values a body may have for each file, test and label that a
// request may have: many times what they take, so that who sends a few too many is
// told which.
const valuesFor = 20

// checkCount refuses a body of millions of values before they are looked at one by
// one: 16 MiB of empty files took a minute and gigabytes of messages to refuse.
func (a *api) checkCount(body []byte) *Problem {
	bounds := a.service.Bounds()
	most := valuesFor * (bounds.Files + bounds.Tests + bounds.Labels)
	if !moreValues(body, most) {
		return nil
	}
	fault := &judge.FieldError{Field: bodyField, Reason: fmt.Sprintf(
		"has more than %d values; a submission has at most %d files, %d tests and %d labels: upload a problem for more tests",
		most, bounds.Files, bounds.Tests, bounds.Labels)}
	return newProblem(http.StatusUnprocessableEntity, "the body "+fault.Reason, fault)
}

// moreValues reports whether JSON has more commas outside of strings than most.
func moreValues(b []byte, most int) bool {
	inside := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			inside = !inside
		case c == '\\':
			i++ // what follows ends no string
		case c == ',' && !inside:
			if most--; most < 0 {
				return true
			}
		}
	}
	return false
}

func badUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// loneSurrogate finds an escape \uD800 to \uDFFF without its other half. A
// backslash occurs in strings only, or the body is not JSON and refused later.
func loneSurrogate(b []byte) int {
	for i := 0; i < len(b); {
		next := bytes.IndexByte(b[i:], '\\')
		if next < 0 {
			return -1
		}
		i += next
		switch unit := escaped(b[i:]); {
		case unit < 0:
			i += 2 // \n, \\, \" and what is no escape at all
		case unit < 0xd800 || unit > 0xdfff:
			i += 6
		case unit > 0xdbff:
			return i
		default:
			if low := escaped(b[i+6:]); low < 0xdc00 || low > 0xdfff {
				return i
			}
			i += 12
		}
	}
	return -1
}

// escaped returns the unit of an escape \uXXXX at the start of b, or -1.
func escaped(b []byte) int {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	unit := 0
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			unit = unit<<4 | int(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			unit = unit<<4 | int(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return unit
}
