package polygon

import (
	"path"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"judgefarm/testcases"
)

// readExecutables notes what commands may call: sources, by name without suffix.
func (r *reader) readExecutables() {
	for _, e := range r.root.at("files", "executables").all("executable") {
		s := e.at("source")
		if s == nil {
			continue
		}
		r.used[s.attr("path")] = true
		name := stem(s.attr("path"))
		if r.generators[name] == nil {
			r.generators[name] = s
		}
	}
}

func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// command makes a recipe of a test's command: programs with arguments, each of which
// may read what the one before it prints. A generator that writes several tests at one
// time writes files; from-file, or the number of the test, says which is this one's.
func (r *reader) command(t *node, cmd string, index int) *testcases.Recipe {
	stages, file, writes := split(cmd)
	var made *testcases.Recipe
	for _, stage := range stages {
		words, err := shellquote.Split(stage)
		if err != nil || len(words) == 0 {
			r.refuse(t, "cmd %.200q of test %d is no command", cmd, index)
			return nil
		}
		p := r.generator(t, words[0], index)
		if p == nil {
			return nil
		}
		made = &testcases.Recipe{Program: p, Args: words[1:], Stdin: made}
	}
	switch from := t.attr("from-file"); {
	case from != "":
		made.Output = path.Base(strings.ReplaceAll(from, `\`, "/"))
	case writes && strings.HasPrefix(file, "{"): // {3-7,9}: the numbers of the tests
		made.Output = strconv.Itoa(index)
	}
	return made
}

// split takes a command apart at | outside of quotes, and from what follows >.
func split(cmd string) (stages []string, file string, writes bool) {
	quote, begin := byte(0), 0
	for i := 0; i < len(cmd); i++ {
		switch c := cmd[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '|':
			stages = append(stages, cmd[begin:i])
			begin = i + 1
		case c == '>':
			return append(stages, cmd[begin:i]), strings.TrimSpace(cmd[i+1:]), true
		}
	}
	return append(stages, cmd[begin:]), "", false
}

// generator is the program that a command calls.
func (r *reader) generator(t *node, called string, index int) *testcases.Program {
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(called, `\`, "/")), ".exe")
	s := r.generators[name]
	if s == nil {
		r.refuse(t, "test %d is made by %.64q, which is none of the <executables>", index, called)
		return nil
	}
	if p, known := r.programs[name]; known {
		return p
	}
	p := r.program(s, testcases.ProtocolPlain, true)
	r.programs[name] = p
	return p
}
