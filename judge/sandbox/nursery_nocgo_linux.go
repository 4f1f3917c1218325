//go:build !cgo

package sandbox

// Without cgo there is no nursery; New says so.
const nurseryLinked = false
