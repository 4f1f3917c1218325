package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
)

// Bounds of a submission's files here: their names become arguments of the
// compiler. Sizes are bounded by whoever accepts submissions.
const (
	maxFiles     = 1000
	maxNameBytes = 32 << 10
)

// work is one compile: what goes in, and the key of what comes out.
type work struct {
	toolchain *languages.Toolchain
	lang      *languages.Language
	layout    languages.Layout
	key       string // hex
}

func newWork(tc *languages.Toolchain, req Request) *work {
	w := &work{toolchain: tc, lang: req.Language, layout: req.Language.Lay(req.Files)}
	w.key = w.digest()
	return w
}

// digest is over all that the outcome depends on: the language, its toolchain
// (whose digest has commands and environment in it), the compiler's limits, and
// the files.
func (w *work) digest() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "judgefarm executable 1\n%q %s\n", w.lang.ID, w.toolchain.Digest)
	if w.lang.Compile != nil {
		// Encoding a struct of numbers cannot fail.
		limits, _ := json.Marshal(w.lang.Compile.Limits)
		fmt.Fprintf(sum, "%s\n", limits)
	}
	fmt.Fprintf(sum, "%q %q\n", w.layout.Main, w.layout.Words["class"])
	for _, f := range w.layout.Files {
		content := sha256.Sum256(f.Data)
		fmt.Fprintf(sum, "%q %x\n", f.Name, content)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// executable is how the product in dir is started.
func (w *work) executable(dir string) *Executable {
	words := languages.Words{"exe": {sandbox.ExeDir}}
	for name, values := range w.layout.Words {
		words[name] = values
	}
	return &Executable{
		Dir:    dir,
		Args:   words.Expand(w.lang.Run.Args),
		Env:    words.Expand(environment(w.lang, w.lang.Run.Env)),
		Digest: "sha256:" + w.key,
		Root:   w.toolchain.Root,
		Mounts: mounts(w.lang),
	}
}

// environment is the whole environment of a program of the language. A later
// variable of the same name replaces an earlier one.
func environment(l *languages.Language, step []string) []string {
	all := slices.Concat([]string{
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"HOME=" + sandbox.WorkDir,
		"LANG=C.UTF-8",
	}, l.Environment.Env, step)
	var env []string
	for _, e := range all {
		name := e[:strings.IndexByte(e, '=')+1]
		if i := slices.IndexFunc(env, func(have string) bool { return strings.HasPrefix(have, name) }); i >= 0 {
			env[i] = e
			continue
		}
		env = append(env, e)
	}
	return env
}

func mounts(l *languages.Language) []sandbox.Mount {
	var out []sandbox.Mount
	for _, m := range l.Environment.Mounts {
		out = append(out, sandbox.Mount{Source: m.Source, Target: m.Target})
	}
	return out
}

// checkFiles refuses files that cannot lie together in a work directory.
func checkFiles(files []judge.File) error {
	var faults []*judge.FieldError
	refuse := func(i int, format string, args ...any) {
		faults = append(faults, &judge.FieldError{
			Field: fmt.Sprintf("files[%d].name", i), Reason: fmt.Sprintf(format, args...),
		})
	}
	if len(files) == 0 || len(files) > maxFiles {
		return judge.Refuse(&judge.FieldError{Field: "files", Reason: fmt.Sprintf("must be 1 to %d files, are %d", maxFiles, len(files))})
	}
	total := 0
	isFile, isDir := map[string]bool{}, map[string]bool{}
	for i, f := range files {
		total += len(f.Name)
		if err := judge.CheckFileName(f.Name); err != nil {
			refuse(i, "%v", err)
			continue
		}
		if isFile[f.Name] || isDir[f.Name] {
			refuse(i, "%q is there twice", f.Name)
		}
		isFile[f.Name] = true
		for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
			if isFile[dir] {
				refuse(i, "%q is a file and cannot be a directory too", dir)
			}
			isDir[dir] = true
		}
	}
	if total > maxNameBytes {
		faults = append(faults, &judge.FieldError{Field: "files", Reason: fmt.Sprintf("all names together must be at most %d bytes, are %d", maxNameBytes, total)})
	}
	return judge.Refuse(faults...)
}
