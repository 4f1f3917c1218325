package dmoj

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// readChecker reads the checker of all cases that state none.
func (r *reader) readChecker() {
	n := r.top.get("checker")
	r.rules = map[string]int{r.said(n): 0}
	own := r.checker(n)
	r.p.Checker, r.p.CheckerProgram = own.Checker, own.Program
}

// ruleOf is the place among the problem's of the checker that a case or its batch
// states; 0 is the one of all cases.
func (r *reader) ruleOf(conf *values) int {
	if r.rules == nil || !conf.local("checker") { // an interactor rules; or nothing is stated
		return 0
	}
	n := conf.get("checker")
	text := r.said(n)
	at, known := r.rules[text]
	if !known {
		r.p.Rules = append(r.p.Rules, r.checker(n))
		at = len(r.p.Rules)
		r.rules[text] = at
	}
	return at
}

// said is the text of a checker: cases that say the same have the same.
func (r *reader) said(n *yaml.Node) string {
	if n == nil {
		return `"standard"`
	}
	b, err := json.Marshal(r.plain(n, nil))
	if err != nil {
		return fmt.Sprintf("line %d", n.Line)
	}
	return string(b)
}

// standard is the checker where none is stated.
func standard() testcases.Rule {
	return testcases.Rule{Checker: judge.CheckerSpec{Name: "dmoj/standard"}}
}

// checker reads one of DMOJ's by name, a program, or a module. What is refused stands
// for the standard one.
func (r *reader) checker(n *yaml.Node) testcases.Rule {
	if n == nil {
		return standard()
	}
	name, args := "", &values{r: r, d: r.doc, at: n, own: map[string]entry{}}
	if resolve(n).Kind == yaml.MappingNode {
		conf := r.open(r.doc, n, "checker", nil)
		conf.only("checker", "name", "args")
		name = conf.text("name")
		if a := conf.get("args"); a != nil {
			args = r.open(r.doc, a, "args", nil)
		}
	} else {
		name = r.doc.Text(n, "checker")
	}
	switch {
	case name == "bridged":
		return r.bridgedChecker(n, args)
	case strings.Contains(name, "."):
		return r.moduleChecker(n, name, args)
	case name == "":
		r.doc.Refuse(n, "checker must have a name")
		return standard()
	}
	return testcases.Rule{Checker: r.named(n, name, args)}
}

func (r *reader) bridgedChecker(n *yaml.Node, args *values) testcases.Rule {
	args.only("a bridged checker", "files", "lang", "flags", "type", "args_format_string", "time_limit", "memory_limit",
		"compiler_time_limit", "feedback", "cached")
	p := r.program(n, args.list("files"), args.get("lang"), args.list("flags"))
	if p == nil {
		return standard()
	}
	r.helperConf(args, p, "memory_limit")
	r.bridged(args, p)
	return testcases.Rule{Checker: judge.CheckerSpec{Name: testcases.CustomChecker}, Program: p}
}

var onError = regexp.MustCompile(`\.run_on_error\s*=\s*True`)

func (r *reader) moduleChecker(n *yaml.Node, name string, args *values) testcases.Rule {
	if path.Ext(name) != ".py" {
		r.doc.Refuse(n, "checker %.100q must be a Python module, NAME.py, or the name of one of DMOJ's", name)
		return standard()
	}
	f, ok := r.source(n, name)
	if !ok {
		return standard()
	}
	p := r.module(name, f)
	p.OnError = onError.Match(f.Data)
	b, err := json.Marshal(r.plain(args.at, args))
	if err != nil || len(b) > 1000 {
		r.doc.Refuse(n, "args of a checker must be at most 1000 bytes as JSON")
		b = nil
	}
	return testcases.Rule{Checker: judge.CheckerSpec{Name: testcases.CustomChecker, Args: []string{string(b)}}, Program: p}
}

// plain is the checker, or its arguments, as values of JSON.
func (r *reader) plain(n *yaml.Node, args *values) any {
	p := plainer{left: maxKeys}
	var value any
	if args == nil {
		value = p.value(n, 0)
	} else {
		all := map[string]any{}
		for _, key := range args.order {
			all[args.own[key].key.Value] = p.value(args.own[key].value, 1)
		}
		value = all
	}
	if p.left < 0 {
		r.doc.Refuse(n, "a checker must have at most %d values, with what aliases stand for", maxKeys)
	}
	return value
}

// plainer writes out aliases, which may be many in each other, up to a bound.
type plainer struct{ left int }

func (p *plainer) value(n *yaml.Node, depth int) any {
	n = resolve(n)
	if p.left--; p.left < 0 || depth > maxMerges {
		return nil
	}
	switch {
	case n.Kind == yaml.SequenceNode:
		all := []any{}
		for _, one := range n.Content {
			if p.left >= 0 {
				all = append(all, p.value(one, depth+1))
			}
		}
		return all
	case n.Kind == yaml.MappingNode:
		all := map[string]any{}
		for i := 0; i+1 < len(n.Content) && p.left >= 0; i += 2 {
			all[n.Content[i].Value] = p.value(n.Content[i+1], depth+1)
		}
		return all
	case n.Tag == "!!null":
		return nil
	case n.Tag == "!!bool":
		return strings.EqualFold(n.Value, "true")
	case (n.Tag == "!!int" || n.Tag == "!!float") && json.Valid(bytes.TrimSpace([]byte(n.Value))):
		return json.Number(n.Value)
	}
	return n.Value
}

// named reads a checker of DMOJ's with its arguments.
func (r *reader) named(n *yaml.Node, name string, args *values) judge.CheckerSpec {
	spec := judge.CheckerSpec{Name: "dmoj/" + name}
	known := []string{"feedback"}
	word := func(key string, absent bool, word string) {
		known = append(known, key)
		if args.truth(key, absent) != absent {
			spec.Args = append(spec.Args, word)
		}
	}
	switch name {
	case "standard", "easy", "unordered":
	case "floats", "floatsabs", "floatsrel":
		known = append(known, "precision", "error_mode")
		if args.get("precision") != nil {
			spec.Args = append(spec.Args, fmt.Sprintf("precision=%d", args.count("precision", 6, 0, 300)))
		}
		switch mode := args.text("error_mode"); {
		case mode == "" || mode == "default" || name != "floats":
		case mode == "absolute" || mode == "relative":
			spec.Name = "dmoj/floats" + mode[:3]
		default:
			r.doc.Refuse(args.get("error_mode"), "error_mode must be default, absolute or relative, is %.64q", mode)
		}
	case "identical":
		word("pe_allowed", true, "no_pe")
	case "linecount":
		word("feedback", true, "no_feedback")
	case "rstripped":
		word("filter_new_line", false, "filter_new_line")
	case "sorted":
		known = append(known, "split_on")
		switch split := args.text("split_on"); split {
		case "", "lines":
		case "whitespace":
			spec.Name = "dmoj/unordered"
		default:
			r.doc.Refuse(args.get("split_on"), "split_on must be lines or whitespace, is %.64q", split)
		}
	case "linematches":
		known = append(known, "point_distribution")
		word("filler_lines_required", true, "filler_lines_optional")
		if list := args.list("point_distribution"); list != nil {
			spec.Args = append(spec.Args, "points="+strings.Join(list, ","))
		}
	default:
		r.doc.Refuse(n, "checker %.64q is not known: DMOJ has standard, easy, floats, floatsabs, floatsrel, identical, linecount, "+
			"linematches, rstripped, sorted, unordered and bridged", name)
		return spec
	}
	args.only("the checker "+name, known...)
	if _, faults := testcases.ParseChecker(spec); len(faults) > 0 {
		r.doc.Refuse(n, "checker %s: %v", name, judge.Refuse(faults...))
	}
	return spec
}
