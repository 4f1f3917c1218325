package api

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"judgefarm/judge"
)

const uploadTimeout = 10 * time.Minute // to receive a problem

func (a *api) putProblemOperation() huma.Operation {
	o := a.operation("put-problem", http.MethodPut, "/v1/problems/{id}", "Upload a problem",
		"The body is a problem package, a zip or tar.gz. It becomes the current version, unless it is that already; submissions "+
			"that were accepted before keep theirs. Every fault of the package is told at once, each with its file.",
		op{errors: []int{400, 408, 409, 413, 415, 422, 503}})
	binary := &huma.MediaType{Schema: &huma.Schema{Type: "string", Format: "binary"}}
	o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/zip": binary, "application/gzip": binary, "application/octet-stream": binary,
	}}
	return o
}

// putProblemInput keeps the request: a package is read from the connection to disk.
type putProblemInput struct {
	ID      string `path:"id" maxLength:"128"`
	request *http.Request
	writer  http.ResponseWriter
}

// Resolve implements huma.Resolver.
func (in *putProblemInput) Resolve(ctx huma.Context) []error {
	in.request, in.writer = humago.Unwrap(ctx)
	return nil
}

type problemOutput struct{ Body judge.ProblemInfo }

func (a *api) putProblem(ctx context.Context, in *putProblemInput) (*problemOutput, error) {
	if p := checkArchiveType(in.request.Header.Get("Content-Type")); p != nil {
		return nil, p
	}
	most := int64(a.service.Bounds().Package)
	if in.request.ContentLength > most {
		return nil, newProblem(http.StatusRequestEntityTooLarge, fmt.Sprintf("a problem package must be at most %d bytes", most))
	}
	a.limitRead(in.writer, uploadTimeout)
	defer a.limitRead(in.writer, a.cfg.BodyTimeout) // of what a refused one still sends
	body := &senderBody{r: in.request.Body}
	info, err := a.service.PutProblem(ctx, in.ID, body)
	switch {
	case body.err != nil && body.err != io.EOF:
		return nil, newProblem(http.StatusBadRequest, "the package ended early or came too slowly")
	case err != nil:
		return nil, problemOf(ctx, a.log, err)
	}
	return &problemOutput{Body: info}, nil
}

// senderBody remembers how reading the body ended: an error there is the sender's.
type senderBody struct {
	r   io.Reader
	err error
}

func (b *senderBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil {
		b.err = err
	}
	return n, err
}

// checkArchiveType refuses what is surely no archive, such as a form. What it is
// in truth is told from its bytes.
func checkArchiveType(contentType string) *Problem {
	if contentType == "" {
		return nil
	}
	kind, _, err := mime.ParseMediaType(contentType)
	forms := []string{"application/x-www-form-urlencoded", "application/json"}
	if err == nil && !slices.Contains(forms, kind) && !strings.HasPrefix(kind, "multipart/") {
		return nil
	}
	return newProblem(http.StatusUnsupportedMediaType, fmt.Sprintf(
		"the body must be the archive itself, with Content-Type application/zip or application/gzip, is %.64q", contentType))
}
