package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"judgefarm/judge"
)

// registerProblems adds the operations on problems and their versions.
func (a *api) registerProblems(routes huma.API) {
	huma.Register(routes, a.putProblemOperation(), a.putProblem)
	huma.Register(routes, a.operation("list-problems", http.MethodGet, "/v1/problems", "List problems",
		"The current version of every problem, in byte order of the ids, a page at a time.", op{errors: []int{422, 503}}), a.listProblems)
	huma.Register(routes, a.operation("get-problem", http.MethodGet, "/v1/problems/{id}", "Get a problem",
		"What is known of the current version, or of another; no test data.", op{errors: []int{404, 422, 503}}), a.getProblem)
	huma.Register(routes, a.operation("list-problem-versions", http.MethodGet, "/v1/problems/{id}/versions", "List a problem's versions",
		"What is kept of the problem, the newest version first.", op{errors: []int{404, 422, 503}}), a.problemVersions)
	huma.Register(routes, a.operation("rollback-problem", http.MethodPost, "/v1/problems/{id}/rollback", "Roll a problem back",
		"Makes a version that is kept the current one: the newest before the current one where none is named. Submissions that "+
			"were accepted keep theirs.", op{errors: []int{404, 422, 503}}), a.rollbackProblem)
	huma.Register(routes, a.operation("release-problem", http.MethodPost, "/v1/problems/{id}/release", "Let a problem out of quarantine",
		"Of the current version, or another: submissions to it are judged again. The quarantine tells why it is in.",
		op{errors: []int{404, 422, 503}}), a.releaseProblem)
	gone := a.operation("delete-problem", http.MethodDelete, "/v1/problems/{id}", "Delete a problem",
		"Forgets the problem and its versions. Submissions that were accepted are judged all the same.", op{errors: []int{404, 422, 503}})
	gone.DefaultStatus = http.StatusNoContent
	huma.Register(routes, gone, a.deleteProblem)
}

type listProblemsInput struct {
	After string `query:"after" maxLength:"128" doc:"the id after which to go on: next of the page before"`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"100" doc:"most problems of one page"`
}

type listProblemsOutput struct {
	Body struct {
		Problems []judge.ProblemInfo `json:"problems"`
		Next     string              `json:"next,omitempty" doc:"where the next page goes on; absent on the last"`
	}
}

func (a *api) listProblems(ctx context.Context, in *listProblemsInput) (*listProblemsOutput, error) {
	list, err := a.service.Problems(ctx, in.After, in.Limit)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	out := &listProblemsOutput{}
	out.Body.Problems = append([]judge.ProblemInfo{}, list...)
	if len(list) == in.Limit {
		out.Body.Next = list[len(list)-1].ID
	}
	return out, nil
}

type versionInput struct {
	ID      string `path:"id" maxLength:"128"`
	Version int    `query:"version" minimum:"0" doc:"number of a version"`
}

func (a *api) getProblem(ctx context.Context, in *versionInput) (*problemOutput, error) {
	info, err := a.service.GetProblem(ctx, in.ID, in.Version)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return &problemOutput{Body: info}, nil
}

type versionsOutput struct{ Body judge.ProblemVersions }

func (a *api) problemVersions(ctx context.Context, in *idInput) (*versionsOutput, error) {
	v, err := a.service.ProblemVersions(ctx, in.ID)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return &versionsOutput{Body: v}, nil
}

func (a *api) rollbackProblem(ctx context.Context, in *versionInput) (*problemOutput, error) {
	info, err := a.service.RollbackProblem(ctx, in.ID, in.Version)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return &problemOutput{Body: info}, nil
}

func (a *api) releaseProblem(ctx context.Context, in *versionInput) (*problemOutput, error) {
	info, err := a.service.ReleaseProblem(ctx, in.ID, in.Version)
	if err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return &problemOutput{Body: info}, nil
}

func (a *api) deleteProblem(ctx context.Context, in *idInput) (*struct{}, error) {
	if err := a.service.DeleteProblem(ctx, in.ID); err != nil {
		return nil, problemOf(ctx, a.log, err)
	}
	return nil, nil
}
