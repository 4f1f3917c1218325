package dmoj

import (
	"strconv"
	"strings"

	shellquote "github.com/kballard/go-shellquote"

	"judgefarm/testcases"
)

// readValidator reads the program that looks at inputs. It is called with what its
// type says of batch and case, reads the input, and exits with 0 where that is valid.
func (r *reader) readValidator() {
	n := r.top.get("validator")
	if n == nil {
		return
	}
	conf := r.open(r.doc, n, "validator", nil)
	conf.only("validator", "source", "language", "time_limit", "memory_limit", "compiler_time_limit", "type", "args_format_string",
		"read_feedback_from")
	p := r.program(n, conf.list("source"), conf.get("language"), nil)
	if p == nil {
		return
	}
	r.helperConf(conf, p, "memory_limit")
	p.Protocol = testcases.ProtocolTestlib // input on standard input, 0 accepts
	call := conf.text("args_format_string")
	switch kind := conf.text("type"); {
	case kind != "" && kind != "default" && kind != "testlib":
		r.doc.Refuse(conf.get("type"), "type %.64q is not known for validators: default and testlib are", kind)
	case call != "":
	case kind == "testlib":
		call = "--group st{batch_no}"
	default:
		call = "{batch_no} {case_no}"
	}
	words, err := shellquote.Split(call)
	if err != nil {
		r.doc.Refuse(conf.get("args_format_string"), "args_format_string: %v", err)
	}
	v := testcases.Validator{Program: *p, Args: map[string][]string{}}
	position := 0
	r.p.Walk(func(g *testcases.Group, c *testcases.Case) {
		batch := "0"
		if rest, ok := strings.CutPrefix(g.Name, "batch"); ok {
			batch = rest
		}
		fill := strings.NewReplacer("{batch_no}", batch, "{case_no}", strconv.Itoa(position))
		var args []string
		for _, w := range words {
			args = append(args, fill.Replace(w))
		}
		v.Args[c.Name] = args
		position++
	})
	r.p.Jury.Validators = append(r.p.Jury.Validators, v)
}
