package artifacts

import (
	"fmt"
	"strings"

	"judgefarm/internal/blob"
)

// Case names longer than longName in a key are cut to shortName and told apart by
// their digest, so that keys stay within the bounds of blob.Store.
const (
	longName  = 200
	shortName = 100
)

// CaseKey writes a case's name as parts of a key; different names never give the
// same key, nor one below another's objects. Plain names such as sample/1 stay as
// they are. A byte that keys do not allow, "=", a dot that begins a part, and the
// first letter of a part that is called like an object here become "=" and two hex
// digits; an empty part becomes "=". "==" begins the digest of a long name.
func CaseKey(name string) string {
	var key strings.Builder
	for i, part := range strings.Split(name, "/") {
		if i > 0 {
			key.WriteByte('/')
		}
		escapePart(&key, part)
	}
	if key.Len() <= longName {
		return key.String()
	}
	return strings.Trim(key.String()[:shortName], "/") + "==" + blob.Digest([]byte(name))
}

func escapePart(key *strings.Builder, part string) {
	if part == "" {
		key.WriteByte('=')
		return
	}
	object, _, _ := strings.Cut(part, ".")
	taken := Kind(object) == Stdout || Kind(object) == Stderr || Kind(object) == Dialogue
	for i := range len(part) {
		if c := part[i]; !plainByte(c) || i == 0 && (c == '.' || taken) {
			fmt.Fprintf(key, "=%02X", c)
		} else {
			key.WriteByte(c)
		}
	}
}

func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}
