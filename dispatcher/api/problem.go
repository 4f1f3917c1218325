package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

const problemType = "application/problem+json"

// Problem is a problem document (RFC 9457): every answer with a status of 400 and
// more. Its text is safe to show.
type Problem struct {
	Type      string              `json:"type" doc:"about:blank: the status tells the kind"`
	Title     string              `json:"title" doc:"the status in words"`
	Status    int                 `json:"status"`
	Detail    string              `json:"detail" doc:"what is wrong this time"`
	Errors    []*judge.FieldError `json:"errors,omitempty" doc:"every fault of the request, by field"`
	RequestID string              `json:"request_id,omitempty" doc:"finds this request in the server's log"`

	header http.Header
}

var (
	_ huma.StatusError       = (*Problem)(nil)
	_ huma.HeadersError      = (*Problem)(nil)
	_ huma.ContentTypeFilter = (*Problem)(nil)
)

// maxFaults is how many faults are told one by one, and detailFaults how many of
// them in the detail. So an answer is small, however large the body.
const (
	maxFaults    = 100
	detailFaults = 10
	maxField     = 256 // bytes of a field's name; that of an unknown one is the sender's
)

func newProblem(status int, detail string, faults ...*judge.FieldError) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Errors: faults}
}

// newFaults is a problem document about the faults: all of them, within bounds.
func newFaults(status int, faults []*judge.FieldError) *Problem {
	detail := (&judge.BadRequest{Faults: faults[:min(detailFaults, len(faults))]}).Error()
	if more := len(faults) - detailFaults; more > 0 {
		detail += fmt.Sprintf("; and %d more", more)
	}
	if more := len(faults) - maxFaults; more > 0 {
		faults = append(faults[:maxFaults:maxFaults], &judge.FieldError{Reason: fmt.Sprintf("and %d more faults", more)})
	}
	return newProblem(status, detail, faults...)
}

// retryAfter adds the header, in whole seconds rounded up, at least one.
func (p *Problem) retryAfter(d time.Duration) *Problem {
	p.header = http.Header{"Retry-After": {strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))}}
	return p
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return problemType }

// problemOf translates an error of the service. Text of ours that may name hosts or
// paths goes to the log only.
func problemOf(ctx context.Context, log *slog.Logger, err error) *Problem {
	var (
		bad  *judge.BadRequest
		full *dispatcher.FullError
	)
	switch {
	case errors.As(err, &bad):
		return newFaults(http.StatusUnprocessableEntity, bad.Faults)
	case errors.As(err, &full):
		return newProblem(http.StatusTooManyRequests, full.Error()).retryAfter(full.RetryAfter)
	case errors.Is(err, dispatcher.ErrTooLarge):
		return newProblem(http.StatusRequestEntityTooLarge, err.Error())
	case errors.Is(err, dispatcher.ErrBusy):
		return newProblem(http.StatusServiceUnavailable, "too many problems are being uploaded; try again").retryAfter(5 * time.Second)
	case errors.Is(err, results.ErrNotFound):
		return newProblem(http.StatusNotFound, "there is no submission with this id; results are kept for a limited time")
	case errors.Is(err, dispatcher.ErrNoProblem):
		return newProblem(http.StatusNotFound, "there is no problem with this id; PUT uploads one")
	case errors.Is(err, dispatcher.ErrNoVersion):
		return newProblem(http.StatusNotFound, "the problem has no such version; GET /v1/problems/{id}/versions lists them")
	case errors.Is(err, dispatcher.ErrProblemsFull):
		return newProblem(http.StatusConflict, "there are as many problems as are allowed; DELETE one that is not needed")
	case errors.Is(err, dispatcher.ErrNoRejudge):
		return newProblem(http.StatusNotFound, "there is no rejudge with this id; they are kept as long as results")
	case errors.Is(err, dispatcher.ErrUnfinished):
		return newProblem(http.StatusConflict, "not every new judgement is final; GET tells how many are")
	case errors.Is(err, dispatcher.ErrMissing):
		return newProblem(http.StatusConflict,
			"not every new judgement is there: the rejudge is still being made, or that was broken off; then DELETE it and make a new one")
	case errors.Is(err, dispatcher.ErrOutdated):
		return newProblem(http.StatusConflict, "a submission got another judgement since the rejudge was made; make a new one")
	case errors.Is(err, dispatcher.ErrDropped):
		return newProblem(http.StatusConflict, "the rejudge was dropped; make a new one")
	case errors.Is(err, dispatcher.ErrApplied):
		return newProblem(http.StatusConflict, "the rejudge was applied; rejudge again to undo it")
	case errors.Is(err, dispatcher.ErrRejudgesFull):
		return newProblem(http.StatusConflict, "there are as many open rejudges as are allowed; apply or DELETE one")
	case ctx.Err() != nil: // the client has gone: nobody reads this
		return newProblem(http.StatusServiceUnavailable, "the request was ended by its sender").retryAfter(time.Second)
	case errors.Is(err, dispatcher.ErrUnavailable):
		log.Error("answer unavailable", "request", requestID(ctx), "error", err)
		return newProblem(http.StatusServiceUnavailable,
			"the queue or a store does not work now; try again, with an Idempotency-Key").retryAfter(2 * time.Second)
	}
	log.Error("answer internal error", "request", requestID(ctx), "error", err)
	return newProblem(http.StatusInternalServerError, "this is a fault of the server; its log has the request_id")
}

// problemDocuments is the transformer of every response body: huma's own error
// model becomes a Problem, and each Problem learns its request's id.
func (a *api) problemDocuments(ctx huma.Context, _ string, v any) (any, error) {
	var p *Problem
	switch v := v.(type) {
	case *Problem:
		p = v
	case *huma.ErrorModel:
		var more []*judge.FieldError
		if op := ctx.Operation(); op != nil && op.OperationID == opSubmit {
			a.metrics.invalid()
			if v.Status == http.StatusUnprocessableEntity {
				more = a.serviceFaults(ctx)
			}
		}
		p = fromHuma(v, more)
	default:
		return v, nil
	}
	p.RequestID = requestID(ctx.Context())
	return p, nil
}

// fromHuma rewords what huma found: it tells places from the outside ("body.files[0]")
// and echoes values, which may be whole bodies. What the service found is added
// where huma has no word about the field or what it is part of.
func fromHuma(m *huma.ErrorModel, more []*judge.FieldError) *Problem {
	var faults []*judge.FieldError
	told := map[string]bool{}
	for _, d := range m.Errors {
		if d != nil {
			f := faultOf(d)
			faults, told[f.Field] = append(faults, f), true
		}
	}
	for _, f := range more {
		if !within(f.Field, told) {
			faults = append(faults, f)
		}
	}
	if len(faults) == 0 {
		return newProblem(m.Status, m.Detail)
	}
	return newFaults(m.Status, faults)
}

// within reports whether field, or one that it is part of, is among the told.
func within(field string, told map[string]bool) bool {
	for i, r := range field {
		if (r == '.' || r == '[') && told[field[:i]] {
			return true
		}
	}
	return told[field]
}

func faultOf(d *huma.ErrorDetail) *judge.FieldError {
	_, field, _ := strings.Cut(d.Location, ".")
	reason := d.Message
	switch {
	case d.Message == "unexpected property", d.Message == "unknown query parameter":
		reason = "is not a field of this request; see /openapi.json"
	case strings.HasPrefix(d.Message, "expected required property "):
		name := strings.TrimSuffix(strings.TrimPrefix(d.Message, "expected required property "), " to be present")
		if field != "" {
			name = field + "." + name
		}
		field, reason = name, "is required"
	case d.Location == "body":
		field, reason = bodyField, "is not as it must be: "+d.Message
	}
	if len(field) > maxField {
		field = strings.ToValidUTF8(field[:maxField], "") + "..."
	}
	return &judge.FieldError{Field: field, Reason: reason}
}

// writeProblem answers outside of huma.
func writeProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	p.RequestID = requestID(r.Context())
	b, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("encode problem document: %v", err)) // strings and numbers only
	}
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	w.Write(append(b, '\n'))
}
