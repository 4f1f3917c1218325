// Package packed reads and writes problems in the form in which they travel to a
// farm and are kept there: one manifest, which holds every field of a
// testcases.Problem, and the data and sources that it names, each under its SHA-256.
// Whatever format a problem was written in, its packed form reads as the same
// problem: with the same digest, on every worker, whether or not that worker reads
// the format. docs/problems.md describes it and docs/decisions/0012 says why it is
// no format for people. It runs nothing.
//
//	judgefarm.json    {"package": "judgefarm 1", "problem": {...}}
//	blobs/<sha256>    what the manifest names so
package packed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

const (
	manifestName = "judgefarm.json"
	blobsFolder  = "blobs"
	version      = "judgefarm 1"

	maxManifest = 16 << 20
	maxSource   = 64 << 20 // one source file; the readers of formats allow less
	maxSources  = 256 << 20
)

// document is the manifest.
type document struct {
	Package string          `json:"package"`
	Problem json.RawMessage `json:"problem"`
}

// Detect reports whether dir is a packed problem.
func Detect(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, manifestName))
	return err == nil && info.Mode().IsRegular()
}

// Open reads the problem in dir; its data stays there, in files that must not change
// while the problem is in use. Every blob is compared with its name. Faults are a
// *judge.BadRequest. The problem has the Format that it was written in, and no ID.
func Open(dir string) (*testcases.Problem, error) {
	folder, err := manifest.Open(dir, manifest.Options{})
	if err != nil {
		return nil, err
	}
	d := &decoder{folder: folder, used: map[string]bool{}, sources: map[string][]byte{}}
	p := &testcases.Problem{}
	d.problem(p)
	if folder.Faults() == 0 {
		d.unused()
	}
	if err := folder.Refusal(); err != nil {
		return nil, err
	}
	if err := p.Seal(); err != nil {
		return nil, err
	}
	return p, nil
}

// problem reads the manifest into p.
func (d *decoder) problem(p *testcases.Problem) {
	if !d.folder.Has(manifestName) {
		d.folder.Refuse(manifestName, "is missing")
		return
	}
	text, ok := d.folder.Read(manifestName, maxManifest)
	if !ok {
		return
	}
	var doc document
	fields, err := members(text)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	switch {
	case err != nil:
		d.folder.Refuse(manifestName, "is no manifest: %v", err)
		return
	case doc.Package != version:
		d.folder.Refuse(manifestName, "package must be %q, is %.64q: it is of another version of judgefarm", version, doc.Package)
		return
	case len(fields) != 2:
		d.folder.Refuse(manifestName, "must have package and problem, and nothing else")
		return
	}
	d.value("problem", doc.Problem, reflect.ValueOf(p).Elem())
}

// blob opens data that the manifest names and checks it.
func (d *decoder) blob(at, sum string) (testcases.Data, bool) {
	name := blobsFolder + "/" + sum
	if len(sum) != 2*sha256.Size || strings.Trim(sum, "0123456789abcdef") != "" {
		d.refuse(at, "must name a blob by its SHA-256, is %.80q", sum)
		return nil, false
	}
	if !d.folder.Has(name) {
		d.refuse(at, "names blob %s, which is missing", sum)
		return nil, false
	}
	data, err := testcases.FileData(d.folder.Path(name))
	if err != nil {
		d.folder.Fail(err)
		return nil, false
	}
	if d.used[sum] {
		return data, true
	}
	d.used[sum] = true
	got, err := sumOf(data)
	if err != nil {
		d.folder.Fail(err)
		return nil, false
	}
	if got != sum {
		d.folder.Refuse(name, "is damaged: its SHA-256 is %s", got)
		return nil, false
	}
	return data, true
}

// source returns a blob's bytes. Programs that share sources share the bytes.
func (d *decoder) source(at, sum string) ([]byte, bool) {
	if b, ok := d.sources[sum]; ok {
		return b, true
	}
	data, ok := d.blob(at, sum)
	if !ok {
		return nil, false
	}
	if d.total += data.Size(); data.Size() > maxSource || d.total > maxSources {
		d.refuse(at, "is too large: a source file may have %d MiB, all together %d MiB", maxSource>>20, maxSources>>20)
		return nil, false
	}
	b, err := testcases.ReadAll(data, maxSource)
	if err != nil {
		d.folder.Fail(err)
		return nil, false
	}
	d.sources[sum] = b
	return b, true
}

// unused refuses what the manifest does not name: a problem has one packed form.
func (d *decoder) unused() {
	for _, name := range d.folder.Names() {
		sum, inBlobs := strings.CutPrefix(name, blobsFolder+"/")
		if name != manifestName && (!inBlobs || !d.used[sum]) {
			d.folder.Refuse(name, "is not named by %s", manifestName)
		}
	}
}

func sumOf(data testcases.Data) (string, error) {
	r, err := data.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := sha256.New()
	n, err := io.Copy(h, r)
	if err == nil && n != data.Size() {
		err = fmt.Errorf("read data: %d bytes, not %d", n, data.Size())
	}
	if err != nil {
		return "", judge.Fail(judge.FailProblem, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
