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
	strict    bool   // a check in strict mode
	wants     bool   // something is prepared for these sources
	prepared  string // host directory of it, where the run needs it
}

func newWork(tc *languages.Toolchain, req Request) *work {
	w := &work{
		toolchain: tc, lang: roomier(flagged(req.Language, req.Flags), req.Least),
		layout: req.Language.LayMain(req.Files, req.Main), wants: req.Language.Wants(req.Files),
	}
	w.key = w.digest()
	return w
}

// misnamed says why the sources cannot be laid out as their language wants it: its rule
// takes the name of a file from what is in it, a class's, and nothing bounds that.
func (w *work) misnamed() string {
	for _, f := range w.layout.Files {
		if err := judge.CheckFileName(f.Name); err != nil {
			return fmt.Sprintf("the sources ask for a file called %.40s...: the name %v", f.Name, err)
		}
	}
	if err := checkFiles(w.layout.Files); err != nil {
		return fmt.Sprintf("the sources, named as their language wants it, cannot lie together: %v", err)
	}
	return ""
}

// flagged is the language whose compiler gets flags more.
func flagged(l *languages.Language, flags []string) *languages.Language {
	if len(flags) == 0 {
		return l
	}
	own, step := *l, *l.Compile
	step.Args = slices.Concat(step.Args[:1], flags, step.Args[1:])
	own.Compile = &step
	return &own
}

// roomier is the language with a compiler that may use at least so much: more than that
// is the language's own business.
func roomier(l *languages.Language, least judge.Limits) *languages.Language {
	if l.Compile == nil || least == (judge.Limits{}) {
		return l
	}
	limits := languages.DefaultStepLimits()
	if l.Compile.Limits != nil {
		limits = *l.Compile.Limits
	}
	limits.CPU = max(limits.CPU, least.CPU)
	limits.Wall = max(limits.Wall, least.Wall, 2*limits.CPU)
	limits.Memory = max(limits.Memory, languages.Size(least.Memory))
	own, step := *l, *l.Compile
	step.Limits, own.Compile = &limits, &step
	return &own
}

// checkFlags refuses flags for a language that has nobody who would take them: no
// compiler, or one that a script calls.
func checkFlags(l *languages.Language, flags []string) error {
	reason := ""
	switch {
	case len(flags) == 0:
	case l.Compile == nil || path.Base(l.Compile.Args[0]) == "sh":
		reason = fmt.Sprintf("are not supported for %s, which has no compiler that could take them", l.ID)
	default:
		for _, f := range flags {
			if f == "" || len(f) > 1024 || strings.ContainsAny(f, "{}\x00") {
				reason = fmt.Sprintf("must be 1 to 1024 bytes without braces, one is %.64q", f)
			}
		}
	}
	if reason == "" {
		return nil
	}
	return judge.Refuse(&judge.FieldError{Field: "flags", Reason: reason})
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
	if c, whole := w.lang.Compile, w.toolchain.Language.Compile; c != nil && whole != nil && !slices.Equal(c.Args, whole.Args) {
		fmt.Fprintf(sum, "command %q\n", c.Args) // the toolchain's digest is that of the language as it is defined
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
	exe := &Executable{
		Dir:    dir,
		Args:   words.Expand(languages.Prepared(w.lang.Run.Args, w.prepared != "")),
		Env:    words.Expand(environment(w.lang, languages.Prepared(w.lang.Run.Env, w.prepared != ""))),
		Digest: "sha256:" + w.key,
		Root:   w.toolchain.Root,
		Mounts: mounts(w.lang),
	}
	if w.prepared != "" {
		exe.Mounts = append(exe.Mounts, sandbox.Mount{Source: w.prepared, Target: languages.PreparedDir})
	}
	return exe
}

// environment is the whole environment of a program of the language. A later
// variable of the same name replaces an earlier one.
func environment(l *languages.Language, step []string) []string {
	all := slices.Concat([]string{
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"HOME=" + sandbox.WorkDir,
		"TMPDIR=/tmp", // which the level ptrace has elsewhere
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
