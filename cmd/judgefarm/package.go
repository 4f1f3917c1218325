package main

import "judgefarm/testcases/format"

// packageFlags say what a problem package may need beside it.
type packageFlags struct {
	Testlib string `help:"testlib.h for packages of Polygon that have none." type:"existingfile" placeholder:"FILE"`
}

func (f packageFlags) options() format.Options { return format.Options{Testlib: f.Testlib} }
