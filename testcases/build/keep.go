package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// keyVersion is part of every key; it rises when programs are run in another way.
const keyVersion = "judgefarm made 1"

// temporary is how the names of unfinished files begin.
const temporary = "tmp-"

// key names a run: the program, what it was compiled with and all that it reads.
func (w *work) key(r *testcases.Recipe, p *program, t task) (string, error) {
	read := []string{}
	for _, f := range append([]testcases.CaseFile{{Name: "", Data: t.stdin}}, t.files...) {
		if f.Data == nil {
			continue
		}
		sum, err := sumOf(f.Data)
		if err != nil {
			return "", fmt.Errorf("read what makes the %s: %w", t.what, err)
		}
		read = append(read, f.Name, sum)
	}
	b, err := json.Marshal([]any{
		keyVersion, p.lang.ID, p.exe.Digest, slices.Concat(r.Program.Args, r.Args, t.args), read, t.partner,
		r.Program.Limits.Or(w.limits(t.solution)).JSON(),
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

func sumOf(d testcases.Data) (string, error) {
	in, err := d.Open()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, in)
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, in.Close())
}

// path is where an output of a run is kept; "" is standard output.
func (w *work) path(key, output string) string {
	if output == "" {
		return filepath.Join(w.dir, key)
	}
	sum := sha256.Sum256([]byte(output))
	return filepath.Join(w.dir, key+"."+hex.EncodeToString(sum[:8]))
}

// kept is what an earlier run made, nil when there is none.
func (w *work) kept(key, output string) testcases.Data {
	path := w.path(key, output)
	d, err := testcases.FileData(path)
	if err != nil {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // Trim goes by it; losing it costs a run
	return d
}

// keep writes a file whole: under its name it is complete, whenever this process or
// the machine ends.
func (w *work) keep(r *testcases.Recipe, t task, key, output string, data []byte) (testcases.Data, error) {
	path := w.path(key, output)
	if err := write(w.dir, path, data); err != nil {
		return nil, judge.Fail(judge.FailStorage, fmt.Errorf("keep the %s: %w", t.what, err))
	}
	w.made++
	d, err := testcases.FileData(path)
	if err != nil {
		return nil, judge.Fail(judge.FailStorage, err)
	}
	return d, w.count(r, t, path, d)
}

func write(dir, path string, data []byte) error {
	f, err := os.CreateTemp(dir, temporary)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}

// count holds the bound of what is made for one problem. A file that several cases have,
// or that the run for another case left, counts once.
func (w *work) count(r *testcases.Recipe, t task, path string, d testcases.Data) error {
	if w.counted[path] {
		return nil
	}
	w.counted[path] = true
	w.bytes += judge.Bytes(d.Size())
	if w.bytes > w.cfg.MaxBytes {
		return w.broken(r, t, fmt.Sprintf("brings the problem's made data to more than %d MiB", w.cfg.MaxBytes/judge.MiB), nil, false)
	}
	return nil
}

// want notes which files one and the same run is to leave.
func (w *work) want(r *testcases.Recipe) {
	for ; r != nil; r = r.Stdin {
		if name := w.same(r); file(r.Output) && !slices.Contains(w.outputs[name], r.Output) {
			w.outputs[name] = append(w.outputs[name], r.Output)
		}
	}
}

// wanted are the files to take, the recipe's own first.
func (w *work) wanted(r *testcases.Recipe) []string {
	names := []string{r.Output}
	for _, n := range w.outputs[w.same(r)] {
		if n != r.Output {
			names = append(names, n)
		}
	}
	return names
}

// same is equal for recipes that are one run with several files.
func (w *work) same(r *testcases.Recipe) string {
	var b strings.Builder
	for ; r != nil; r = r.Stdin {
		fmt.Fprintf(&b, "%p %q|", w.one(r.Program), r.Args)
	}
	return b.String()
}

// Trim removes made data from a directory, what was used longest ago first, until it
// holds at most max bytes, and what was left unfinished. Nobody may use the directory
// meanwhile. One that is not there holds nothing.
func Trim(dir string, max judge.Bytes) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("trim made data: %w", err)
	}
	var files []os.FileInfo
	var total judge.Bytes
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil:
			return fmt.Errorf("trim made data: %w", err)
		case strings.HasPrefix(e.Name(), temporary):
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("trim made data: %w", err)
			}
		case info.Mode().IsRegular():
			files = append(files, info)
			total += judge.Bytes(info.Size())
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= max {
			break
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return fmt.Errorf("trim made data: %w", err)
		}
		total -= judge.Bytes(f.Size())
	}
	return nil
}
