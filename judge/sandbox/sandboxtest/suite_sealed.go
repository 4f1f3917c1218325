package sandboxtest

import (
	"errors"
	"io/fs"
	"testing"

	"judgefarm/judge/sandbox"
)

// sealed tries a work directory that is not the program's to change.
func (s suite) sealed(t *testing.T) {
	for _, c := range []struct {
		to     string
		sealed bool
		exit   int
		want   string
	}{
		{"new", true, 1, ""},
		{"kept", true, 1, "as it was"},
		{"open", true, 0, "bytes"},
		{"new", false, 0, "bytes"},
		{"kept", false, 0, "bytes"},
	} {
		rep := s.run(t, sandbox.Spec{
			Args: []string{"cp", "in", c.to}, Sealed: c.sealed,
			Files: []sandbox.File{
				{Name: "in", Data: []byte("bytes")}, {Name: "kept", Data: []byte("as it was")}, {Name: "open", Data: []byte("as it was"), Open: true},
			},
			Collect: []sandbox.Collect{{Name: c.to, Max: 100}},
		})
		expect(t, rep, sandbox.CauseExit, c.exit)
		if len(rep.Files) != 1 {
			t.Fatalf("%+v: collected %+v, want one", c, rep.Files)
		}
		f := rep.Files[0]
		if string(f.Data) != c.want || errors.Is(f.Err, fs.ErrNotExist) != (c.want == "") {
			t.Errorf("%+v: collected %q, %v, want %q", c, f.Data, f.Err, c.want)
		}
	}
}
