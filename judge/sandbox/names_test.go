package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// D37: a spec that stores or collects a name that leads astray is a bad request that
// names the field, told before there is a box.
func TestNamesThatLeadAstray(t *testing.T) {
	t.Parallel()
	bad := []string{
		"", "..", "../x", "a/../../x", "a/..", "a/../b", "./a", "a//b", "a/", "/", "/etc/passwd", "//etc/passwd", "a\x00", "\x00", "a\x00/b",
		"a\nb", "a\\b", strings.Repeat("a", 256), strings.Repeat("a/", 127) + "bc", "\xff", ".",
	}
	for _, name := range bad {
		spec := sandbox.Spec{Args: []string{"true"}, Limits: sandboxtest.Limits(),
			Files:   []sandbox.File{{Name: "ok"}, {Name: name}},
			Collect: []sandbox.Collect{{Name: "ok", Max: 1}, {Name: name, Max: 1}}}
		err := spec.Validate()
		for _, field := range []string{"files[1].name", "collect[1].name"} {
			if !judge.IsBadRequest(err) || !strings.Contains(fmt.Sprint(err), field) {
				t.Errorf("%s %q: error %v", field, name, err)
			}
		}
	}
	for _, name := range []string{"a", "a/b", "...", "..a", "a..", "-x", "a b", "ünï", strings.Repeat("a", 255)} {
		spec := sandbox.Spec{Args: []string{"true"}, Limits: sandboxtest.Limits(),
			Files: []sandbox.File{{Name: name}}, Collect: []sandbox.Collect{{Name: name, Max: 1}}}
		if err := spec.Validate(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for field, spoil := range map[string]func(*sandbox.Spec, string){
		"dir":              func(s *sandbox.Spec, p string) { s.Dir = p },
		"root":             func(s *sandbox.Spec, p string) { s.Root = p },
		"mounts[0].source": func(s *sandbox.Spec, p string) { s.Mounts = []sandbox.Mount{{Source: p, Target: "/data"}} },
		"mounts[0].target": func(s *sandbox.Spec, p string) { s.Mounts = []sandbox.Mount{{Source: "/usr", Target: p}} },
	} {
		for _, p := range []string{"relative", "../up", "/a/../b", "/a//b", "/a/", "/a\x00", "/" + strings.Repeat("a", 4000)} {
			spec := sandbox.Spec{Args: []string{"true"}, Limits: sandboxtest.Limits()}
			spoil(&spec, p)
			if err := spec.Validate(); !judge.IsBadRequest(err) || !strings.Contains(fmt.Sprint(err), field) {
				t.Errorf("%s %.40q: error %v", field, p, err)
			}
		}
	}
}
