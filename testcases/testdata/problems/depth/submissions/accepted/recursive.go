package main

import (
	"bufio"
	"fmt"
	"os"
)

var children [][]int

func depth(node int) int {
	deepest := 0
	for _, child := range children[node] {
		deepest = max(deepest, depth(child))
	}
	return deepest + 1
}

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func main() {
	in := bufio.NewReader(os.Stdin)
	var n, parent int
	fmt.Fscan(in, &n)
	children = make([][]int, n+1)
	for i := 2; i <= n; i++ {
		fmt.Fscan(in, &parent)
		children[parent] = append(children[parent], i)
	}
	fmt.Println(depth(1))
}
