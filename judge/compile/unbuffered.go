package compile

import (
	"os"
	"path/filepath"
)

// preload makes the C library write at once what programs print.
const preload = "/usr/libexec/coreutils/libstdbuf.so"

// Unbuffered are the variables that make programs print at once: of the C library, by
// what stdbuf(1) does, and of Python. root is the system root of the box, "" the host's.
func Unbuffered(root string) []string {
	env := []string{"PYTHONUNBUFFERED=1"}
	if _, err := os.Stat(filepath.Join("/", root, preload)); err == nil {
		env = append(env, "LD_PRELOAD="+preload, "_STDBUF_O=0")
	}
	return env
}
