package sandbox_test

import (
	"context"
	"fmt"
	"log"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// It has no output to compare: an example cannot be skipped, and this one needs a
// host that can enforce everything. TestRunner does the same where there is one;
// package sandboxtest has an example for every host.
func ExampleNew() {
	boxes, err := sandbox.New(sandbox.Config{Slots: 2})
	if err != nil {
		log.Fatal(err) // errors.Is(err, sandbox.ErrHost): the text names the fix
	}
	defer boxes.Close()
	report, err := boxes.Run(context.Background(), sandbox.Spec{
		Args:   []string{"cat", "hello.txt"},
		Env:    []string{"PATH=/usr/bin:/bin"},
		Files:  []sandbox.File{{Name: "hello.txt", Data: []byte("hello\n")}},
		Limits: judge.Limits{}.Complete(),
	})
	if err != nil {
		log.Fatal(err) // ours, or a *judge.BadRequest; nothing about the program
	}
	fmt.Printf("%s %d %s", report.Cause, report.Exit, report.Stdout.Data)
}
