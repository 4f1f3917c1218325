package main

import "judgefarm/testcases/format"

// limitsFlag is of commands that read packages on this machine.
type limitsFlag struct {
	Limits string `help:"Limits of problems whose packages have none (DMOJ): a file of lines problem,time in seconds,memory in KiB." type:"existingfile" placeholder:"FILE"`
}

func (f limitsFlag) limited(o format.Options) format.Options {
	o.Limits = f.Limits
	return o
}
