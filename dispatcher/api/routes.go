package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"judgefarm/dispatcher"
	"judgefarm/judge"
)

// register adds every operation of /v1.
func (a *api) register(routes huma.API) {
	huma.Register(routes, a.operation(opSubmit, http.MethodPost, "/v1/submissions", "Submit a program",
		"Answers 201 with the queued submission. With wait=true it answers 200 once the submission is final, or 202 "+
			"with what is known when the longest wait is over; the submission goes on when the client hangs up. "+
			"With an Idempotency-Key a request can be sent again: it names the same submission as long as its result is kept.",
		op{json: true, wait: true, created: true, errors: []int{400, 408, 413, 415, 422, 429, 503}}), a.submit)
	huma.Register(routes, a.operation("get-submission", http.MethodGet, "/v1/submissions/{id}", "Get a submission",
		"Answers 200 with what is known. With wait=true it answers 200 once the submission is final, or 202 when the longest wait is over.",
		op{wait: true, errors: []int{404, 422, 503}}), a.get)
	huma.Register(routes, a.operation("cancel-submission", http.MethodPost, "/v1/submissions/{id}/cancel", "Cancel a submission",
		"Answers 200 with the final submission: cancelled, or as it was when it was final already. Answers 202 when its "+
			"worker was asked to stop.",
		op{wait: true, errors: []int{404, 422, 503}}), a.cancel)
	huma.Register(routes, a.eventsOperation(), a.events)
	a.registerProblems(routes)
	a.registerRejudges(routes)
	huma.Register(routes, a.operation("list-languages", http.MethodGet, "/v1/languages", "List languages",
		"Every defined language, and whether the workers have it.", op{errors: []int{503}}), a.languages)
}

const opSubmit = "submit"

// op is what operations differ in.
type op struct {
	json    bool // has a JSON body
	wait    bool // may answer 202 with a submission that is not final
	created bool // may answer 201
	errors  []int
}

func (a *api) operation(id, method, path, summary, description string, o op) huma.Operation {
	if method != http.MethodGet {
		o.errors = append(o.errors, http.StatusForbidden) // see sameOrigin
	}
	h := huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, Description: description,
		DefaultStatus: http.StatusOK, Responses: a.errorResponses(o.errors),
	}
	if o.json {
		h.Middlewares = huma.Middlewares{a.readJSON}
		h.MaxBodyBytes = int64(a.cfg.MaxBody) + 1 // huma refuses a body of exactly its limit
		h.BodyReadTimeout = -1                    // see receive
	}
	if o.wait {
		h.Metadata = map[string]any{metaWait: true, metaCreated: o.created}
	}
	return h
}

type submitInput struct {
	Wait bool   `query:"wait" doc:"hold the answer until the submission is final"`
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"any text that is new for each submission, such as a UUID"`
	Body judge.Request
}

type submitOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     judge.Judgement
}

func (a *api) submit(ctx context.Context, in *submitInput) (*submitOutput, error) {
	j, err := a.service.Submit(ctx, dispatcher.Request{Request: in.Body, Key: in.Key})
	a.metrics.submitted(in.Body.Priority, err)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	in.Body = judge.Request{} // megabytes, perhaps, during the wait
	releaseBody(ctx)
	out := &submitOutput{Status: http.StatusCreated, Location: "/v1/submissions/" + j.ID, Body: j}
	if !in.Wait {
		return out, nil
	}
	out.Status = statusOf(j)
	if waited, err := a.wait(ctx, j); err == nil { // else it is accepted all the same
		out.Status, out.Body = statusOf(waited), waited
	}
	return out, nil
}

type getInput struct {
	Wait bool   `query:"wait" doc:"hold the answer until the submission is final"`
	ID   string `path:"id" maxLength:"64"`
}

type submissionOutput struct {
	Status int
	Body   judge.Judgement
}

func (a *api) get(ctx context.Context, in *getInput) (*submissionOutput, error) {
	j, err := a.service.Get(ctx, in.ID)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	if !in.Wait {
		return &submissionOutput{Status: http.StatusOK, Body: j}, nil
	}
	j, err = a.wait(ctx, j)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return &submissionOutput{Status: statusOf(j), Body: j}, nil
}

// wait holds until the submission is final, within bounds. Where every place is
// taken it does not wait: the status 202 says so.
func (a *api) wait(ctx context.Context, j judge.Judgement) (judge.Judgement, error) {
	if j.State.Final() {
		return j, nil
	}
	release := a.hold()
	if release == nil {
		return j, nil
	}
	defer release()
	held, cancel := a.heldContext(ctx, a.cfg.MaxWait)
	defer cancel()
	return a.service.Wait(held, j.ID)
}

func statusOf(j judge.Judgement) int {
	if j.State.Final() {
		return http.StatusOK
	}
	return http.StatusAccepted
}

type idInput struct {
	ID string `path:"id" maxLength:"128"`
}

func (a *api) cancel(ctx context.Context, in *idInput) (*submissionOutput, error) {
	j, err := a.service.Cancel(ctx, in.ID)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return &submissionOutput{Status: statusOf(j), Body: j}, nil
}

type languagesOutput struct {
	Body struct {
		Languages []judge.LanguageInfo `json:"languages"`
	}
}

func (a *api) languages(ctx context.Context, _ *struct{}) (*languagesOutput, error) {
	list, err := a.cfg.Languages(ctx)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	out := &languagesOutput{}
	out.Body.Languages = append([]judge.LanguageInfo{}, list...)
	return out, nil
}
