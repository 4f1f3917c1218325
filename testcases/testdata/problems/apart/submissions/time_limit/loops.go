package main

func main() {
	for i := uint(0); ; i++ {
		if i == ^uint(0) {
			println(i)
		}
	}
}
