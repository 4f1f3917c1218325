package format_test

import (
	"fmt"

	"judgefarm/testcases/format"
)

func ExampleOpen() {
	p, err := format.Open("../testdata/problems/spread")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.ID, p.Name, p.Checker.Name, p.Checker.Args, p.Limits.CPU)
	for _, c := range p.Cases()[:3] {
		fmt.Println(c.Name, c.Sample, c.Input.Size())
	}
	// Output:
	// spread Mean and spread floats [abs=1e-6 rel=1e-6] 2s
	// sample/1 true 26
	// sample/2 true 15
	// secret/1-one false 8
}
