// Package artifacts keeps bytes of a judgement for later: the judgement as JSON, the
// compiler's log and what failed cases printed, under
//
//	judgements/<submission>/<fence>/judgement.json
//	judgements/<submission>/<fence>/compile.log
//	judgements/<submission>/<fence>/cases/<case>/stdout, stderr, dialogue
//
// The fencing number tells attempts apart, so that a stale worker never overwrites.
// It does not judge, and it does not say when a judgement is final: worker does, and
// only after Keep has returned nil.
package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"judgefarm/internal/blob"
	"judgefarm/judge"

	"golang.org/x/sync/errgroup"
)

// Kind is what an artifact holds; it ends its key.
type Kind string

// The kinds of artifacts that a worker brings; the judgement is added by Keep.
const (
	CompileLog Kind = "compile.log"
	Stdout     Kind = "stdout"
	Stderr     Kind = "stderr"
	Dialogue   Kind = "dialogue" // with an interactor
)

// Artifact is bytes that may be kept. Case and Verdict are of the run that printed
// them, and empty for CompileLog.
type Artifact struct {
	Kind    Kind
	Case    string
	Verdict judge.Verdict
	Data    []byte
	Total   int64 // bytes that there were, where Data is cut already; 0 is all of Data
}

// Policy says which artifacts are kept.
type Policy string

// The policies.
const (
	KeepNone   Policy = "none"   // nothing, not even the judgement
	KeepFailed Policy = "failed" // the judgement, the compiler's log, outputs of cases that are neither accepted nor skipped
	KeepAll    Policy = "all"    // outputs of accepted cases too
)

// Defaults of Config.
const (
	DefaultMaxStream = 1 * judge.MiB
	DefaultParallel  = 4
)

// Config says what is kept and where. Its tags make it a part of a command's flags.
type Config struct {
	Store     blob.Store  `kong:"-"`
	Policy    Policy      `name:"artifacts" help:"What is kept of a judgement: none, failed (outputs of failed cases) or all." enum:"none,failed,all" default:"failed"`
	MaxStream judge.Bytes `name:"artifact-size" help:"Most bytes kept of one output or log; the rest is cut off." default:"1M"`
	Parallel  int         `name:"artifact-uploads" help:"Uploads at one time for one judgement." default:"4"`
	// Stored hears of every Keep that had something to store: how many objects and
	// bytes are stored, and the error if it failed. It may be called concurrently; nil hears nothing.
	Stored func(objects int, bytes int64, err error) `kong:"-"`
}

// Keeper stores artifacts. It is safe for concurrent use.
type Keeper struct{ cfg Config }

// New returns a Keeper; zero fields take their defaults. The error names the field.
func New(cfg Config) (*Keeper, error) {
	if cfg.Policy == "" {
		cfg.Policy = KeepFailed
	}
	if cfg.MaxStream == 0 {
		cfg.MaxStream = DefaultMaxStream
	}
	if cfg.Parallel == 0 {
		cfg.Parallel = DefaultParallel
	}
	switch {
	case cfg.Policy != KeepNone && cfg.Policy != KeepFailed && cfg.Policy != KeepAll:
		return nil, fmt.Errorf("keep artifacts: policy %q must be none, failed or all", cfg.Policy)
	case cfg.MaxStream < 1 || cfg.Parallel < 1:
		return nil, fmt.Errorf("keep artifacts: size of %d bytes and %d uploads must be at least 1", cfg.MaxStream, cfg.Parallel)
	case cfg.Store == nil:
		return nil, fmt.Errorf("keep artifacts: no blob store")
	}
	return &Keeper{cfg: cfg}, nil
}

// Prefix is what all keys of an attempt begin with, slash included.
func Prefix(a judge.Attempt) string {
	return "judgements/" + a.Submission + "/" + strconv.FormatInt(a.Fence, 10) + "/"
}

// Keep stores what the policy names of the attempt's judgement. When it returns nil
// everything is durable; the first error ends it, and what is stored by then stays
// under the attempt's prefix, unused. judgement.json comes last: where it is, all of
// the rest is. An empty stream is not stored. A stream over MaxStream is cut, and
// an object beside it, named like it with ".cut", tells its whole length.
func (k *Keeper) Keep(ctx context.Context, a judge.Attempt, j *judge.Judgement, files []Artifact) error {
	if k.cfg.Policy == KeepNone {
		return nil
	}
	doc, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("write judgement %s as json: %w", a.Submission, err)
	}
	objects := k.objects(a, files)
	last := object{key: Prefix(a) + "judgement.json", contentType: "application/json", data: append(doc, '\n')}
	err = k.store(ctx, objects, last)
	if k.cfg.Stored != nil {
		var size int64
		for _, o := range append(objects, last) {
			size += int64(len(o.data))
		}
		if err != nil {
			k.cfg.Stored(0, 0, err)
		} else {
			k.cfg.Stored(len(objects)+1, size, nil)
		}
	}
	return err
}

type object struct {
	key, contentType string
	data             []byte
}

// objects applies the policy and the bound.
func (k *Keeper) objects(a judge.Attempt, files []Artifact) []object {
	var objects []object
	for _, f := range files {
		if len(f.Data) == 0 || !k.wanted(f) {
			continue
		}
		key := Prefix(a) + f.path()
		data := f.Data
		if whole := max(f.Total, int64(len(data))); judge.Bytes(whole) > k.cfg.MaxStream || whole > int64(len(data)) {
			data = data[:min(judge.Bytes(len(data)), k.cfg.MaxStream)]
			note := fmt.Sprintf("kept the first %d of %d bytes\n", len(data), whole)
			objects = append(objects, object{key: key + ".cut", contentType: "text/plain", data: []byte(note)})
		}
		// What a program printed is never served as text or HTML.
		objects = append(objects, object{key: key, contentType: "application/octet-stream", data: data})
	}
	return objects
}

func (k *Keeper) wanted(f Artifact) bool {
	return k.cfg.Policy == KeepAll || f.Kind == CompileLog ||
		f.Verdict != judge.Accepted && f.Verdict != judge.Skipped
}

// path is the artifact's key below the attempt's prefix.
func (f Artifact) path() string {
	if f.Kind == CompileLog {
		return string(CompileLog)
	}
	return "cases/" + CaseKey(f.Case) + "/" + string(f.Kind)
}

func (k *Keeper) store(ctx context.Context, objects []object, last object) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(k.cfg.Parallel)
	for _, o := range objects {
		group.Go(func() error { return k.put(groupCtx, o) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return k.put(ctx, last)
}

func (k *Keeper) put(ctx context.Context, o object) error {
	if err := k.cfg.Store.Put(ctx, o.key, bytes.NewReader(o.data), int64(len(o.data)), o.contentType); err != nil {
		return fmt.Errorf("store artifact: %w", err)
	}
	return nil
}
