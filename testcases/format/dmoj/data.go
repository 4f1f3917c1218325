package dmoj

import (
	"go.yaml.in/yaml/v3"

	"judgefarm/testcases"
)

// dataKey is a file as cases use it: as it is, or with the line ends of text.
type dataKey struct {
	name   string
	binary bool
}

// find is a file of the package or, where it has none of the name, of its archive.
func (r *reader) find(n *yaml.Node, name string, binary bool) testcases.Data {
	key := dataKey{name, binary}
	if d, ok := r.data[key]; ok {
		return d
	}
	d := r.raw(n, name)
	if d != nil && !binary {
		text, err := testcases.Text(d)
		if err != nil {
			r.Fail(err)
		}
		d = text
	}
	if d == nil {
		d = testcases.BytesData(nil) // refused already; nothing more is to be said of it
	}
	r.data[key] = d
	return d
}

func (r *reader) raw(n *yaml.Node, name string) testcases.Data {
	at := clean(name)
	if at != "" && r.Has(at) {
		r.used[at] = true
		d, err := testcases.FileData(r.Path(at))
		if err != nil {
			r.Fail(err)
			return nil
		}
		return d
	}
	if r.archive == nil {
		if r.top.get("archive") == nil { // one that cannot be read is told already
			r.doc.Refuse(n, "file %.100q is not in the package, which has no archive", name)
		}
		return nil
	}
	e := r.archive.entries[name]
	if e == nil || e.FileInfo().IsDir() {
		r.doc.Refuse(n, "file %.100q is neither in the package nor in its archive %s", name, r.archive.name)
		return nil
	}
	d, err := r.take(e)
	if err != nil {
		r.Refuse(r.archive.name, "%.100q %v", name, err)
		return nil
	}
	return d
}

// fillData sets what the program reads and what it should print. An absent input or
// output is an empty one; with a generator it is what that prints on its standard
// output, and on its standard error.
func (b *builder) fillData(conf *values, c *testcases.Case, binary, linked bool) {
	in, out, gen := conf.get("in"), conf.get("out"), conf.get("generator")
	if in != nil {
		c.Input = b.find(in, conf.d.Text(in, "in"), binary)
	}
	if out != nil {
		c.Answer = b.find(out, conf.d.Text(out, "out"), binary)
	}
	if gen != nil {
		b.generate(conf, gen, c, binary, linked)
		return
	}
	for _, key := range []string{"generator_args", "generator_in"} {
		if n := conf.get(key); n != nil {
			conf.d.Refuse(n, "%s needs a generator", key)
		}
	}
	if c.Input == nil {
		c.Input = testcases.BytesData(nil)
	}
	if c.Answer == nil {
		c.Answer = testcases.BytesData(nil)
	}
}

// generate makes by the generator what the case has no file for.
func (b *builder) generate(conf *values, gen *yaml.Node, c *testcases.Case, binary, linked bool) {
	if c.Input != nil {
		for _, key := range []string{"generator_args", "generator_in"} {
			if n := conf.get(key); n != nil {
				conf.d.Refuse(n, "%s must not be beside in: either is the input", key)
			}
		}
	}
	if c.Input != nil && c.Answer != nil {
		return
	}
	program, fixed := b.generator(conf, gen)
	args := fixed
	if own := conf.list("generator_args"); own != nil {
		args = own
	}
	recipe := testcases.Recipe{Program: program, Args: args, Input: testcases.BytesData(nil)}
	if n := conf.get("generator_in"); n != nil {
		recipe.Input = b.find(n, conf.d.Text(n, "generator_in"), true)
	}
	if program == nil { // refused
		c.Input, c.Answer = testcases.BytesData(nil), testcases.BytesData(nil)
		return
	}
	if c.Input == nil {
		made := recipe
		made.Empty = true
		c.InputFrom = &made
		if linked {
			conf.d.Refuse(gen, "symlinks to /dev/stdin are not supported where a generator makes the input")
		}
	}
	if c.Answer == nil {
		made := recipe
		made.Output, made.Text = testcases.Stderr, !binary
		c.AnswerFrom = &made
	}
}
