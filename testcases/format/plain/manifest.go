package plain

import (
	"math"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// maxCheckerFiles and maxCheckerSize bound a checker program's sources.
const (
	maxCheckerFiles = 64
	maxCheckerSize  = 1 << 20
)

// readManifest reads problem.yaml into p.
func (r *reader) readManifest(p *testcases.Problem) {
	d := r.yaml(manifestName)
	d.Each(d.Root, "the file", func(key string, k, v *yaml.Node) {
		switch key {
		case "name":
			p.Name = d.Text(v, "name")
		case "limits":
			p.Limits = d.limits(v)
		case "checker":
			d.checker(v, p)
		default:
			d.Refuse(k, "unknown key %.64q, known are name, limits, checker", key)
		}
	})
}

// limits reads what is stated and checks it as it will hold, completed with the
// defaults.
func (d document) limits(n *yaml.Node) judge.Limits {
	var l judge.Limits
	before, lines := d.r.Faults(), map[string]*yaml.Node{}
	d.Each(n, "limits", func(key string, k, v *yaml.Node) {
		lines[key] = v
		switch key {
		case "cpu":
			l.CPU = d.duration(v, key)
		case "wall":
			l.Wall = d.duration(v, key)
		case "memory":
			l.Memory = d.size(v, key)
		case "output":
			l.Output = d.size(v, key)
		case "tasks":
			l.Tasks = d.Count(v, key, 1, math.MaxInt32)
		case "ptrace":
			l.Ptrace = d.Bool(v, key)
		default:
			d.Refuse(k, "unknown limit %.64q, known are cpu, wall, memory, output, tasks, ptrace", key)
		}
	})
	if d.r.Faults() > before {
		return l
	}
	for _, f := range l.Complete().Validate("") {
		key, _, _ := strings.Cut(f.Field, "_")
		at := n
		if v := lines[key]; v != nil {
			at = v
		}
		d.Refuse(at, "limit %s %s", key, f.Reason)
	}
	return l
}

// checker reads a name, or a mapping with name, args, files and language.
func (d document) checker(n *yaml.Node, p *testcases.Problem) {
	var files []string
	var language string
	lines := map[string]*yaml.Node{}
	if manifest.Kind(n) == yaml.ScalarNode {
		p.Checker.Name = d.Text(n, "checker")
	} else {
		d.Each(n, "checker", func(key string, k, v *yaml.Node) {
			lines[key] = v
			switch key {
			case "name":
				p.Checker.Name = d.Text(v, "checker name")
			case "args":
				p.Checker.Args = d.List(v, "checker args")
			case "files":
				files = d.List(v, "checker files")
			case "language":
				language = d.Text(v, "checker language")
			default:
				d.Refuse(k, "unknown key %.64q, known are name, args, files, language", key)
			}
		})
	}
	choice, faults := testcases.ParseChecker(p.Checker)
	for _, f := range faults {
		at := n
		if v := lines["args"]; v != nil && strings.HasPrefix(f.Field, "checker.args") {
			at = v
		}
		d.Refuse(at, "%s %s", f.Field, f.Reason)
	}
	custom := choice.Name == testcases.CustomChecker
	for _, key := range []string{"files", "language"} {
		if !custom && len(faults) == 0 && lines[key] != nil {
			d.Refuse(lines[key], "checker %s is for the checker custom only", key)
		}
	}
	if !custom {
		return
	}
	if language == "" {
		d.Refuse(n, "a custom checker must name its language")
	}
	p.CheckerProgram = &testcases.Program{
		Name: checkerFolder, Files: d.checkerFiles(n, files), Language: language, Protocol: testcases.ProtocolKattis,
	}
}

// checkerFiles reads the named files of the folder checker, or all of them.
func (d document) checkerFiles(n *yaml.Node, names []string) []judge.File {
	if names == nil {
		for _, file := range d.r.Names() {
			if strings.HasPrefix(file, checkerFolder+"/") {
				names = append(names, file)
			}
		}
	}
	if len(names) == 0 || len(names) > maxCheckerFiles {
		d.Refuse(n, "a custom checker must have 1 to %d files, has %d", maxCheckerFiles, len(names))
		return nil
	}
	var files []judge.File
	for _, name := range names {
		short, inFolder := strings.CutPrefix(name, checkerFolder+"/")
		if !inFolder || !d.r.Has(name) {
			d.Refuse(n, "checker file %.64q must be a file of the folder checker/", name)
			continue
		}
		if b, ok := d.r.Read(name, maxCheckerSize); ok {
			files = append(files, judge.File{Name: short, Data: b})
		}
	}
	return files
}
