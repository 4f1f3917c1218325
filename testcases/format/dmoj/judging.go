package dmoj

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// readJudging finds out who rules: a grader in Python, a function's caller, an
// interactor, or the checker. The first that is there decides, as it does for DMOJ.
func (r *reader) readJudging() {
	custom, signature, interactive := r.top.get("custom_judge"), r.top.get("signature_grader"), r.top.get("interactive")
	r.p.Checker = standard().Checker
	switch {
	case custom != nil:
		r.readGrader(custom)
	case signature != nil:
		r.readSignature(signature)
		r.readChecker()
	case interactive != nil:
		r.readInteractive(interactive)
	default:
		r.readChecker()
		return
	}
	if n := r.top.get("checker"); n != nil && signature == nil {
		r.doc.Note(n, "checker is not read: the interactor rules")
	}
}

// readInteractive reads an interactor of any language.
func (r *reader) readInteractive(n *yaml.Node) {
	conf := r.open(r.doc, n, "interactive", nil)
	conf.only("interactive", "files", "lang", "flags", "type", "args_format_string", "preprocessing_time", "memory_limit",
		"compiler_time_limit", "feedback", "unbuffered")
	r.p.Kind = testcases.Interactive
	p := r.program(n, conf.list("files"), conf.get("lang"), conf.list("flags"))
	if p == nil {
		return
	}
	r.helperConf(conf, p, "memory_limit")
	r.bridged(conf, p)
	p.Unbuffered = conf.truth("unbuffered", true)
	if r.p.Limits.CPU != 0 {
		more, err := seconds(orText(conf.text("preprocessing_time"), "2"))
		if err != nil {
			r.doc.Refuse(conf.get("preprocessing_time"), "preprocessing_time %v", err)
		}
		p.Limits.CPU = r.p.Limits.CPU + more
		p.Limits.Wall = 3 * p.Limits.CPU
	}
	r.p.Interactor = p
}

func orText(text, absent string) string {
	if text == "" {
		return absent
	}
	return text
}

// whatGraders looks for in the text of a grader.
var (
	isInteractive = regexp.MustCompile(`(?m)^class\s+Grader\s*\(\s*(?:\w+\.)*InteractiveGrader\s*\)`)
	interacts     = regexp.MustCompile(`(?m)^\s+def\s+interact\s*\(`)
	overrides     = regexp.MustCompile(`(?m)^\s+def\s+(grade|check_result|populate_result|_launch_process|_interact_with_process|_generate_binary)\s*\(`)
)

// readGrader reads a grader in Python. Those that talk to the submission through
// interact are supported; those that start the submission by themselves are not.
func (r *reader) readGrader(n *yaml.Node) {
	name := r.doc.Text(n, "custom_judge")
	f, ok := r.source(n, name)
	if !ok {
		return
	}
	own := overrides.FindSubmatch(f.Data)
	switch {
	case !isInteractive.Match(f.Data) || !interacts.Match(f.Data):
		r.doc.Refuse(n, "custom_judge %.100q is not supported: only a class Grader(InteractiveGrader) that defines interact is", name)
	case own != nil:
		r.doc.Refuse(n, "custom_judge %.100q is not supported: it defines %s, and only interact may be defined", name, own[1])
	}
	r.p.Kind = testcases.Interactive
	r.p.Interactor = r.module(name, f)
	r.p.Interactor.Args = []string{"{}"}
}

// module is a program in Python that our harness calls.
func (r *reader) module(name string, f judge.File) *testcases.Program {
	return &testcases.Program{
		Name: name, Files: []judge.File{f}, Language: "python3", Protocol: testcases.ProtocolDMOJ, Limits: helperLimits(),
	}
}

// readSignature reads the caller of a function, which is compiled with submissions in C
// and C++. As DMOJ does it, they begin with the header, and their own main is renamed.
func (r *reader) readSignature(n *yaml.Node) {
	conf := r.open(r.doc, n, "signature_grader", nil)
	conf.only("signature_grader", "entry", "header", "allow_main")
	entry, okEntry := r.source(n, conf.text("entry"))
	header, okHeader := r.source(n, conf.text("header"))
	if !okEntry || !okHeader {
		return
	}
	const defined = "#define SIGNATURE_GRADER 1\n"
	before := defined + fmt.Sprintf("#include %q\n", header.Name)
	if !conf.truth("allow_main", false) {
		sum := sha256.Sum256(entry.Data)
		before += "#define main main_" + hex.EncodeToString(sum[:8]) + "\n"
	}
	before += "#line 1\n"
	r.p.Include = map[string]testcases.Include{}
	for id, suffix := range map[string]string{"c": ".c", "cpp17": ".cpp", "cpp20": ".cpp", "cpp23": ".cpp"} {
		caller := judge.File{Name: "signature_grader" + suffix, Data: append([]byte(defined+"#line 1\n"), entry.Data...)}
		r.p.Include[id] = testcases.Include{Files: []judge.File{header, caller}, Before: before}
	}
	r.p.Languages = []string{"c", "cpp17", "cpp20", "cpp23"}
}
