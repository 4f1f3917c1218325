package languages

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Package is one Debian package of a root, as its archive's index names it.
type Package struct{ Name, Version, Architecture, SHA256 string }

// Lock is all packages of a root, by name.
type Lock []Package

// ParseLock reads a lock file: a line "name version architecture sha256" for each
// package; empty lines and those that start with # do not count.
func ParseLock(text []byte) (Lock, error) {
	var lock Lock
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		if len(words) != 4 || len(words[3]) != 64 {
			return nil, fmt.Errorf("line %d: must be: name version architecture sha256", i+1)
		}
		lock = append(lock, Package{words[0], words[1], words[2], words[3]})
	}
	return lock, nil
}

// ParseControl reads the records that apt-cache show prints, deb822(5).
func ParseControl(text []byte) Lock {
	var lock Lock
	for record := range strings.SplitSeq(string(text), "\n\n") {
		var p Package
		for line := range strings.Lines(record) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch name {
			case "Package":
				p.Name = value
			case "Version":
				p.Version = value
			case "Architecture":
				p.Architecture = value
			case "SHA256":
				p.SHA256 = value
			}
		}
		if p.Name != "" && !slices.Contains(lock, p) {
			lock = append(lock, p)
		}
	}
	slices.SortFunc(lock, func(a, b Package) int { return strings.Compare(a.Name, b.Name) })
	return lock
}

// Bytes is the lock as a file.
func (l Lock) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString("# name version architecture sha256, of every package of the root\n")
	for _, p := range l {
		fmt.Fprintln(&b, p.Name, p.Version, p.Architecture, p.SHA256)
	}
	return b.Bytes()
}

// Differences tells in lines how other differs from l.
func (l Lock) Differences(other Lock) []string {
	var lines []string
	for _, p := range l {
		if !slices.Contains(other, p) {
			lines = append(lines, fmt.Sprintf("locked, and not built: %s %s %s", p.Name, p.Version, p.SHA256))
		}
	}
	for _, p := range other {
		if !slices.Contains(l, p) {
			lines = append(lines, fmt.Sprintf("built, and not locked: %s %s %s", p.Name, p.Version, p.SHA256))
		}
	}
	return lines
}
