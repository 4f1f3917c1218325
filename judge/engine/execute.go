package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// maxCaseFiles bounds the files that a program finds in its work directory.
const maxCaseFiles = 256 << 20

// execute runs the program once.
func (s *session) execute(ctx context.Context, c testcases.Case, files []sandbox.File) (*sandbox.Report, produced, error) {
	p, spec := s.job.Problem, s.spec
	spec.Args = slices.Concat(spec.Args, c.Args)
	spec.Files = files
	if p.InputFile == "" {
		input, err := stdin(c.Input)
		if err != nil {
			return nil, produced{}, judge.Fail(judge.FailProblem, err)
		}
		defer input.Close()
		spec.Stdin = input
	} else {
		data, err := testcases.ReadAll(c.Input, maxCaseFiles)
		if err != nil {
			return nil, produced{}, judge.Fail(judge.FailProblem, err)
		}
		spec.Files = append(slices.Clone(files), sandbox.File{Name: p.InputFile, Data: data})
	}
	spec.Box = room(spec.Files)
	var err error
	if p.OutputFile == "" {
		if spec.Stdout.Spill, err = s.spill(); err != nil {
			return nil, produced{}, err
		}
	} else {
		spec.Collect = []sandbox.Collect{{Name: p.OutputFile, Max: s.lim.Output}}
		if p.Sealed { // else it could not be made
			spec.Files = append(slices.Clone(spec.Files), sandbox.File{Name: p.OutputFile, Open: true})
		}
		box := spec.Box.Complete(judge.Limits{})
		spec.Box.FileSize, spec.Box.Disk = max(box.FileSize, s.lim.Output+1), box.Disk+s.lim.Output+1
	}
	rep, err := s.Runner.Run(ctx, spec)
	if err != nil {
		produced{rest: spec.Stdout.Spill}.close()
		return nil, produced{}, s.fault(ctx, judge.FailSandbox, err)
	}
	if p.OutputFile == "" {
		return rep, produced{data: rep.Stdout.Data, rest: spec.Stdout.Spill, more: rep.Stdout.Spilled}, nil
	}
	return rep, s.product(rep), nil
}

// product finds the file that the problem asks for. Why it did not come out is always
// the program's doing: what the host lacked, the box has reported as an error.
func (s *session) product(rep *sandbox.Report) produced {
	name := s.job.Problem.OutputFile
	for _, f := range rep.Files {
		switch {
		case f.Name != name:
		case errors.Is(f.Err, sandbox.ErrTooLarge):
			return produced{large: true}
		case errors.Is(f.Err, fs.ErrNotExist) || errors.Is(f.Err, sandbox.ErrNotRegular):
			return produced{absent: "wrote no file " + name}
		case f.Err != nil:
			return produced{absent: fmt.Sprintf("left file %s unreadable", name)}
		default:
			return produced{data: f.Data}
		}
	}
	return produced{absent: "wrote no file " + name}
}

// room is what the files of a case need of the box, on top of its defaults.
func room(files []sandbox.File) sandbox.BoxLimits {
	var size judge.Bytes
	for _, f := range files {
		size += judge.Bytes(len(f.Data)) + 4*judge.KiB
	}
	if size == 0 {
		return sandbox.BoxLimits{}
	}
	box := sandbox.BoxLimits{}.Complete(judge.Limits{})
	return sandbox.BoxLimits{Disk: box.Disk + size, Inodes: box.Inodes + 2*len(files)}
}

// caseFiles are the files that the case puts into the work directory.
func caseFiles(c testcases.Case) ([]sandbox.File, error) {
	var files []sandbox.File
	left := int64(maxCaseFiles)
	for _, f := range c.Files {
		b, err := testcases.ReadAll(f.Data, left)
		if err != nil {
			return nil, judge.Fail(judge.FailProblem, fmt.Errorf("file %s of case %s: %w", f.Name, c.Name, err))
		}
		left -= int64(len(b))
		files = append(files, sandbox.File{Name: f.Name, Data: b})
	}
	return files, nil
}
