package checker

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/compile"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// Interactor talks to a program while it runs, and rules as a checker does. It is a
// program of the problem, called by the protocol of its format but with the program's
// streams for its own. It is safe for concurrent use.
type Interactor struct {
	c       *custom
	files   []string // of the command line
	notes   bool     // it writes notes for a checker
	manager bool     // of a Communication problem: it reads the input, and pipes have names
}

// notesFile is where an interactor of testlib writes what its checker gets to see.
const (
	notesFile       = "notes.txt"
	notesMax        = 64 * judge.MiB
	managerInput    = "input.txt"
	maxManagerInput = 256 << 20
)

// Interactor makes the interactor of a problem. Errors are those of For.
func (m Maker) Interactor(ctx context.Context, p *testcases.Problem) (*Interactor, error) {
	lang, err := LanguageOf(m.Languages, p.Interactor)
	if err != nil {
		return nil, err
	}
	c, err := newCustom(nil, Deps{Runner: m.Runner, Compiler: m.Compiler, Dir: m.Dir, Program: p.Interactor, Language: lang})
	if err != nil {
		return nil, err
	}
	i := &Interactor{c: c.(*custom)}
	switch p.Interactor.Protocol {
	case testcases.ProtocolKattis:
		i.files = []string{inputPath, answerPath, feedbackArg}
	case testcases.ProtocolTestlib:
		i.files, i.notes = []string{inputPath, sandbox.WorkDir + "/" + notesFile, answerPath}, true
	case testcases.ProtocolExit, testcases.ProtocolCOCI, testcases.ProtocolPEG:
		i.files = []string{inputPath, answerPath}
	case testcases.ProtocolCMS:
		i.manager = true
	case testcases.ProtocolDMOJ:
		i.files = []string{"interact", inputPath, answerPath, outputPath}
	default:
		return nil, judge.Refuse(&judge.FieldError{Field: "interactor.protocol",
			Reason: fmt.Sprintf("interactors that speak %.32q are not supported", p.Interactor.Protocol)})
	}
	return i, i.c.inspect(ctx)
}

// ID is as a checker's.
func (i *Interactor) ID() string { return "interactor" + i.c.ID()[len(testcases.CustomChecker):] }

// Talk is one dialogue of an interactor.
type Talk struct {
	Spec sandbox.Spec // but for standard input and output

	i     *Interactor
	in    Input
	files *staged
	exe   *compile.Executable
}

// Begin compiles the interactor, lays its files and gives its box at least as long as
// the program has. The caller ends the talk. Output of in is not looked at.
func (i *Interactor) Begin(ctx context.Context, in Input, program judge.Limits) (*Talk, error) {
	exe, err := i.c.compile(ctx)
	if err != nil {
		return nil, err
	}
	in.Output = in.Answer // an interactor has no output to read; its file is not named
	if i.manager {
		in.Output = in.Input // its standard input
	}
	files, err := stage(i.c.deps.Dir, in)
	if err != nil {
		exe.Release()
		return nil, err
	}
	t := &Talk{i: i, in: in, files: files, exe: exe}
	spec, err := i.c.spec(exe, files, in)
	if err != nil {
		t.End()
		return nil, err
	}
	cmd, err := compile.CommandOf(i.c.deps.Language, exe, spec.Limits)
	if err != nil {
		t.End()
		return nil, judge.Fail(judge.FailChecker, err)
	}
	spec.Args = slices.Concat(cmd.Args, i.c.call(i.files), i.c.args, in.Args)
	if i.c.deps.Program.Unbuffered {
		spec.Env = slices.Concat(spec.Env, compile.Unbuffered(spec.Root))
	}
	spec.Limits.Wall += program.Wall
	spec.Limits = spec.Limits.Capped()
	said := spec.Stdout
	spec.Stdin, spec.Stdout = nil, sandbox.Stream{}
	if i.notes {
		spec.Collect = append(spec.Collect, sandbox.Collect{Name: notesFile, Max: notesMax})
		spec.Box.FileSize = notesMax
	}
	t.Spec = spec
	if i.manager {
		err = t.readsInput(said)
	}
	if err != nil {
		t.End()
		return nil, err
	}
	return t, nil
}

// readsInput hands a manager the input in both ways that CMS does, as standard input
// and as a file in its directory, and takes what it says.
func (t *Talk) readsInput(said sandbox.Stream) error {
	input, err := read(t.in.Input, maxManagerInput)
	if err != nil {
		return judge.Fail(judge.FailProblem, fmt.Errorf("read input of case %s: %w", t.in.Case, err))
	}
	t.Spec.Stdin, t.Spec.Stdout = t.files.output, said
	t.Spec.Files = append(t.Spec.Files, sandbox.File{Name: managerInput, Data: input})
	t.Spec.Box.Disk = 64*judge.MiB + judge.Bytes(len(input))
	return nil
}

// Again makes the talk ready to be had once more: what the first box read of the input
// is read again. A box that cannot open the file anew shares its offset with us.
func (t *Talk) Again() error {
	if t.Spec.Stdin == nil {
		return nil
	}
	if _, err := t.Spec.Stdin.Seek(0, io.SeekStart); err != nil {
		return judge.Fail(judge.FailInternal, fmt.Errorf("rewind input of case %s: %w", t.in.Case, err))
	}
	return nil
}

// Stretch gives a manager time for n programs: what they may take, one after another.
func (t *Talk) Stretch(n int, program judge.Limits) {
	t.Spec.Limits.CPU = max(t.Spec.Limits.CPU, time.Duration(n)*(program.CPU+time.Second))
	t.Spec.Limits.Wall += time.Duration(n) * program.Wall
	t.Spec.Limits = t.Spec.Limits.Capped()
}

// read returns all of an input, which must not be more than most.
func read(open opener, most int64) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("is more than %d bytes", most)
	}
	return b, err
}

// Rule reads how the interactor ended. notes is what it wrote for a checker.
func (t *Talk) Rule(rep *sandbox.Report) (r Ruling, notes []byte, err error) {
	r, err = t.i.c.protocol.ruling(t.in.Case, rep)
	if err == nil {
		r, err = bounded(t.in, r, rep)
	}
	if err == nil && t.i.c.protocol.feedback && t.in.Passes {
		r, err = another(t.in.Case, r, rep)
	}
	for _, f := range rep.Files {
		if f.Name == notesFile && f.Err == nil {
			notes = f.Data
		}
	}
	return r, notes, err
}

// End removes what the talk needed.
func (t *Talk) End() {
	t.files.remove()
	t.exe.Release()
}
