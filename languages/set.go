package languages

import (
	"path"
	"slices"
	"strings"

	"judgefarm/judge"
)

// Set is the languages of one configuration, whether this host has their
// toolchains or not. It is immutable and safe for concurrent use.
type Set struct {
	all  []*Language // by id
	byID map[string]*Language
	dir  string

	bySystem map[systemID]*Language
}

// Find returns the language with an id or alias. Ids are matched exactly.
func (s *Set) Find(idOrAlias string) (*Language, bool) {
	l, ok := s.byID[idOrAlias]
	return l, ok
}

// ForFile tells the language of a file by its suffix: among those that list the
// longest matching suffix the one with the lowest rank, then the first by id.
func (s *Set) ForFile(name string) (*Language, bool) { return s.ForSource(name, nil) }

// ForSource is ForFile of a file whose content is known: among the languages with
// the longest matching suffix one whose Signature the content has comes first.
func (s *Set) ForSource(name string, data []byte) (*Language, bool) {
	base := path.Base(name)
	var best *Language
	var length int
	var signed bool // best has its signature in data
	for _, l := range s.all {
		for _, suffix := range l.Suffix {
			if !strings.HasSuffix(base, suffix) || base == suffix || len(suffix) < length {
				continue
			}
			has := l.Signature != nil && l.Signature.Match(data)
			if len(suffix) > length || has && !signed || has == signed && l.Rank < best.Rank {
				best, length, signed = l, len(suffix), has
			}
		}
	}
	return best, best != nil
}

// ForFiles tells the language of a program of several files: the one that most of
// them are of, and of equals the one that comes first in files. Files of no known
// suffix do not count.
func (s *Set) ForFiles(files []judge.File) (*Language, bool) {
	var best *Language
	count := map[*Language]int{}
	for _, f := range files {
		if l, ok := s.ForSource(f.Name, f.Data); ok {
			count[l]++
		}
	}
	for _, f := range files {
		if l, ok := s.ForSource(f.Name, f.Data); ok && count[l] > count[best] {
			best = l
		}
	}
	return best, best != nil
}

// All lists the languages by id.
func (s *Set) All() []*Language { return slices.Clone(s.all) }

// Dir is the operator's directory that the set was loaded from, "" for none.
func (s *Set) Dir() string { return s.dir }
