package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
)

type row struct {
	name   string
	points int
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var rows []row
	for {
		var r row
		if _, err := fmt.Fscan(in, &r.name, &r.points); err != nil {
			break
		}
		rows = append(rows, r)
	}
	sort.Slice(rows, func(i, j int) bool {
		if rows[i].points != rows[j].points {
			return rows[i].points > rows[j].points
		}
		return rows[i].name < rows[j].name
	})
	place := 0
	for i, r := range rows {
		if i == 0 || r.points != rows[i-1].points {
			place = i + 1
		}
		fmt.Fprintf(out, "%d. %s %d\n", place, r.name, r.points)
	}
}
