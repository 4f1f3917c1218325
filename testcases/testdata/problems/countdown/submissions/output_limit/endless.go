package main

import "fmt"

func main() {
	for {
		fmt.Println("a line of an output that has no end")
	}
}
