package sandbox

import (
	"sort"
	"strings"
)

// A level without a mount namespace shows files where they lie. moves says where the
// box's paths are on the host, the longest first, so that programs can be told.
type moves []move

type move struct{ box, host string }

// movesOf are those of a run whose own directories are given.
func movesOf(work, tmp string, mounts []Mount) moves {
	m := moves{{WorkDir, work}, {"/tmp", tmp}}
	for _, b := range mounts {
		if b.Source != b.Target {
			m = append(m, move{b.Target, b.Source})
		}
	}
	sort.SliceStable(m, func(i, j int) bool { return len(m[i].box) > len(m[j].box) })
	return m
}

// text returns s with every path of the box in it replaced: where the box's path is
// written as a whole path or as the beginning of a longer one ("/exe", "-cp=/exe/a:/exe/b",
// "cat /work/x"), but not as the end of one ("/usr/work") or of a word ("-I/exe").
func (m moves) text(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '/' && (i == 0 || !partOfPath(s[i-1])) {
			if mv, ok := m.at(s[i:]); ok {
				out.WriteString(mv.host)
				i += len(mv.box)
				continue
			}
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String()
}

func (m moves) texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = m.text(s)
	}
	return out
}

// at finds the move whose path s begins with.
func (m moves) at(s string) (move, bool) {
	for _, mv := range m {
		if rest, ok := strings.CutPrefix(s, mv.box); ok && (rest == "" || rest[0] == '/' || !partOfPath(rest[0])) {
			return mv, true
		}
	}
	return move{}, false
}

func partOfPath(c byte) bool {
	return c == '/' || c == '.' || c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
