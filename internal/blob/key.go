package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxKey is the longest key in bytes. S3 allows 1024; file names allow 255 a part.
const (
	maxKey  = 512
	maxPart = 255
)

// CheckKey refuses what is no key of a Store, with an error that wraps ErrKey.
func CheckKey(key string) error {
	if key == "" || len(key) > maxKey {
		return fmt.Errorf("%w: %d bytes long, must be 1 to %d", ErrKey, len(key), maxKey)
	}
	for part := range strings.SplitSeq(key, "/") {
		switch {
		case part == "" || len(part) > maxPart:
			return fmt.Errorf("%w %q: every part must have 1 to %d bytes", ErrKey, key, maxPart)
		case part[0] == '.':
			return fmt.Errorf("%w %q: no part may start with a dot", ErrKey, key)
		case strings.ContainsFunc(part, func(r rune) bool { return !keyRune(r) }):
			return fmt.Errorf("%w %q: may have A-Z a-z 0-9 . _ = - and / only", ErrKey, key)
		}
	}
	return nil
}

// checkPrefix refuses prefixes that no key can have.
func checkPrefix(prefix string) error {
	if len(prefix) > maxKey || strings.ContainsFunc(prefix, func(r rune) bool { return r != '/' && !keyRune(r) }) {
		return fmt.Errorf("%w: prefix %q begins no key", ErrKey, prefix)
	}
	return nil
}

func keyRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		r == '.' || r == '_' || r == '=' || r == '-'
}

// Digest is the SHA-256 of b in hex: the name of content.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ContentKey is the key of the content with a SHA-256 in lower-case hex:
// sha256/ab/abcd... It does not check the digest; CheckDigest does.
func ContentKey(digest string) string {
	return "sha256/" + digest[:min(2, len(digest))] + "/" + digest
}

// CheckDigest refuses what is no SHA-256 in lower-case hex.
func CheckDigest(digest string) error {
	if len(digest) != 2*sha256.Size || strings.Trim(digest, "0123456789abcdef") != "" {
		return fmt.Errorf("digest %q must be 64 lower-case hex digits", digest)
	}
	return nil
}
