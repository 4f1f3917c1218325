package main

import (
	"path/filepath"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// FuzzBind: what --bind takes is a mount that a Spec takes too, or names what is
// wrong with the flag.
func FuzzBind(f *testing.F) {
	for _, seed := range []string{
		"/usr", "/usr:/data", "a:/b", "a", ":", "", "a:", ":/b", "/a:/b:/c", "/a/../..:/x/../y", "~:/x", "/a:b", "/a\x00:/b", "\xff:/\xff",
		"/a:/proc/self", "/a:/work", "/a:/", "/a://", "/a:/..", "/a:/dev/../x", strings.Repeat("/a", 3000),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := bindOf(text)
		if err != nil {
			if !strings.Contains(err.Error(), "--bind") {
				t.Errorf("%q: the error does not name the flag: %v", text, err)
			}
			return
		}
		for _, p := range []string{m.Source, m.Target} {
			if !filepath.IsAbs(p) || filepath.Clean(p) != p {
				t.Errorf("%q: %q is no clean absolute path", text, p)
			}
		}
		spec := sandbox.Spec{Args: []string{"/bin/true"}, Limits: judge.Limits{}.Complete(), Mounts: []sandbox.Mount{m}}
		err = spec.Validate()
		own := m.Target == "/"
		for _, dir := range []string{"/work", "/tmp", "/dev", "/proc"} {
			own = own || m.Target == dir || strings.HasPrefix(m.Target, dir+"/")
		}
		if odd := strings.ContainsRune(text, 0) || len(m.Source) > 4000 || len(m.Target) > 4000; (err != nil) != (own || odd) {
			t.Errorf("%q: %+v: %v", text, m, err)
		}
	})
}
