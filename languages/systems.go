package languages

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Systems are the other systems whose names of languages a definition may list in
// ids: the numbers of Judge0, the names of Piston, SandboxFusion, DOMjudge, Kattis
// and DMOJ (executors), the source types of Polygon, the languages as the
// Codeforces API names them, and those of CMS.
func Systems() []string {
	return []string{"cms", "codeforces", "dmoj", "domjudge", "judge0", "kattis", "piston", "polygon", "sandboxfusion"}
}

// FindIn returns the language that another system calls id. Ids are matched
// exactly; no two languages share one of the same system.
func (s *Set) FindIn(system, id string) (*Language, bool) {
	l, ok := s.bySystem[systemID{system, id}]
	return l, ok
}

// systemID is a name in another system.
type systemID struct{ system, id string }

// validateIDs returns the faults of the names in other systems.
func (l *Language) validateIDs() []fault {
	var faults []fault
	for _, system := range slices.Sorted(maps.Keys(l.IDs)) {
		field := "ids." + system
		if !slices.Contains(Systems(), system) {
			faults = append(faults, fault{field, "is not known, only " + strings.Join(Systems(), ", ")})
		}
		for _, id := range l.IDs[system] {
			if id == "" || len(id) > 60 || strings.TrimSpace(id) != id {
				faults = append(faults, fault{field, "names must be 1 to 60 bytes without blanks around"})
			}
		}
	}
	return faults
}

// addSystems enters the names that other systems have for a language and returns
// those that are taken.
func (s *Set) addSystems(d source) (errs []error) {
	for _, system := range slices.Sorted(maps.Keys(d.IDs)) {
		for _, id := range d.IDs[system] {
			key := systemID{system, id}
			if first, taken := s.bySystem[key]; taken {
				errs = append(errs, fmt.Errorf("%s: ids.%s: %q is already taken by %s", d.file, system, id, first.ID))
				continue
			}
			s.bySystem[key] = d.Language
		}
	}
	return errs
}
