package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files")

// The document is what clients are generated from: a change of it is a change of
// the API and must be looked at.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	res := s.do(t, "GET", "/openapi.json", "")
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/openapi+json" {
		t.Fatalf("got status %d, type %s", res.StatusCode, res.Header.Get("Content-Type"))
	}
	golden := filepath.Join("testdata", "openapi.json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, res.body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(res.body, want) {
		t.Errorf("the OpenAPI document changed; look at the difference after go test ./dispatcher/api -update")
	}
	if res := s.do(t, "GET", "/openapi.yaml", ""); res.StatusCode != http.StatusOK || !strings.Contains(string(res.body), "openapi: 3.1.0") {
		t.Errorf("yaml: got status %d", res.StatusCode)
	}
}

// Every reference leads somewhere, and huma's own error model is not in the document.
func TestOpenAPIReferences(t *testing.T) {
	t.Parallel()
	res := serve(t, nil).do(t, "GET", "/openapi.json", "")
	var doc struct {
		OpenAPI    string
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(res.body, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("got version %q", doc.OpenAPI)
	}
	for part := range strings.SplitSeq(string(res.body), `"$ref": "#/components/schemas/`) {
		name, _, _ := strings.Cut(part, `"`)
		if name != "{\n  " && doc.Components.Schemas[name] == nil {
			t.Errorf("the schema %q is referred to but not there", name)
		}
	}
	if doc.Components.Schemas["ErrorModel"] != nil || doc.Components.Schemas["Problem"] == nil {
		t.Errorf("got schemas %v", doc.Components.Schemas)
	}
}
