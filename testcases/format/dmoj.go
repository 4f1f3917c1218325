package format

import "judgefarm/testcases/format/dmoj"

// dmoj is the reader of packages of DMOJ, whose limits lie elsewhere.
func (o Options) dmoj() reader {
	return reader{"dmoj", dmoj.Detect, dmoj.Options{Limits: o.Limits, Code: o.Code}.Open}
}
