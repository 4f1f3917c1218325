package sandbox

import "testing"

func TestMoves(t *testing.T) {
	t.Parallel()
	m := movesOf("/h/work", "/h/tmp", []Mount{{Source: "/cache/ab", Target: "/exe"}, {Source: "/usr/lib/x", Target: "/usr/lib/x"}, {Source: "/data", Target: "/exe/data"}})
	for in, want := range map[string]string{
		"":                        "",
		"/exe":                    "/cache/ab",
		"/exe/prog":               "/cache/ab/prog",
		"/exe/data/1":             "/data/1",
		"/exe/database":           "/cache/ab/database",
		"/executive":              "/executive",
		"/exe.old":                "/exe.old",
		"/usr/exe":                "/usr/exe",
		"./exe":                   "./exe",
		"-cp=/exe/a:/exe/b:/work": "-cp=/cache/ab/a:/cache/ab/b:/h/work",
		"HOME=/work":              "HOME=/h/work",
		"cat /work/x > /tmp/y":    "cat /h/work/x > /h/tmp/y",
		"-I/exe":                  "-I/exe",
		"print('/work')":          "print('/h/work')",
		"/tmp/../work":            "/h/tmp/../work",
		"/usr/lib/x/y":            "/usr/lib/x/y",
		"http://work/exe":         "http://work/exe",
		"GOCACHE=/tmp/go,/tmp":    "GOCACHE=/h/tmp/go,/h/tmp",
	} {
		if got := m.text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
