package cms

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// config is what task.yaml says and other parts of the task need.
type config struct {
	manifest string // its name
	name     string
	inputs   int // n_input; -1 is not stated
	public   string
	infile   string
	outfile  string

	only, optional string // cases whose outputs are, or may be, handed in
	outputOnly     bool
	taskType       string
	processes      int
	userIO         string // fifo_io, std_io or ""

	parts      []part // of gen/GEN
	total      judge.Score
	scoreType  string
	parameters *yaml.Node
	doc        manifest.Document
}

// names of keys that have an older, Italian one too.
var older = map[string]string{
	"nome_breve": "name", "nome": "title", "timeout": "time_limit", "memlimit": "memory_limit", "risultati": "public_testcases",
}

// ignored are keys that change no judgement of one submission.
var ignored = []string{
	"score_mode", "score_precision", "feedback_level", "primary_language", "version", "max_submission_number",
	"max_user_test_number", "min_submission_interval", "min_user_test_interval", "difficulty", "syllabuslevel", "booklet",
}

func (r *reader) readManifest() {
	r.conf = config{inputs: -1, infile: "input.txt", outfile: "output.txt", processes: 1, total: judge.ScoreOf(100)}
	r.p.Limits.Output = outputLimit
	for _, name := range manifests {
		if r.Has(name) && r.conf.manifest == "" {
			r.conf.manifest = name
		}
	}
	if r.conf.manifest == "" {
		r.Refuse(manifests[0], "is missing")
		return
	}
	r.used[r.conf.manifest] = true
	d := r.YAML(r.conf.manifest)
	r.conf.doc = d
	d.Each(d.Root, "the file", func(key string, k, v *yaml.Node) {
		if to := older[key]; to != "" {
			key = to
		}
		r.key(d, key, k, v)
	})
	if r.conf.name == "" && d.Root != nil {
		r.Refuse(r.conf.manifest, "must have a name: submissions are compiled under it")
	}
}

// key reads one key of task.yaml.
func (r *reader) key(d manifest.Document, key string, k, v *yaml.Node) {
	c := &r.conf
	if manifest.Null(v) {
		if key == "infile" || key == "outfile" {
			d.Refuse(v, `%s must be a file's name, or "" for the standard stream`, key)
		}
		return
	}
	switch key {
	case "name":
		c.name = d.Text(v, key)
		if err := judge.CheckFileName(c.name); err != nil || strings.Contains(c.name, "/") {
			d.Refuse(v, "name must be one that a file may have, is %.64q", c.name)
		}
	case "title":
		r.p.Name = d.Text(v, key)
	case "time_limit":
		r.p.Limits.CPU = seconds(d, v)
	case "memory_limit":
		r.p.Limits.Memory = judge.Bytes(d.Count(v, key, 1, 1<<20)) * judge.MiB
	case "n_input":
		c.inputs = d.Count(v, key, 0, maxCases)
	case "public_testcases":
		c.public = d.Text(v, key)
	case "infile":
		c.infile = d.Text(v, key)
	case "outfile":
		c.outfile = d.Text(v, key)
	case "output_only":
		c.outputOnly = truth(d, v, key) || c.outputOnly
	case "num_processes":
		c.processes = d.Count(v, key, 1, testcases.MaxProcesses)
	case "user_io":
		c.userIO = d.Text(v, key)
		if c.userIO != "std_io" && c.userIO != "fifo_io" {
			d.Refuse(v, "user_io must be std_io or fifo_io, is %.64q", c.userIO)
		}
	case "total_value":
		c.total = d.Score(v, key)
	case "score_type":
		c.scoreType = d.Text(v, key)
	case "score_type_parameters":
		c.parameters = v
	case "task_type":
		c.taskType = d.Text(v, key)
		c.outputOnly = c.outputOnly || c.taskType == "OutputOnly"
		if !slices.Contains([]string{"Batch", "BatchAndOutput", "OutputOnly", "Communication"}, c.taskType) {
			d.Refuse(v, "task_type %.64q is not supported: Batch, BatchAndOutput, OutputOnly and Communication are", c.taskType)
		}
	case "task_type_parameters":
		r.typeParameters(d, v)
	case "output_only_testcases":
		c.only = d.Text(v, key)
	case "output_optional_testcases":
		c.optional = d.Text(v, key)
	default:
		if !slices.Contains(ignored, key) && !strings.HasPrefix(key, "token_") {
			d.Note(k, "unknown key %.64q is not read", key)
		}
	}
}

// typeParameters reads what of CMS's own parameters says more than the files do:
// processes and the kind of pipes of a Communication task.
func (r *reader) typeParameters(d manifest.Document, v *yaml.Node) {
	list := v
	if manifest.Kind(list) != yaml.SequenceNode || len(list.Content) < 3 {
		d.Note(v, "task_type_parameters are not read but for those of Communication: [processes, stub or alone, fifo_io or std_io]")
		return
	}
	n, err := strconv.Atoi(list.Content[0].Value)
	if err != nil {
		return // those of Batch begin with a word
	}
	if n < 1 || n > testcases.MaxProcesses {
		d.Refuse(v, "task_type_parameters must begin with 1 to %d processes, begin with %d", testcases.MaxProcesses, n)
		return
	}
	r.conf.processes = n
	if io := list.Content[2].Value; io == "std_io" || io == "fifo_io" {
		r.conf.userIO = io
	}
}

// seconds reads a time limit.
func seconds(d manifest.Document, v *yaml.Node) time.Duration {
	s := d.Score(v, "time_limit")
	t := time.Duration(math.Round(s.Mul(judge.ScoreOf(int64(time.Second))).Float()))
	if t < time.Millisecond || t > time.Hour {
		d.Refuse(v, "time_limit must be 0.001 to 3600 seconds, is %.64q", v.Value)
		return time.Second
	}
	return t
}

// truth reads what YAML 1.1 takes for true and false, as CMS does.
func truth(d manifest.Document, v *yaml.Node, what string) bool {
	switch text := strings.ToLower(d.Text(v, what)); text {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	d.Refuse(v, "%s must be true or false, is %.64q", what, v.Value)
	return false
}
