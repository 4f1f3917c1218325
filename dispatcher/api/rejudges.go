package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"judgefarm/judge"
)

// registerRejudges adds the operations on rejudges.
func (a *api) registerRejudges(routes huma.API) {
	create := a.operation("create-rejudge", http.MethodPost, "/v1/rejudges", "Judge submissions again",
		"Queues a new judgement of each submission, after all that wait at a higher priority. The submissions stay as they are "+
			"until it is applied.", op{json: true, errors: []int{400, 408, 409, 413, 415, 422, 503}})
	create.DefaultStatus = http.StatusCreated
	huma.Register(routes, create, a.createRejudge)
	huma.Register(routes, a.operation("list-rejudges", http.MethodGet, "/v1/rejudges", "List rejudges",
		"Those that are kept, the newest first, without their submissions. State judging says here that it is open.",
		op{errors: []int{503}}), a.listRejudges)
	huma.Register(routes, a.operation("get-rejudge", http.MethodGet, "/v1/rejudges/{id}", "Get a rejudge",
		"The difference that it would make, submission by submission.", op{errors: []int{404, 422, 503}}), a.getRejudge)
	huma.Register(routes, a.operation("apply-rejudge", http.MethodPost, "/v1/rejudges/{id}/apply", "Apply a rejudge",
		"Puts all new judgements in the place of the old ones at once, or none of them. Answers 409 while some are not final, or "+
			"where a submission got another judgement since the rejudge was made.", op{errors: []int{404, 409, 422, 503}}), a.applyRejudge)
	drop := a.operation("drop-rejudge", http.MethodDelete, "/v1/rejudges/{id}", "Drop a rejudge",
		"Leaves the submissions as they are and ends what is still to be judged.", op{errors: []int{404, 409, 422, 503}})
	drop.DefaultStatus = http.StatusNoContent
	huma.Register(routes, drop, a.dropRejudge)
}

type createRejudgeInput struct{ Body judge.RejudgeRequest }

type createRejudgeOutput struct {
	Location string `header:"Location"`
	Body     judge.Rejudge
}

func (a *api) createRejudge(ctx context.Context, in *createRejudgeInput) (*createRejudgeOutput, error) {
	r, err := a.service.Rejudge(ctx, in.Body)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return &createRejudgeOutput{Location: "/v1/rejudges/" + r.ID, Body: r}, nil
}

type rejudgesOutput struct {
	Body struct {
		Rejudges []judge.Rejudge `json:"rejudges"`
	}
}

func (a *api) listRejudges(ctx context.Context, _ *struct{}) (*rejudgesOutput, error) {
	list, err := a.service.Rejudges(ctx)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	out := &rejudgesOutput{}
	out.Body.Rejudges = list
	return out, nil
}

type rejudgeOutput struct{ Body judge.Rejudge }

func (a *api) getRejudge(ctx context.Context, in *idInput) (*rejudgeOutput, error) {
	r, err := a.service.GetRejudge(ctx, in.ID)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return &rejudgeOutput{Body: r}, nil
}

func (a *api) applyRejudge(ctx context.Context, in *idInput) (*rejudgeOutput, error) {
	r, err := a.service.ApplyRejudge(ctx, in.ID)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return &rejudgeOutput{Body: r}, nil
}

func (a *api) dropRejudge(ctx context.Context, in *idInput) (*struct{}, error) {
	if err := a.service.DropRejudge(ctx, in.ID); err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return nil, nil
}
