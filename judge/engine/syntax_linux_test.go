package engine_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

// source is a program in a language: one file, or several.
func source(language string, files ...string) judge.Submission {
	sub := judge.Submission{ID: "s", Language: language}
	for i := 0; i < len(files); i += 2 {
		sub.Files = append(sub.Files, judge.File{Name: files[i], Data: []byte(files[i+1])})
	}
	return sub
}

// What an interpreter cannot read is CE with what it says, whatever of the program is
// odd but works is not, and a program that ends wrongly for another reason is RTE.
func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	const ce, ac, rte = judge.CompileError, judge.Accepted, judge.RuntimeError
	for name, c := range map[string]struct {
		sub  judge.Submission
		want judge.Verdict
		log  string
	}{
		"python open":         {source("python3", "main.py", "x = (\n"), ce, `File "main.py", line 1`},
		"python indent":       {source("python3", "main.py", "if 1:\nprint(3)\n"), ce, "IndentationError"},
		"python tabs":         {source("python3", "main.py", "if 1:\n\tx = 1\n        y = 2\n"), ce, "TabError"},
		"python not utf-8":    {source("python3", "main.py", "x = '\xff'\n"), ce, "utf-8"},
		"python helper":       {source("python3", "main.py", "import aid\n", "aid.py", "def f(:\n"), ce, `File "aid.py", line 1`},
		"python latin-1":      {source("python3", "main.py", "# coding: latin-1\nx = '\xff'\nprint(3)\n"), ac, ""},
		"python bom, crlf":    {source("python3", "main.py", "\xef\xbb\xbfprint(\r\n3)\r\n"), ac, ""},
		"python form feed":    {source("python3", "main.py", "#!/usr/bin/python3\n\x0cprint(3)"), ac, ""},
		"python warning":      {source("python3", "main.py", "print(3 if 1 is 1 else '\\d')\n"), ac, ""},
		"python caught":       {source("python3", "main.py", "try: import aid\nexcept SyntaxError: print(3)\n", "aid.py", "def f(:\n"), ac, ""},
		"python evaluates":    {source("python3", "main.py", "eval('(')\n"), rte, ""},
		"python says so":      {source("python3", "main.py", "raise SyntaxError('no')\n"), rte, ""},
		"python fails":        {source("python3", "main.py", "print(3)\n1 / 0\n"), rte, ""},
		"pypy":                {source("pypy3", "main.py", "x = (\n"), ce, `File "main.py", line 1`},
		"javascript":          {source("javascript", "main.js", "let x = ;\n"), ce, "main.js:1"},
		"javascript helper":   {source("javascript", "main.js", "require('./aid.js')\n", "aid.js", "}\n"), ce, "aid.js:1"},
		"javascript module":   {source("javascript", "main.mjs", "import fs from 'fs';\nconsole.log(await 3);\n"), ac, ""},
		"javascript return":   {source("javascript", "main.js", "#!/usr/bin/node\nconsole.log(3); return;\n"), ac, ""},
		"javascript json":     {source("javascript", "main.js", "JSON.parse('{')\n"), rte, ""},
		"javascript deep":     {source("javascript", "main.js", "console.log(3"+strings.Repeat(",[", 3000)+strings.Repeat("]", 3000)+".length * 0 || '')\n"), ac, ""},
		"bash":                {source("bash", "main.sh", "echo 3\nif true; then\n"), ce, "main.sh: line"},
		"bash arithmetic":     {source("bash", "main.sh", "echo $((1 +)); exit 1\n"), rte, ""},
		"bash ends before":    {source("bash", "main.sh", "echo 3\nexit 0\nif true; then\n"), ac, ""},
		"perl":                {source("perl", "main.pl", "my $x = ;\n"), ce, "syntax error at main.pl line 1"},
		"perl strict":         {source("perl", "main.pl", "use strict; $x = 1;\n"), ce, "Global symbol"},
		"perl reads at BEGIN": {source("perl", "main.pl", "BEGIN { my $l = <STDIN>; die 'no' unless defined $l; } print 3;\n"), ac, ""},
		"perl helper":         {source("perl", "main.pl", "use Aid; print Aid::three();\n", "Aid.pm", "package Aid; sub three { 3 } 1;\n"), ac, ""},
		"perl dies at BEGIN":  {source("perl", "main.pl", "BEGIN { exit 3 }\n"), rte, ""},
		"perl ends at check":  {source("perl", "main.pl", "BEGIN { exit 1 if $^C }\nprint STDERR \"x compilation aborted at x line 1.\\n\"; exit 1;\n"), rte, ""},
		"perl other place":    {source("perl", "main.pl", "BEGIN { die 'no' if $^C }\nprint STDERR \"x compilation aborted at x line 1.\\n\"; exit 1;\n"), rte, ""},
		"perl lacks a module": {source("perl", "main.pl", "use Nope; print 3;\n"), ce, "BEGIN failed"},
		"lisp at check":       {source("commonlisp", "main.lisp", "(eval-when (:compile-toplevel) (exit :code 1 :abort t))\n#.(progn (format *error-output* \"READ error during LOAD~%\") (exit :code 1))\n"), rte, ""},
		"lisp closes":         {source("commonlisp", "main.lisp", "(require :sb-posix)\n(sb-posix:getpid))\n"), ce, "unmatched close"},
		"racket ends at check": {source("racket", "main.rkt",
			"#lang racket/base\n(require (for-syntax racket/base))\n(begin-for-syntax (when (= 1 (vector-length (current-command-line-arguments))) (exit 1)))\n(exit 1)\n"), rte, ""},
		"racket form":     {source("racket", "main.rkt", "#lang racket/base\n(if 1)\n"), ce, "if: "},
		"ruby":            {source("ruby", "main.rb", "puts \"abc\n"), ce, "main.rb:1"},
		"ruby fails":      {source("ruby", "main.rb", "eval '('\n"), rte, ""},
		"lua":             {source("lua", "main.lua", "x = = 2\n"), ce, "main.lua:1"},
		"lua fails":       {source("lua", "main.lua", "error('x')\n"), rte, ""},
		"php":             {source("php", "main.php", "<?php $x = ;\n"), ce, "Parse error"},
		"php fails":       {source("php", "main.php", "<?php throw new Exception('x');\n"), rte, ""},
		"awk":             {source("awk", "main.awk", "BEGIN { print 3\n"), ce, "main.awk:1"},
		"r":               {source("r", "main.R", "cat(3)\ny <- )\n"), ce, "unexpected ')'"},
		"lisp":            {source("commonlisp", "main.lisp", "(print 3\n"), ce, "end of file"},
		"lisp reads late": {source("commonlisp", "main.lisp", "(require :sb-posix)\n(when (sb-posix:getpid) (print 3))\n"), ac, ""},
		"lisp fails":      {source("commonlisp", "main.lisp", "(require :sb-posix)\n(error \"x\")\n"), rte, ""},
		"racket":          {source("racket", "main.rkt", "#lang racket/base\n(display 3\n"), ce, "expected a `)`"},
		"elixir":          {source("elixir", "main.exs", "IO.puts(3\n"), ce, "TokenMissingError"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &testcases.Problem{Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{
				caseOf("secret/1", "1\n", "3\n"),
			}}}}
			if err := p.Seal(); err != nil {
				t.Fatal(err)
			}
			var compiled []*judge.Compile
			out, err := e.Judge(t.Context(), engine.Job{Problem: p, Submission: c.sub}, engine.Watcher{
				Compiled: func(c *judge.Compile) { compiled = append(compiled, c) },
			})
			var failed *judge.Failed
			if errors.As(err, &failed) && failed.Kind == judge.FailToolchain {
				t.Skipf("missing: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			j := &out.Judgement
			if *j.Verdict != c.want {
				t.Fatalf("got %s, want %s: %+v %s", *j.Verdict, c.want, j.Cases, out.CompileLog)
			}
			if c.want != ce {
				if j.Compile != nil || len(j.Cases) != 1 {
					t.Errorf("compile part %+v, %d cases", j.Compile, len(j.Cases))
				}
				return
			}
			if len(j.Cases) > 0 || len(out.Outputs) > 0 || *j.Score != 0 {
				t.Errorf("CE with cases %+v, outputs %v, score %v", j.Cases, out.Outputs, *j.Score)
			}
			if len(compiled) != 1 || compiled[0].Verdict != ce || !strings.Contains(string(out.CompileLog), c.log) {
				t.Errorf("told %+v, log %q, want %q in it", compiled, out.CompileLog, c.log)
			}
			if strings.Contains(string(out.CompileLog), os.TempDir()+"/") {
				t.Errorf("log names a directory of ours: %q", out.CompileLog)
			}
		})
	}
}
