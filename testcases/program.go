package testcases

import (
	"fmt"

	"judgefarm/judge"
)

// Program is a program that a package brings: a checker, an interactor, a
// validator, a generator, a solution that makes answers. It always runs in a box.
type Program struct {
	Name     string       // as the package calls it: "output_validators/check"
	Files    []judge.File // the main file first
	Language string       // id or alias; "" is told by the files' names
	Protocol Protocol
	Args     []string // before those of a case
	// Flags are added to the compiler's command; only a language with a compiler that
	// is called by itself, and by no script, takes them.
	Flags []string
	// Call, where set, is the command line after the program in place of the
	// protocol's: {input_file}, {output_file} and {answer_file} stand for the files.
	Call []string
	// Unbuffered says that what it prints leaves it at once, as Problem.Unbuffered does.
	Unbuffered bool
	// OnError says that a checker is asked about outputs of runs that ended wrongly
	// too: for points, the verdict is that of the run.
	OnError bool
	Limits  judge.Limits // zero fields: what the role allows, see docs/checkers.md
	// Script says that the files hold shell scripts named build, run or both, which
	// make and start the program: the Kattis format, "Programs".
	Script bool
}

// Protocol is how a program is called and how it answers. docs/checkers.md has
// each in full, with its source.
type Protocol string

// The protocols.
const (
	// ProtocolKattis: program INPUT ANSWER FEEDBACK/ ARGS... < output; exits with 42
	// or 43. As interactor its standard streams are the program's. As input
	// validator: program ARGS... < input, exits with 42.
	ProtocolKattis Protocol = "kattis"
	// ProtocolKattisStatic: program LANGUAGE ENTRY FEEDBACK/ ARGS... in a folder with the
	// submission's files; exits with 42 or 43.
	ProtocolKattisStatic Protocol = "kattis-static"
	// ProtocolTestlib: program INPUT OUTPUT ANSWER; exits with 0 OK, 1 WA, 2 PE, 3
	// FAIL, 4 dirt, 5 points, 7 points, 16 and up partly. As interactor: program INPUT
	// NOTES ANSWER, where NOTES is what the checker gets as output. As validator:
	// program ARGS... < input, exits with 0.
	ProtocolTestlib Protocol = "testlib"
	// ProtocolTestlibPercent: as testlib, but points are hundredths of what the case is
	// worth: Polygon's treat-points-from-checker-as-percent.
	ProtocolTestlibPercent Protocol = "testlib-percent"
	// ProtocolCMS: program INPUT ANSWER OUTPUT; exits with 0 and writes a share from 0
	// to 1 on standard output, a message on standard error. As manager of a
	// Communication problem: program IN OUT... with named pipes, input on standard input.
	ProtocolCMS Protocol = "cms"
	// ProtocolDMOJ: a Python module with check(process_output, judge_output, **kwargs).
	ProtocolDMOJ Protocol = "dmoj"
	// ProtocolExit: program INPUT OUTPUT ANSWER; 0 accepts, 1 refuses: DMOJ's bridged
	// checkers of type default.
	ProtocolExit Protocol = "exit"
	// ProtocolCOCI: as testlib's call; exits with 0, 1, or 7 and "partial A/B" on
	// standard error: DMOJ's bridged checkers of type coci.
	ProtocolCOCI Protocol = "coci"
	// ProtocolPEG: DMOJ's bridged checkers of type peg.
	ProtocolPEG Protocol = "peg"
	// ProtocolChecktestdata: an input validator that is a script in Checktestdata and no
	// program; see docs/verify.md.
	ProtocolChecktestdata Protocol = "checktestdata"
	// ProtocolPlain: program ARGS... < stdin > stdout, exits with 0: generators and
	// solutions.
	ProtocolPlain Protocol = ""
)

func protocols() []Protocol {
	return []Protocol{
		ProtocolKattis, ProtocolTestlib, ProtocolTestlibPercent, ProtocolCMS, ProtocolDMOJ, ProtocolExit, ProtocolCOCI, ProtocolPEG,
		ProtocolChecktestdata, ProtocolKattisStatic, ProtocolPlain,
	}
}

// maxCall bounds the words of a command line of a package.
const maxCall = 64

// validate names every fault with fields below prefix.
func (p *Program) validate(prefix string) []*judge.FieldError {
	var faults []*judge.FieldError
	refuse := func(field, format string, args ...any) {
		faults = append(faults, &judge.FieldError{Field: prefix + field, Reason: fmt.Sprintf(format, args...)})
	}
	if len(p.Files) == 0 {
		refuse("files", "must hold the program")
	}
	for _, f := range p.Files {
		if err := judge.CheckFileName(f.Name); err != nil {
			refuse("files", "%v", err)
		}
	}
	known := false
	for _, one := range protocols() {
		known = known || one == p.Protocol
	}
	if len(p.Call) > maxCall {
		refuse("call", "must be at most %d words, is %d", maxCall, len(p.Call))
	}
	if len(p.Flags) > maxCall {
		refuse("flags", "must be at most %d, are %d", maxCall, len(p.Flags))
	}
	if !known {
		refuse("protocol", "is not known: %.64q", p.Protocol)
	}
	return faults
}
