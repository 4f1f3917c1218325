package cms

import (
	"strings"

	"judgefarm/judge"
)

// maxCases bounds a task: CMS numbers them with three digits.
const maxCases = 1000

// entry is what one line of gen/GEN means.
type entry struct {
	line   int
	kind   entryKind
	text   string // arguments of the generator, the file that is copied, or a subtask's name
	points judge.Score
}

type entryKind int

const (
	generated  entryKind = iota // a case, whose input the generator makes of the arguments
	copied                      // a case, whose input is a file of the task
	subtask                     // the beginning of a subtask that is worth points
	subtaskTag                  // task-maker's: the subtask that just began has this name
)

// lineFault is what is wrong with a line.
type lineFault struct {
	line   int
	reason string
}

// parseGEN reads gen/GEN as CMS does: a line is a case unless a # comes first, and
// comments that begin with "ST:" and "COPY:" mean something. Of what task-maker adds
// "STNAME:" is read; "STDEP:" is not for judging.
func parseGEN(text string) (entries []entry, faults []lineFault) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		before, comment, commented := strings.Cut(strings.TrimSpace(line), "#")
		before, comment = strings.TrimSpace(before), strings.TrimSpace(comment)
		refuse := func(reason string) { faults = append(faults, lineFault{number, reason}) }
		e := entry{line: number, kind: generated, text: before}
		command, argument, _ := strings.Cut(comment, ":")
		argument, _, _ = strings.Cut(argument, "#") // task-maker allows comments here too
		argument = strings.TrimSpace(argument)
		switch {
		case !commented || !strings.Contains(comment, ":"):
			command = ""
		case command == "ST":
			e.kind = subtask
			points, err := judge.ParseScore(argument)
			if err != nil || points.Sign() < 0 {
				refuse("ST: must be followed by the points of the subtask")
			}
			e.points = points
		case command == "COPY":
			e.kind, e.text = copied, argument
			if judge.CheckFileName(argument) != nil {
				refuse("COPY: must be followed by the name of a file of the task")
			}
		case command == "STNAME":
			e.kind, e.text = subtaskTag, argument
		default:
			command = "" // a comment as any other
		}
		switch {
		case command != "" && before != "":
			refuse("has a case and a command, of which a line may have one")
		case command != "" || before != "":
			entries = append(entries, e)
		}
	}
	return entries, faults
}

// part is a subtask of gen/GEN: so many cases, in order.
type part struct {
	name   string
	points judge.Score
	cases  int
}

// parts puts the lines together. Without any subtask there are none.
func parts(entries []entry) (all []part, cases []entry, faults []lineFault) {
	for i, e := range entries {
		switch e.kind {
		case subtask:
			if len(all) == 0 && len(cases) > 0 {
				faults = append(faults, lineFault{e.line, "begins the first subtask after cases that are in none"})
			}
			all = append(all, part{points: e.points})
		case subtaskTag:
			if i == 0 || entries[i-1].kind != subtask {
				faults = append(faults, lineFault{e.line, "STNAME: must follow the subtask's ST:"})
				continue
			}
			all[len(all)-1].name = e.text
		default:
			cases = append(cases, e)
			if len(all) > 0 {
				all[len(all)-1].cases++
			}
		}
	}
	return all, cases, faults
}
