package cms

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// The parts of a task that TPS exported for CMS.
const (
	tpsName      = "problem.json"
	tpsTests     = "tests"
	tpsSubtasks  = "subtasks"
	tpsGraders   = "graders"
	tpsSolutions = "solutions"
	maxJSON      = 1 << 20
)

// DetectTPS reports whether dir looks like a task that TPS exported for CMS.
func DetectTPS(dir string) bool {
	f, err := manifest.Open(dir, manifest.Options{Skip: noise, Links: true})
	return err == nil && f.Has(tpsName) && f.HasFolder(tpsTests)
}

// OpenTPS is Open for a task that TPS exported for CMS.
func OpenTPS(dir string) (*testcases.Problem, error) {
	f, err := manifest.Open(dir, manifest.Options{Skip: noise, Links: true, Ignore: forPeople})
	if err != nil {
		return nil, err
	}
	r := &reader{Folder: f, p: &testcases.Problem{Format: "cms tps"}, used: map[string]bool{}}
	r.conf.manifest, r.conf.processes = tpsName, 1
	r.readTPS()
	r.tpsScore(r.tpsCases())
	r.tpsSolutions()
	return r.seal()
}

// tpsTask is problem.json.
type tpsTask struct {
	Code       string          `json:"code"`
	Name       string          `json:"name"`
	Type       string          `json:"task_type"`
	Time       json.Number     `json:"time_limit"`
	Memory     json.Number     `json:"memory_limit"` // in bytes
	Parameters json.RawMessage `json:"task_type_params"`
}

// json reads a file of the task into v.
func (r *reader) json(name string, v any) bool {
	b, ok := r.read(name, maxJSON)
	if !ok {
		return false
	}
	if err := json.Unmarshal(b, v); err != nil {
		r.Refuse(name, "is not the JSON that it must be: %v", err)
		return false
	}
	return true
}

func (r *reader) readTPS() {
	var task tpsTask
	if !r.json(tpsName, &task) {
		return
	}
	p := r.p
	r.conf.name, p.Name = task.Code, task.Name
	if err := judge.CheckFileName(task.Code); err != nil || strings.Contains(task.Code, "/") {
		r.Refuse(tpsName, "code must be one that a file may be called, is %.64q", task.Code)
	}
	p.Limits.Output = outputLimit
	task.Type = strings.ToUpper(task.Type[:min(1, len(task.Type))]) + task.Type[min(1, len(task.Type)):]
	p.Checker.Name = testcases.WhiteDiff
	if r.exists(tpsCheckers) {
		p.Checker.Name, p.CheckerProgram = testcases.CustomChecker, r.find(tpsCheckers, testcases.ProtocolCMS)
	}
	words := r.tpsParameters(task)
	switch task.Type {
	case "OutputOnly":
		p.Kind = testcases.OutputOnly
		return
	case "Communication":
		p.Kind, p.Checker.Name, p.CheckerProgram = testcases.Communication, testcases.WhiteDiff, nil
		if p.Interactor = r.find(tpsManagers, testcases.ProtocolCMS); p.Interactor == nil {
			r.Refuse(tpsGraders+"/manager.cpp", "is missing")
		}
		if r.conf.processes > 1 {
			p.Processes = r.conf.processes
		}
		p.NamedPipes = slices.Contains(words, "fifo_io")
	case "Batch":
	default:
		r.Refuse(tpsName, "task_type %.64q is not supported: Batch, Communication and OutputOnly are", task.Type)
	}
	p.Sealed = true
	r.tpsLimits(task)
	base := tpsGraders + "/grader"
	if !r.exists([]string{base}) {
		base = tpsGraders + "/stub"
	}
	if slices.Contains(words, "alone") {
		base = tpsGraders + "/none"
	}
	r.readInclude(base)
}

// Where programs of an exported task are.
var (
	tpsCheckers = []string{"checker/checker"}
	tpsManagers = []string{tpsGraders + "/manager"}
)

func (r *reader) tpsLimits(task tpsTask) {
	seconds, err := judge.ParseScore(task.Time.String())
	t := time.Duration(seconds.Mul(judge.ScoreOf(int64(time.Second))).Float())
	if err != nil || t < time.Millisecond || t > time.Hour {
		r.Refuse(tpsName, "time_limit must be 0.001 to 3600 seconds, is %.64q", task.Time)
		return
	}
	memory, err := task.Memory.Int64()
	if err != nil || memory < 4096 || memory > int64(1024*judge.GiB) {
		r.Refuse(tpsName, "memory_limit must be bytes, is %.64q", task.Memory)
		return
	}
	if memory < 1<<20 { // of TPS itself, before its export
		r.Refuse(tpsName, "memory_limit must be bytes, is %d: too little for a program", memory)
	}
	r.p.Limits.CPU, r.p.Limits.Memory = t, judge.Bytes(memory)
}

// tpsParameters reads the parameters of the type: a list as CMS has it, or a mapping,
// in a text, of the older protocol. It returns the words among them.
func (r *reader) tpsParameters(task tpsTask) (words []string) {
	var text string
	if json.Unmarshal(task.Parameters, &text) == nil {
		if text == "" {
			text = "{}"
		}
		task.Parameters = []byte(text)
	}
	var list []any
	var mapping map[string]any
	switch {
	case len(task.Parameters) == 0:
	case json.Unmarshal(task.Parameters, &list) == nil:
	case json.Unmarshal(task.Parameters, &mapping) == nil:
		list = r.olderParameters(mapping)
	default:
		r.Refuse(tpsName, "task_type_params must be a list or a mapping")
	}
	for _, value := range list {
		switch v := value.(type) {
		case float64:
			r.conf.processes = int(v)
		case string:
			words = append(words, v)
		case []any: // files of Batch
			if len(v) == 2 {
				r.p.InputFile, _ = v[0].(string)
				r.p.OutputFile, _ = v[1].(string)
			}
		}
	}
	return words
}

// olderParameters are those of the first protocol, whose names begin with
// task_type_parameters_ and the type. Communication is std_io there.
func (r *reader) olderParameters(mapping map[string]any) (list []any) {
	files := []any{"", ""}
	for name, value := range mapping {
		switch name[strings.LastIndexByte(name, '_')+1:] {
		case "inputfile":
			files[0] = value
		case "outputfile":
			files[1] = value
		case "processes", "compilation":
			list = append(list, value)
		}
	}
	return append(list, files)
}
