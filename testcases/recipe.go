package testcases

import (
	"fmt"
	"iter"

	"judgefarm/judge"
)

// Recipe makes data by running a program of the package.
type Recipe struct {
	Program *Program
	Args    []string
	Stdin   *Recipe // its output is read; nil: Input, or the case's input when it makes an answer, else nothing
	Input   Data    // read where there is no Stdin; nil is none
	Output  string  // the file that the program writes; "" is standard output, Stderr is standard error
	// Text says that what is made is text: each of CR LF, CR and LF becomes LF, and a
	// last line gets one where it has none.
	Text  bool
	Empty bool // it may make nothing
}

// Stderr as a recipe's Output is standard error.
const Stderr = "/dev/stderr"

// maxRecipes bounds how many recipes may read each other's output.
const maxRecipes = 16

// recipes are those that still have to run for the case, those that they read
// included.
func (c *Case) recipes() iter.Seq[*Recipe] {
	return func(yield func(*Recipe) bool) {
		var missing []*Recipe
		if c.Input == nil {
			missing = append(missing, c.InputFrom)
		}
		if c.Answer == nil {
			missing = append(missing, c.AnswerFrom)
		}
		for _, r := range missing {
			for n := 0; r != nil && n <= maxRecipes; n++ {
				if !yield(r) {
					return
				}
				r = r.Stdin
			}
		}
	}
}

// check says what is wrong with a recipe; "" means nothing is.
func (r *Recipe) check() string {
	if r.Program == nil {
		return "is to be made by a program that the package does not have"
	}
	if faults := r.Program.validate("program."); len(faults) > 0 {
		return fmt.Sprintf("is to be made by %.64q: %v", r.Program.Name, judge.Refuse(faults...))
	}
	if err := judge.CheckFileName(r.Output); r.Output != "" && r.Output != Stderr && err != nil {
		return fmt.Sprintf("is to be made as file %.64q: %v", r.Output, err)
	}
	depth := 0
	for s := r.Stdin; s != nil; s = s.Stdin {
		if depth++; depth > maxRecipes {
			return fmt.Sprintf("is to be made by more than %d programs that read from each other", maxRecipes)
		}
	}
	return ""
}
