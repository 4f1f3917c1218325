package testcases

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"judgefarm/judge"
)

// Bounds of an archive of outputs.
const (
	maxOutputs     = 10_000    // files in it
	maxOutputBytes = 256 << 20 // of all files together
)

// endings are what a file of a case's output may have after the case's name.
var endings = []string{".out", ".ans", ".txt", ""}

// Outputs finds the outputs that a submission to an OutputOnly problem brings, by case
// name; a case that is absent has none. A single file whose name ends in .zip stands
// for the files in it. A file is a case's output when its name, or the last part of
// it, is the case's Output; or, where the package states none, the name of the case or
// the last part of that where no other case has the same, with one of the endings
// .out, .ans, .txt or none. The only file of a problem of one case may be called
// anything. A file of no case, and a second one of the same case, are a
// *judge.BadRequest.
func (p *Problem) Outputs(files []judge.File) (map[string][]byte, error) {
	files, err := unzipped(files, maxOutputBytes)
	if err != nil {
		return nil, err
	}
	cases := p.Cases()
	if len(cases) == 1 && len(files) == 1 {
		return map[string][]byte{cases[0].Name: files[0].Data}, nil
	}
	names := outputNames(cases)
	found := map[string][]byte{}
	var faults []*judge.FieldError
	for i, f := range files {
		refuse := func(format string, args ...any) {
			faults = append(faults, &judge.FieldError{Field: fmt.Sprintf("files[%d].name", i), Reason: fmt.Sprintf(format, args...)})
		}
		name, ok := names[f.Name]
		if !ok {
			name, ok = names[path.Base(f.Name)]
		}
		switch _, again := found[name]; {
		case !ok:
			refuse("%.64q is the output of no case: a file is called like %s", f.Name, OutputName(cases[0]))
		case again:
			refuse("%.64q is a second output of case %s", f.Name, name)
		default:
			found[name] = f.Data
		}
	}
	return found, judge.Refuse(faults...)
}

// Mixed reports whether some outputs may come with a program.
func (p *Problem) Mixed() bool {
	mixed := false
	p.Walk(func(_ *Group, c *Case) { mixed = mixed || c.Handed != HandedNever })
	return mixed
}

// Split tells the outputs among the files of a submission to a Mixed problem, by case
// name, from the program, which may be absent. A file is an output when its name, or the
// last part of it, is what a case that takes one states. A second one of the same case
// is a *judge.BadRequest.
func (p *Problem) Split(files []judge.File) (program []judge.File, outputs map[string][]byte, err error) {
	if files, err = unzipped(files, maxOutputBytes); err != nil {
		return nil, nil, err
	}
	names, outputs := map[string]string{}, map[string][]byte{}
	p.Walk(func(_ *Group, c *Case) {
		if c.Handed != HandedNever {
			names[c.Output] = c.Name
		}
	})
	for i, f := range files {
		name, ok := names[path.Base(f.Name)]
		if _, again := outputs[name]; again {
			return nil, nil, judge.Refuse(&judge.FieldError{Field: fmt.Sprintf("files[%d].name", i),
				Reason: fmt.Sprintf("%.64q is a second output of case %s", f.Name, name)})
		}
		if ok {
			outputs[name] = f.Data
		} else {
			program = append(program, f)
		}
	}
	return program, outputs, nil
}

// OutputName is what the file with the output of a case is called.
func OutputName(c Case) string {
	if c.Output != "" {
		return c.Output
	}
	return path.Base(c.Name) + endings[0]
}

// outputNames are the cases by the names that their outputs may have. What could be
// two cases' is nobody's.
func outputNames(cases []Case) map[string]string {
	names := map[string]string{}
	var twice []string
	add := func(file, name string) {
		if have, ok := names[file]; ok && have != name {
			twice = append(twice, file)
		}
		names[file] = name
	}
	for _, c := range cases {
		if c.Output != "" {
			add(c.Output, c.Name)
			continue
		}
		for _, ending := range endings {
			add(path.Base(c.Name)+ending, c.Name)
		}
	}
	for _, file := range twice {
		delete(names, file)
	}
	whole, both := map[string]string{}, []string(nil) // they come before last parts; "a.out" can be the case "a" or "a.out"
	for _, c := range cases {
		if c.Output == "" {
			for _, ending := range endings {
				if have, ok := whole[c.Name+ending]; ok && have != c.Name {
					both = append(both, c.Name+ending)
				}
				whole[c.Name+ending] = c.Name
			}
		}
	}
	maps.Copy(names, whole)
	for _, file := range both {
		delete(names, file)
	}
	return names
}

// unzipped replaces a single archive by the files in it, of at most so many bytes
// together.
func unzipped(files []judge.File, most int64) ([]judge.File, error) {
	if len(files) != 1 || !strings.HasSuffix(strings.ToLower(files[0].Name), ".zip") {
		return files, nil
	}
	refuse := func(format string, args ...any) error {
		return judge.Refuse(&judge.FieldError{Field: "files[0].content", Reason: fmt.Sprintf(format, args...)})
	}
	z, err := zip.NewReader(bytes.NewReader(files[0].Data), int64(len(files[0].Data)))
	if err != nil {
		return nil, refuse("is no zip archive: %v", err)
	}
	if len(z.File) > maxOutputs {
		return nil, refuse("must hold at most %d files, holds %d", maxOutputs, len(z.File))
	}
	var all []judge.File
	left := most
	for _, e := range z.File {
		if !e.Mode().IsRegular() || noise(e.Name) {
			continue
		}
		if err := judge.CheckFileName(e.Name); err != nil {
			return nil, refuse("%.64q %v", e.Name, err)
		}
		b, err := inflate(e, left)
		if errors.Is(err, errTooMuch) {
			return nil, refuse("must unpack to at most %d bytes", most)
		}
		if err != nil {
			return nil, refuse("%.64q cannot be read: %v", e.Name, err)
		}
		left -= int64(len(b))
		all = append(all, judge.File{Name: e.Name, Data: b})
	}
	return all, nil
}

// noise is what systems leave behind in archives.
func noise(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return strings.HasPrefix(part, ".") && part != "." && part != ".." || part == "__MACOSX"
	})
}

var errTooMuch = errors.New("too much")

// inflate reads a file of an archive, whose header may lie about the size.
func inflate(e *zip.File, most int64) ([]byte, error) {
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = errTooMuch
	}
	return b, err
}
