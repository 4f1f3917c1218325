package languages

import (
	"path"
	"slices"
	"strings"
)

// Set is the languages of one configuration, whether this host has their
// toolchains or not. It is immutable and safe for concurrent use.
type Set struct {
	all  []*Language // by id
	byID map[string]*Language
	dir  string
}

// Find returns the language with an id or alias. Ids are matched exactly.
func (s *Set) Find(idOrAlias string) (*Language, bool) {
	l, ok := s.byID[idOrAlias]
	return l, ok
}

// ForFile tells the language of a file by its suffix: among those that list the
// longest matching suffix the one with the lowest rank, then the first by id.
func (s *Set) ForFile(name string) (*Language, bool) {
	base := path.Base(name)
	var best *Language
	length := 0
	for _, l := range s.all {
		for _, suffix := range l.Suffix {
			if !strings.HasSuffix(base, suffix) || base == suffix {
				continue
			}
			if len(suffix) > length || len(suffix) == length && l.Rank < best.Rank {
				best, length = l, len(suffix)
			}
		}
	}
	return best, best != nil
}

// All lists the languages by id.
func (s *Set) All() []*Language { return slices.Clone(s.all) }

// Dir is the operator's directory that the set was loaded from, "" for none.
func (s *Set) Dir() string { return s.dir }
