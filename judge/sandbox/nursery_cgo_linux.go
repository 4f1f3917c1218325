package sandbox

// The C files of this package are the nursery. They are linked into every binary
// that imports it and act only in a process executed under the nursery's name.

// #cgo CFLAGS: -O2 -Wall -Wextra -Werror=implicit-function-declaration
import "C"

const nurseryLinked = true
