package testcases

import (
	"path/filepath"

	"judgefarm/internal/manifest"
)

// SealFolder ends the reading of a package from a folder: the refusal of all its
// faults, or the problem sealed, with the folder's notes, and its name where it may be
// a problem's.
func (p *Problem) SealFolder(f *manifest.Folder) error {
	if err := f.Refusal(); err != nil {
		return err
	}
	for _, n := range f.Notes() {
		p.Jury.Notes = append(p.Jury.Notes, Finding{File: n.File, Text: n.Text})
	}
	if err := p.Seal(); err != nil {
		return err
	}
	if base := filepath.Base(f.Dir); CheckName(base) == "" {
		p.ID = base
	}
	return nil
}
