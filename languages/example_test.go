package languages_test

import (
	"fmt"

	"judgefarm/judge"
	"judgefarm/languages"
)

func Example() {
	set, err := languages.Load(languages.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	java, _ := set.ForFile("prog.java")
	layout := java.Lay([]judge.File{{
		Name: "prog.java",
		Data: []byte("public class Sum { public static void main(String[] args) {} }"),
	}})
	fmt.Println(java.ID, layout.Main, layout.Words["class"])
	// Output: java Sum.java [Sum]
}
