package checker_test

import (
	"context"
	"fmt"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/checker/checkertest"
)

func Example() {
	c, err := checker.New(judge.CheckerSpec{Name: "floats", Args: []string{"abs=1e-3"}}, checker.Deps{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, output := range []string{"3.1416\n", "3.2\n", "nan\n"} {
		r, err := c.Check(context.Background(), checkertest.Input("3.14159\n", output))
		fmt.Println(c.ID(), r.Verdict, r.Message, err)
	}
	// Output:
	// floats@1 AC  <nil>
	// floats@1 WA line 1, column 1, token 1: the number differs by more than the tolerance <nil>
	// floats@1 WA line 1, column 1, token 1: the token is no decimal number <nil>
}
