package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// file is what the rules need to know of one Go file.
type file struct {
	name    string // slash-separated, from the root of the tree
	pkg     string // its folder
	lines   int
	test    bool // _test.go
	script  bool // //go:build ignore
	comment bool // has a package comment
	imports []imported
	inits   []int // lines of init functions
}

type imported struct {
	path string
	name string // "", "_", "." or an alias
	line int
}

// load parses every Go file of the tree, whatever its build constraints, except
// below testdata and folders that the go command skips too, and scripts for "go run",
// which are marked by the constraint "ignore" and are part of no package.
func load(tree fs.FS) ([]file, error) {
	var files []file
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && skipped(d.Name(), name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		f, err := parse(tree, name)
		if err == nil && !f.script {
			files = append(files, f)
		}
		return err
	})
	return files, err
}

func skipped(base, name string) bool {
	return base[0] == '.' || base[0] == '_' || base == "testdata" || base == "node_modules" ||
		name == "bin" || name == "tmp" || name == "tools"
}

func parse(tree fs.FS, name string) (file, error) {
	src, err := fs.ReadFile(tree, name)
	if err != nil {
		return file{}, err
	}
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return file{}, fmt.Errorf("parse: %w", err)
	}
	f := file{
		name: name, pkg: path.Dir(name), lines: bytes.Count(src, []byte("\n")),
		test: strings.HasSuffix(name, "_test.go"), comment: syntax.Doc != nil && syntax.Doc.Text() != "",
	}
	for _, comment := range syntax.Comments {
		for _, line := range comment.List {
			f.script = f.script || line.Pos() < syntax.Package && line.Text == "//go:build ignore"
		}
	}
	for _, spec := range syntax.Imports {
		at := imported{line: set.Position(spec.Pos()).Line}
		if at.path, err = strconv.Unquote(spec.Path.Value); err != nil {
			return file{}, err
		}
		if spec.Name != nil {
			at.name = spec.Name.Name
		}
		f.imports = append(f.imports, at)
	}
	for _, decl := range syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			f.inits = append(f.inits, set.Position(fn.Pos()).Line)
		}
	}
	return f, nil
}
