package packed

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"judgefarm/testcases"
)

// Write writes the packed form of the problem as a tar.gz. The same problem always
// gives the same bytes, so that a package travels under the digest of its archive:
// names sorted, one mode, one owner, one date. What is still to be made by recipes
// stays so; data that was made is in it, beside its recipes.
func Write(w io.Writer, p *testcases.Problem) error {
	e := &encoder{blobs: map[string]testcases.Data{}}
	problem, err := e.problem(p)
	if err != nil {
		return fmt.Errorf("pack problem: %w", err)
	}
	text, err := manifestOf(problem)
	if err != nil {
		return fmt.Errorf("pack problem: %w", err)
	}
	if len(text) > maxManifest {
		return fmt.Errorf("pack problem: its manifest has %d bytes, more than %d", len(text), maxManifest)
	}
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	err = add(t, manifestName, testcases.BytesData(text))
	for _, sum := range slices.Sorted(maps.Keys(e.blobs)) {
		if err == nil {
			err = add(t, blobsFolder+"/"+sum, e.blobs[sum])
		}
	}
	if err == nil {
		err = t.Close()
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("pack problem: %w", err)
	}
	return nil
}

// manifestOf renders the manifest: keys are sorted, nothing is escaped that need not be.
func manifestOf(problem any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(map[string]any{"package": version, "problem": problem})
	return text.Bytes(), err
}

func add(t *tar.Writer, name string, data testcases.Data) error {
	r, err := data.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: data.Size(), Mode: 0o644, ModTime: time.Unix(0, 0)}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(t, r)
	return err
}
