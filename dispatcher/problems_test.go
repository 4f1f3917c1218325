package dispatcher_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/testcases/format"
)

// archive returns a zip of files, name and content in turn.
func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func aplusb(t *testing.T) []byte {
	t.Helper()
	return archive(t,
		"problem.yaml", "name: A plus B\nlimits: {cpu: 2s}\n",
		"data/sample/1.in", "1 2\n", "data/sample/1.ans", "3\n",
		"data/secret/1.in", "2 2\n", "data/secret/1.ans", "4\n",
		"data/secret/2.in", "5 5\n", "data/secret/2.ans", "10\n")
}

func TestPutProblem(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	info, err := f.Service.PutProblem(t.Context(), "aplusb", bytes.NewReader(aplusb(t)))
	if err != nil {
		t.Fatal(err)
	}
	if info.ID != "aplusb" || info.Name != "A plus B" || info.Cases != 3 || info.Samples != 1 || info.Limits.CPU != 2000 ||
		info.Checker.Name != "tokens" {
		t.Errorf("got %+v", info)
	}
	got, err := f.Service.GetProblem(t.Context(), "aplusb", 0)
	if err != nil || got.Digest != info.Digest || got.Package != info.Package {
		t.Errorf("got %+v, %v, want %+v", got, err, info)
	}
	// The package is stored under its digest, and a worker reads the same problem in it.
	digest := strings.TrimPrefix(info.Package, "sha256:")
	b, err := readBlob(t, f, blob.ContentKey(digest))
	if err != nil || blob.Digest(b) != digest {
		t.Fatalf("got %d bytes, %v, want content of %s", len(b), err, digest)
	}
	p, err := format.OpenArchive(bytes.NewReader(b), int64(len(b)), t.TempDir())
	if err != nil || p.Digest != info.Digest {
		t.Errorf("got problem %v, %v, want digest %s", p, err, info.Digest)
	}

	r := good()
	r.Tests, r.Problem = nil, "aplusb"
	j := submit(t, f, r)
	rec, err := f.Results.Get(t.Context(), j.ID)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := readBlob(t, f, rec.Request)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := judge.ParseAdmitted(raw)
	if err != nil {
		t.Fatal(err)
	}
	if *doc.Problem != (judge.ProblemRef{ID: "aplusb", Version: 1, Digest: info.Digest}) || doc.Package != info.Package || *j.Problem != *doc.Problem {
		t.Errorf("got problem %+v and package %s", doc.Problem, doc.Package)
	}
	// The problem's CPU limit counts where the request states none.
	r.Limits = &judge.LimitsJSON{Wall: 1500}
	if _, err := f.Service.Submit(t.Context(), r); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "limits.wall_ms") {
		t.Errorf("got %v for a wall limit below the problem's CPU limit", err)
	}
}

func TestPutProblemRefuses(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, func(c *dispatcher.Config) { c.Bounds.Package = 4096 })
	for name, c := range map[string]struct {
		id   string
		body []byte
		want string
	}{
		"no archive":      {"p", []byte("hello"), ""},
		"empty":           {"p", nil, ""},
		"id that climbs":  {"..", aplusb(t), "id"},
		"id with a slash": {"a/b", aplusb(t), "id"},
		"two faults": {"p", archive(t, "problem.yaml", "wings: 2\n", "data/secret/1.in", "1\n"),
			"problem.yaml data/secret/1.in"},
		"over our limits": {"p", archive(t, "problem.yaml", "limits: {cpu: 30m, wall: 1h}\n",
			"data/secret/1.in", "", "data/secret/1.ans", ""), "limits.cpu limits.wall"},
		"name of a book": {"p", archive(t, "problem.yaml", "name: "+strings.Repeat("x", 50_000)+"\n",
			"data/secret/1.in", "", "data/secret/1.ans", ""), "name 1024"},
		"arguments of a book": {"p", archive(t, "problem.yaml",
			"checker: {name: custom, files: [checker/c.c], language: c, args: ["+strings.Repeat(strings.Repeat("x", 1000)+", ", 5)+"y]}\n", "checker/c.c", "x",
			"data/secret/1.in", "", "data/secret/1.ans", ""), "checker.args 4096"},
		"checker in an unknown language": {"p", archive(t, "problem.yaml",
			"checker: {name: custom, files: [checker/c.cob], language: cobol}\n", "checker/c.cob", "x",
			"data/secret/1.in", "", "data/secret/1.ans", ""), "checker.language"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := f.Service.PutProblem(t.Context(), c.id, bytes.NewReader(c.body))
			var bad *judge.BadRequest
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a bad request", err)
			}
			for field := range strings.FieldsSeq(c.want) {
				if !strings.Contains(err.Error(), field) {
					t.Errorf("got %q, want a fault of %s", err, field)
				}
			}
			if strings.Contains(err.Error(), os.TempDir()) {
				t.Errorf("%q shows a path of the server", err)
			}
		})
	}
	big := bytes.NewReader(make([]byte, 4097))
	if _, err := f.Service.PutProblem(t.Context(), "p", big); !errors.Is(err, dispatcher.ErrTooLarge) {
		t.Errorf("got %v for a large archive", err)
	}
	if _, err := f.Service.GetProblem(t.Context(), "p", 0); !errors.Is(err, dispatcher.ErrNoProblem) {
		t.Errorf("got %v, want no problem", err)
	}
}

func TestProblemVersionIsThatOfTheTime(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Now()}
	f := dispatchertest.New(t, func(cfg *dispatcher.Config) { cfg.Now = c.Now })
	old, err := f.Service.PutProblem(t.Context(), "p", bytes.NewReader(aplusb(t)))
	if err != nil {
		t.Fatal(err)
	}
	r := good()
	r.Tests, r.Problem = nil, "p"
	before := submit(t, f, r)
	c.Add(time.Minute)
	now, err := f.Service.PutProblem(t.Context(), "p", bytes.NewReader(archive(t, "1.in", "1\n", "1.out", "1\n")))
	if err != nil {
		t.Fatal(err)
	}
	after := submit(t, f, r)
	if before.Problem.Digest != old.Digest || after.Problem.Digest != now.Digest || old.Digest == now.Digest {
		t.Errorf("got digests %s, %s of submissions, want %s, %s", before.Problem.Digest, after.Problem.Digest, old.Digest, now.Digest)
	}
	if !now.UpdatedAt.After(old.UpdatedAt) {
		t.Errorf("got updates at %v then %v", old.UpdatedAt, now.UpdatedAt)
	}
}
