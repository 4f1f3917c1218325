package cms

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"judgefarm/testcases"
)

// maxGEN bounds gen/GEN, maxSample a file that is given to contestants and compared with the
// inputs.
const (
	maxGEN    = 1 << 20
	maxSample = 1 << 20
)

// oneCase is a case that no group has yet.
type oneCase struct {
	codename string // what CMS calls it: 000
	testcases.Case
}

// readCases finds out how many cases there are and where their data is.
func (r *reader) readCases() []oneCase {
	n, lines := r.conf.inputs, []entry(nil)
	if r.Has(genName) && !r.overridden() {
		lines = r.readGEN()
		if n >= 0 && n != len(lines) {
			r.Refuse(r.conf.manifest, "n_input is %d, gen/GEN has %d cases", n, len(lines))
		}
		n = len(lines)
	}
	if n < 0 {
		r.Refuse(r.conf.manifest, "must state n_input where there is no gen/GEN")
		return nil
	}
	if n == 0 || n > maxCases {
		r.Refuse(r.conf.manifest, "must have 1 to %d cases, has %d", maxCases, n)
		return nil
	}
	all := make([]oneCase, n)
	samples := r.samples()
	for i := range all {
		c := &all[i]
		c.codename = fmt.Sprintf("%03d", i)
		r.input(c, i, lines)
		r.answer(c, i)
		r.handed(c, i)
		c.Sample = r.given(c.Input, samples)
	}
	r.numbers("public_testcases", r.conf.public, n) // results of all cases are shown: nothing follows from it
	r.numbers("output_only_testcases", r.conf.only, n)
	r.numbers("output_optional_testcases", r.conf.optional, n)
	return all
}

// handed says what the output of a case is called where one is handed in: in an
// OutputOnly task, and for some cases of a BatchAndOutput task, whose checker is told, as
// CMS does.
func (r *reader) handed(c *oneCase, i int) {
	name := "output_" + c.codename + ".txt"
	if r.conf.outputOnly {
		c.Output = name
	}
	if r.conf.only+r.conf.optional == "" || r.conf.outputOnly || r.managed() {
		return
	}
	kind := "batch"
	if lists(r.conf.optional, i) {
		c.Handed, c.Output = testcases.HandedMaybe, name
	}
	if lists(r.conf.only, i) {
		c.Handed, c.Output, kind = testcases.HandedOnly, name, "outputonly"
	}
	if r.exists(checkers) {
		c.CheckerArgs = []string{kind}
	}
}

// lists reports whether a text of numbers has one.
func lists(text string, n int) bool {
	for word := range strings.SplitSeq(text, ",") {
		if i, err := strconv.Atoi(strings.TrimSpace(word)); err == nil && i == n {
			return true
		}
	}
	return false
}

// overridden reports whether task.yaml says all that GEN would.
func (r *reader) overridden() bool {
	return r.conf.scoreType != "" && r.conf.parameters != nil && r.conf.inputs >= 0
}

// readGEN returns the cases that gen/GEN lists, and keeps its subtasks.
func (r *reader) readGEN() []entry {
	b, ok := r.read(genName, maxGEN)
	if !ok {
		return nil
	}
	entries, faults := parseGEN(string(b))
	subtasks, cases, more := parts(entries)
	for _, f := range slices.Concat(faults, more) {
		r.Refuse(genName, "line %d: %s", f.line, f.reason)
	}
	r.conf.parts = subtasks
	return cases
}

// input is the file that the task has, the one that GEN copies, or what its generator
// makes.
func (r *reader) input(c *oneCase, i int, lines []entry) {
	name := fmt.Sprintf("%s/input%d.txt", inputFolder, i)
	switch {
	case r.Has(name):
		c.Input = r.data(name)
	case lines == nil:
		r.Refuse(name, "is missing: n_input is %d", r.conf.inputs)
	case lines[i].kind == copied && r.Has(lines[i].text):
		c.Input = r.data(lines[i].text)
	case lines[i].kind == copied:
		r.Refuse(genName, "line %d: copies %.64q, which is not there", lines[i].line, lines[i].text)
	default:
		generator := r.generator()
		args, err := shellquote.Split(lines[i].text)
		if err != nil {
			r.Refuse(genName, "line %d: must hold arguments as a shell takes them: %v", lines[i].line, err)
		}
		if generator == nil {
			r.Refuse(name, "is missing, and there is no gen/generator to make it")
			return
		}
		c.InputFrom = &testcases.Recipe{Program: generator, Args: args}
	}
}

// answer is the file that the task has, or what the official solution makes.
func (r *reader) answer(c *oneCase, i int) {
	name := fmt.Sprintf("%s/output%d.txt", outputFolder, i)
	switch solution := r.official(); {
	case r.Has(name):
		c.Answer = r.data(name)
	case r.managed() || r.conf.outputOnly: // nothing that runs alone could make it
		r.Note(name, "is missing: an empty one is used")
		c.Answer = testcases.BytesData(nil)
	case solution == nil:
		r.Refuse(name, "is missing, and there is no sol/solution to make it")
	default:
		recipe := &testcases.Recipe{Program: solution}
		if r.conf.infile != "" || r.conf.outfile != "" || r.graded() {
			r.Refuse(name, "is missing: an official solution that is compiled with a grader, or reads and writes files, cannot make it")
			return
		}
		c.AnswerFrom = recipe
	}
}

// samples are the sums of the files that contestants are given, by their sizes: there may
// be more of them than fit into memory.
func (r *reader) samples() map[int64][][sha256.Size]byte {
	all := map[int64][][sha256.Size]byte{}
	for _, name := range r.Below(attFolder) {
		size := r.Size(name)
		if size == 0 || size > maxSample || path.Ext(name) != ".txt" {
			continue
		}
		d, err := testcases.FileData(r.Path(name))
		if err == nil {
			var sum [sha256.Size]byte
			sum, err = sumOf(d)
			all[size] = append(all[size], sum)
		}
		r.Fail(err)
	}
	return all
}

func sumOf(d testcases.Data) (sum [sha256.Size]byte, err error) {
	b, err := testcases.ReadAll(d, maxSample)
	return sha256.Sum256(b), err
}

// given reports whether contestants have a case's input.
func (r *reader) given(input testcases.Data, samples map[int64][][sha256.Size]byte) bool {
	if input == nil || len(samples[input.Size()]) == 0 {
		return false
	}
	sum, err := sumOf(input) // what cannot be read is no sample
	return err == nil && slices.Contains(samples[input.Size()], sum)
}

// numbers looks whether a key of task.yaml names cases.
func (r *reader) numbers(key, text string, n int) {
	if text == "" || text == "all" && key == "public_testcases" {
		return
	}
	for word := range strings.SplitSeq(text, ",") {
		if i, err := strconv.Atoi(strings.TrimSpace(word)); err != nil || i < 0 || i >= n {
			r.Refuse(r.conf.manifest, "%s must be numbers of cases below %d, has %.64q", key, n, word)
		}
	}
}

// named is the whole name of a case in a group.
func named(group string, c oneCase) testcases.Case {
	c.Name = group + "/" + c.codename
	return c.Case
}
