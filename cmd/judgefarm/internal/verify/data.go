package verify

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"judgefarm/testcases"
)

// lookAtData finds inputs that are there twice and texts that programs of other
// systems would read otherwise.
func (v *verification) lookAtData() error {
	seen := map[[sha256.Size]byte]testcases.Case{}
	var returns, open []Finding
	for _, c := range v.p.Cases() {
		if c.Static {
			continue
		}
		sum, cr, unended, err := scan(c.Input)
		if err != nil {
			return fmt.Errorf("read input of case %s: %w", c.Name, err)
		}
		file := v.files.data(c.Input, c.Name, ".in")
		if cr > 0 {
			returns = append(returns, Finding{Warning, checkText, file, cr, "the line ends with a carriage return, which not all languages take for a blank"})
		}
		if unended {
			open = append(open, Finding{Warning, checkText, file, 0, "the last line has no line feed at its end"})
		}
		beside, err := caseFiles(c)
		if err != nil {
			return err
		}
		key := sha256.Sum256(fmt.Appendf(sum, "%q%q%q%d%v", c.Args, c.CheckerArgs, beside, c.Rule, c.Limits))
		if before, twice := seen[key]; twice {
			v.report.add(Finding{Warning, checkDuplicate, file, 0,
				"is the same input as " + v.files.data(before.Input, before.Name, ".in") + v.otherAnswer(before, c)})
			continue
		}
		seen[key] = c
	}
	v.few(returns)
	v.few(open)
	return nil
}

// few tells the first of many findings that are the same in file after file.
func (v *verification) few(all []Finding) {
	const most = 3
	for i, f := range all {
		if i == most-1 && len(all) > most {
			f.Text += fmt.Sprintf("; so it is in %d inputs more", len(all)-most)
		}
		if i < most {
			v.report.add(f)
		}
	}
}

// caseFiles are the names and digests of what the program finds in its work directory.
func caseFiles(c testcases.Case) (all []string, err error) {
	for _, f := range c.Files {
		sum, _, _, err := scan(f.Data)
		if err != nil {
			return nil, fmt.Errorf("read file %s of case %s: %w", f.Name, c.Name, err)
		}
		all = append(all, f.Name, string(sum))
	}
	return all, nil
}

func (v *verification) otherAnswer(a, b testcases.Case) string {
	one, _, _, err1 := scan(a.Answer)
	two, _, _, err2 := scan(b.Answer)
	if errors.Join(err1, err2) == nil && !bytes.Equal(one, two) {
		return ", with another answer"
	}
	return ""
}

// scan reads data once: its digest, the first line with a carriage return at its end,
// and whether a text's last line is not ended. Data with a NUL byte is no text.
func scan(d testcases.Data) (sum []byte, carriage int, unended bool, err error) {
	r, err := d.Open()
	if err != nil {
		return nil, 0, false, err
	}
	defer r.Close()
	h := sha256.New()
	in := bufio.NewReaderSize(io.TeeReader(r, h), 64<<10)
	line, before, binary := 1, byte('\n'), false
	for {
		b, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, false, err
		}
		switch {
		case b == 0:
			binary = true
		case b == '\n':
			if before == '\r' && carriage == 0 {
				carriage = line
			}
			line++
		}
		before = b
	}
	if binary {
		return h.Sum(nil), 0, false, nil
	}
	return h.Sum(nil), carriage, before != '\n', nil
}

// lookAtPackage tells what the reader found and what the package lacks.
func (v *verification) lookAtPackage() {
	j := v.p.Jury
	for _, n := range j.Notes {
		file, line, text := placed(n.File, n.Text)
		v.report.add(Finding{Warning, checkReader, file, line, text})
	}
	for _, name := range j.Unused {
		v.report.add(Finding{Warning, checkUnused, name, 0, "nothing refers to this file"})
	}
	must := Warning
	if v.p.Format == "kattis 2025-09" { // "A minimal problem package must contain ..."
		must = Fault
	}
	if len(j.Validators) == 0 {
		v.report.add(Finding{must, checkStructure, "", 0, "there is no input validator: nothing shows that the inputs are right"})
	}
	accepted := func(s testcases.Labelled) bool { return mustPass(s) }
	if !slices.ContainsFunc(v.p.Submissions, accepted) {
		v.report.add(Finding{must, checkStructure, "", 0, "there is no submission that must be accepted: nothing shows that the problem can be solved"})
	}
	if !slices.ContainsFunc(v.p.Submissions, func(s testcases.Labelled) bool { return mustFail(s) }) {
		v.report.add(Finding{Warning, checkStructure, "", 0, "there is no submission that must be refused: nothing shows that the cases find mistakes"})
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// firstLines bounds what a program said for a message of one line.
func firstLines(b []byte) string {
	text := strings.ToValidUTF8(string(b[:min(len(b), 400)]), "\uFFFD")
	return strings.Join(strings.Fields(text), " ")
}
