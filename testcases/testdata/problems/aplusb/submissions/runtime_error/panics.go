package main

func main() {
	var none map[string]int
	none["a"] = 1
}
