// Package manifest reads the files that describe a problem package: the listing of
// a folder from strangers, files of bounded size, YAML with line numbers, and the
// faults found, all told at once. It knows no format of packages and runs nothing.
package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"judgefarm/judge"
)

// Bounds of a package.
const (
	maxFaults = 200     // reported; a package with more is told so
	maxFiles  = 200_000 // in one package
	maxLinks  = 32      // from a link to what it finally means
	maxLinked = 10_000  // links to folders that are followed: 32 folders with two links each to the next are 2^32 names
	maxTold   = 10_000  // faults, and notes, that are kept; the others are counted
	maxRead   = 256 << 20
)

// Folder is a package on disk while it is read. Names are relative to it, with
// slashes. It is not safe for concurrent use.
type Folder struct {
	Dir    string // absolute, links resolved
	files  map[string]int64
	names  []string          // of files, in byte order
	target map[string]string // of links to files of the package: the path on disk
	read   map[string][]byte // what Read returned
	left   int64             // bytes that may still be kept in memory
	faults []*judge.FieldError
	notes  []Note
	linked int             // links to folders so far
	within map[string]bool // folders of the disk that are being walked
	untold int             // faults beyond maxTold
	more   int             // notes beyond it
	err    error           // the first that is no fault of the package
}

// Note is something odd that a reader could go on with.
type Note struct{ File, Text string }

// Options say how a folder is listed.
type Options struct {
	// Skip reports whether a file or folder of this base name is no part of the package.
	Skip func(base string) bool
	// Links follows symbolic links whose target is a file or folder of the package;
	// without it, and for any other target, they are faults.
	Links bool
	// Ignore reports whether a file of this name, relative to the package, is nobody's
	// business: a link there that leads nowhere or out is no fault.
	Ignore func(name string) bool
}

// Open lists the package in dir. Devices, pipes and links that lead out are faults,
// which Refusal tells; the error is ours.
func Open(dir string, opt Options) (*Folder, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fmt.Errorf("open problem: %w", err)
	}
	f := &Folder{Dir: abs, files: map[string]int64{}, target: map[string]string{}, read: map[string][]byte{}, within: map[string]bool{}, left: maxRead}
	if opt.Skip == nil {
		opt.Skip = func(string) bool { return false }
	}
	if opt.Ignore == nil {
		opt.Ignore = opt.Skip
	}
	if err := f.list(abs, "", opt, 0); err != nil {
		return nil, err
	}
	f.names = slices.Sorted(maps.Keys(f.files))
	return f, nil
}

// list walks one directory of the disk, which is the folder prefix of the package.
func (f *Folder) list(dir, prefix string, opt Options, links int) error {
	if f.within[dir] {
		f.Refuse(prefix, "is a link in a circle")
		return nil
	}
	f.within[dir] = true
	defer delete(f.within, dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("open problem: %w", err)
	}
	for _, e := range entries {
		name := path.Join(prefix, e.Name())
		if opt.Skip(e.Name()) {
			continue
		}
		if len(f.files) >= maxFiles {
			f.Refuse("package", "holds more than %d files", maxFiles)
			return nil
		}
		if err := f.entry(filepath.Join(dir, e.Name()), name, e.Type(), opt, links); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) entry(at, name string, mode fs.FileMode, opt Options, links int) error {
	if mode&fs.ModeSymlink != 0 {
		if !opt.Links {
			f.Refuse(name, "must be a regular file, is a link")
			return nil
		}
		return f.link(at, name, opt, links)
	}
	switch {
	case mode.IsDir():
		return f.list(at, name, opt, links)
	case !mode.IsRegular():
		f.Refuse(name, "must be a regular file, is a device, pipe or socket")
		return nil
	}
	info, err := os.Lstat(at)
	if err != nil {
		return fmt.Errorf("open problem: %w", err)
	}
	f.files[name] = info.Size()
	if at != f.onDisk(name) {
		f.target[name] = at
	}
	return nil
}

// link follows a link that stays in the package.
func (f *Folder) link(at, name string, opt Options, links int) error {
	to, err := filepath.EvalSymlinks(at)
	outside := err != nil || to != f.Dir && !strings.HasPrefix(to, f.Dir+string(filepath.Separator))
	switch {
	case outside && opt.Ignore(name):
		return nil
	case err != nil:
		f.Refuse(name, "is a link to what is not there")
		return nil
	case to != f.Dir && !strings.HasPrefix(to, f.Dir+string(filepath.Separator)):
		f.Refuse(name, "is a link that leads out of the package")
		return nil
	case links >= maxLinks || strings.HasPrefix(at, to+string(filepath.Separator)):
		f.Refuse(name, "is a link in a circle")
		return nil
	}
	info, err := os.Lstat(to)
	if err != nil {
		return fmt.Errorf("open problem: %w", err)
	}
	if info.IsDir() {
		f.linked++
		switch {
		case f.linked == maxLinked+1:
			f.Refuse("package", "has links that lead to folders more than %d times", maxLinked)
			return nil
		case f.linked > maxLinked:
			return nil
		}
	}
	return f.entry(to, name, info.Mode().Type(), opt, links+1)
}

func (f *Folder) onDisk(name string) string { return filepath.Join(f.Dir, filepath.FromSlash(name)) }

// Path is where a file of the package is on disk.
func (f *Folder) Path(name string) string {
	if to := f.target[name]; to != "" {
		return to
	}
	return f.onDisk(name)
}

// Has reports whether the package has this file.
func (f *Folder) Has(name string) bool { _, ok := f.files[name]; return ok }

// HasFolder reports whether the package has a file below this folder.
func (f *Folder) HasFolder(name string) bool { return len(f.below(name+"/")) > 0 }

// Names lists the files in byte order.
func (f *Folder) Names() []string { return slices.Clone(f.names) }

// Below lists the files below a folder, in byte order of their whole names.
func (f *Folder) Below(folder string) []string { return slices.Clone(f.below(folder + "/")) }

// below is the part of names with a prefix, found by halving: readers ask for each case,
// and looking at every name each time took 20 s for 5,000 cases.
func (f *Folder) below(prefix string) []string {
	first, _ := slices.BinarySearch(f.names, prefix)
	rest := f.names[first:]
	end, _ := slices.BinarySearchFunc(rest, prefix, func(name, prefix string) int {
		if strings.HasPrefix(name, prefix) {
			return -1
		}
		return 1
	})
	return rest[:end]
}

// Children lists the base names of what lies directly in a folder ("" is the
// package), in byte order; folders are those that hold a file.
func (f *Folder) Children(folder string) (files, folders []string) {
	prefix := folder + "/"
	if folder == "" {
		prefix = ""
	}
	for all := f.below(prefix); len(all) > 0; {
		first, _, deeper := strings.Cut(all[0][len(prefix):], "/")
		if !deeper {
			files, all = append(files, first), all[1:]
			continue
		}
		folders = append(folders, first)
		all = all[len(f.below(prefix+first+"/")):]
	}
	slices.Sort(folders) // "a-b/1" comes before "a/1", and "a" before "a-b"
	return files, folders
}

// Size is that of a file of the package.
func (f *Folder) Size(name string) int64 { return f.files[name] }

// Read returns a file of at most max bytes; a larger one is a fault, and so is what
// Keep refuses. Every call gives the same bytes, which nobody may change.
func (f *Folder) Read(name string, max int64) ([]byte, bool) {
	if size := f.files[name]; size > max {
		f.Refuse(name, "must be at most %d bytes, is %d", max, size)
		return nil, false
	}
	if b, ok := f.read[name]; ok {
		return b, true
	}
	if !f.Keep(name, f.files[name]) {
		return nil, false
	}
	r, err := os.Open(f.Path(name))
	if err != nil {
		f.Fail(err)
		return nil, false
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, max))
	if err != nil {
		f.Fail(err)
		return nil, false
	}
	f.read[name] = b
	return b, true
}

// Keep counts bytes of a file that are held in memory. A package whose programs and
// texts are more than 256 MiB together is at fault, which is told once.
func (f *Folder) Keep(name string, size int64) bool {
	if size <= f.left {
		f.left -= size
		return true
	}
	if f.left >= 0 {
		f.Refuse(name, "brings what is read of the package into memory, programs and texts, to more than %d MiB", maxRead>>20)
	}
	f.left = -1
	return false
}

// Refuse adds a fault of a file.
func (f *Folder) Refuse(file, format string, args ...any) {
	if len(f.faults) >= maxTold {
		f.untold++
		return
	}
	f.faults = append(f.faults, &judge.FieldError{Field: file, Reason: fmt.Sprintf(format, args...)})
}

// Note adds what is odd and no fault.
func (f *Folder) Note(file, format string, args ...any) {
	if len(f.notes) >= maxTold {
		f.more++
		return
	}
	f.notes = append(f.notes, Note{file, fmt.Sprintf(format, args...)})
}

// Notes returns them by file.
func (f *Folder) Notes() []Note {
	slices.SortStableFunc(f.notes, func(a, b Note) int { return cmp.Compare(a.File, b.File) })
	if f.more > 0 {
		f.notes, f.more = append(f.notes, Note{"", fmt.Sprintf("and %d notes more", f.more)}), 0
	}
	return f.notes
}

// Fail keeps the first error that is ours and no fault of the package.
func (f *Folder) Fail(err error) {
	if f.err == nil && err != nil {
		f.err = fmt.Errorf("open problem: %w", err)
	}
}

// Faults is how many there are.
func (f *Folder) Faults() int { return len(f.faults) + f.untold }

// Refusal is nil, an error of ours, or a *judge.BadRequest of every fault, sorted by
// file, so that one package always gives one text.
func (f *Folder) Refusal() error {
	if len(f.faults) == 0 {
		return f.err
	}
	slices.SortFunc(f.faults, func(a, b *judge.FieldError) int {
		return cmp.Or(Natural(a.Field, b.Field), Natural(a.Reason, b.Reason))
	})
	if more := f.Faults() - maxFaults; more > 0 {
		f.faults = append(f.faults[:maxFaults], &judge.FieldError{Reason: fmt.Sprintf("and %d faults more", more)})
	}
	return errors.Join(judge.Refuse(f.faults...), f.err)
}
