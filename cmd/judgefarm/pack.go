package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"judgefarm/internal/daemon"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

type packCmd struct {
	Package string `arg:"" name:"package" help:"Package in any format: a directory, or an archive of one." type:"path"`
	Output  string `help:"File to write; by default the problem's name and .judgefarm.tar.gz, here." short:"o" type:"path" placeholder:"FILE"`
	JSON    bool   `help:"Print what was written as JSON." name:"json"`
	packageFlags
	limitsFlag
}

// packedFile is what pack says of the file that it wrote.
type packedFile struct {
	File    string `json:"file"`
	Bytes   int64  `json:"bytes"`
	Package string `json:"package"` // of the file
	Problem string `json:"problem"` // of what is judged
	Format  string `json:"format"`  // that the package was written in
}

// Run writes the packed form of a problem: the same file for the same problem.
func (c *packCmd) Run(env *daemon.Env) error {
	dir, err := os.MkdirTemp("", "judgefarm-pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := openPackage(c.limited(c.options()), "<package>", c.Package, filepath.Join(dir, "unpacked"))
	if err != nil {
		return err
	}
	output := c.Output
	if output == "" {
		if p.ID == "" {
			return daemon.Usage("--output: the package's name cannot be a problem's; state the file")
		}
		output = p.ID + ".judgefarm.tar.gz"
	}
	out := packedFile{File: output, Problem: p.Digest, Format: p.Format}
	if out.Package, out.Bytes, err = writePacked(p, output); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.Stdout, out)
	}
	_, err = fmt.Fprintf(env.Stdout, "%s: %d bytes\npackage %s\nproblem %s\n", out.File, out.Bytes, out.Package, out.Problem)
	return err
}

// writePacked makes the file appear with all of its content, and tells its digest.
func writePacked(p *testcases.Problem, path string) (digest string, size int64, err error) {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return "", 0, daemon.Usage("--output: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path+".tmp"))
		}
	}()
	h := sha256.New()
	if err := format.PackProblem(p, io.MultiWriter(f, h)); err != nil {
		return "", 0, errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return "", 0, err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return "", 0, daemon.Usage("--output: %w", err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), info.Size(), nil
}

// openPackage opens a package that a flag names. An archive is unpacked into dir, which
// is made, so that its size does not matter. The problem's ID is the package's name
// where that can be one.
func openPackage(opt format.Options, flag, path, dir string) (*testcases.Problem, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, daemon.Usage("%s: %w", flag, err)
	}
	if err != nil || !info.Mode().IsRegular() { // which Open tells apart
		return opt.Open(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, daemon.Usage("%s: %w", flag, err)
	}
	defer f.Close()
	if opt.Code == "" {
		opt.Code = archiveID(path)
	}
	p, err := opt.OpenArchive(f, info.Size(), dir)
	if err != nil {
		return nil, err
	}
	p.ID = archiveID(path)
	return p, nil
}

// archiveID is the name of an archive without its endings, or "" where that is no
// problem's name.
func archiveID(path string) string {
	id := filepath.Base(path)
	for _, suffix := range []string{".zip", ".tgz", ".gz", ".tar", ".judgefarm"} {
		id = strings.TrimSuffix(id, suffix)
	}
	if testcases.CheckName(id) != "" {
		return ""
	}
	return id
}

// packedOf packs a problem into a file of dir, for sending it.
func packedOf(p *testcases.Problem, dir string) (*os.File, int64, error) {
	path := filepath.Join(dir, "packed")
	if _, _, err := writePacked(p, path); err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}
