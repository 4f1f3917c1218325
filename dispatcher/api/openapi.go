package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"judgefarm/judge"
)

// Keys of an operation's metadata: which further statuses it answers with.
const (
	metaWait    = "wait"
	metaCreated = "created"
)

// errorResponses documents the statuses whose body is a Problem.
func (a *api) errorResponses(codes []int) map[string]*huma.Response {
	schema := a.schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	responses := map[string]*huma.Response{}
	for _, code := range append(codes, http.StatusInternalServerError) {
		r := &huma.Response{
			Description: http.StatusText(code),
			Content:     map[string]*huma.MediaType{problemType: {Schema: schema}},
		}
		if code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable {
			r.Headers = map[string]*huma.Param{"Retry-After": {
				Description: "seconds after which to try again", Schema: &huma.Schema{Type: huma.TypeInteger}}}
		}
		responses[strconv.Itoa(code)] = r
	}
	return responses
}

// serveDocument completes the OpenAPI document, renders it once and serves it.
// huma's own handlers render it lazily and without a lock.
func (a *api) serveDocument(doc *huma.OpenAPI) error {
	for _, item := range doc.Paths {
		for _, o := range []*huma.Operation{item.Get, item.Put, item.Post} {
			completeResponses(o)
		}
	}
	if err := completeSchemas(doc.Components.Schemas.Map()); err != nil {
		return err
	}
	asJSON, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("render openapi document: %w", err)
	}
	asYAML, err := doc.YAML()
	if err != nil {
		return fmt.Errorf("render openapi document: %w", err)
	}
	a.mux.Handle("GET /openapi.json", document("application/openapi+json", append(asJSON, '\n')))
	a.mux.Handle("GET /openapi.yaml", document("application/openapi+yaml", asYAML))
	return nil
}

func document(contentType string, b []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Write(b)
	})
}

// completeResponses adds the statuses that an operation sets itself.
func completeResponses(o *huma.Operation) {
	if o == nil || o.Metadata[metaWait] == nil {
		return
	}
	final := o.Responses["200"]
	final.Description = "the submission"
	accepted := *final
	accepted.Description = "the submission, not final yet"
	o.Responses["202"] = &accepted
	if o.Metadata[metaCreated] == true {
		created := *final
		created.Description = "the submission, queued"
		o.Responses["201"] = &created
	}
}

// schemaName shortens names of Go types to the words that documents use.
func schemaName(t reflect.Type, hint string) string {
	name := strings.TrimSuffix(huma.DefaultSchemaNamer(t, hint), "JSON")
	switch name {
	case "Request":
		return "Submission"
	case "LanguagesOutputBody":
		return "Languages"
	case "RejudgesOutputBody":
		return "Rejudges"
	case "ListProblemsOutputBody":
		return "Problems"
	}
	return name
}

// completeSchemas says what Go types do not: which documents may get new fields
// (answers; unknown fields of requests are refused), what is never null, and the verdicts.
func completeSchemas(schemas map[string]*huma.Schema) error {
	delete(schemas, "ErrorModel") // huma's; ours is Problem
	delete(schemas, "ErrorDetail")
	sent := []string{"Submission", "File", "Test", "CheckerSpec", "Limits", "RejudgeRequest"}
	for name, s := range schemas {
		if !slices.Contains(sent, name) {
			s.AdditionalProperties = nil
		}
		for _, p := range s.Properties {
			if p.Type == huma.TypeArray {
				p.Nullable = false
			}
		}
	}
	judgement := schemas["Judgement"]
	for _, field := range []string{"compile", "failed", "problem", "language", "limits", "enforced"} {
		if err := makeNullable(judgement, field); err != nil {
			return err
		}
	}
	verdicts := make([]any, 0, len(judge.Verdicts())+1)
	for _, v := range judge.Verdicts() {
		verdicts = append(verdicts, string(v))
	}
	schemas["Run"].Properties["verdict"].Enum = verdicts
	judgement.Properties["verdict"].Enum = append(slices.Clip(verdicts), nil)
	return nil
}

// makeNullable says that a field that refers to an object may be null: huma says so
// of scalars only.
func makeNullable(s *huma.Schema, field string) error {
	if s == nil || s.Properties[field] == nil || s.Properties[field].Ref == "" {
		return fmt.Errorf("complete openapi document: no object %q in the judgement", field)
	}
	was := s.Properties[field]
	s.Properties[field] = &huma.Schema{
		Description: was.Description,
		OneOf:       []*huma.Schema{{Ref: was.Ref}, {Type: "null"}},
	}
	return nil
}
