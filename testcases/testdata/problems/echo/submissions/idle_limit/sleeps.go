package main

import "time"

func main() { time.Sleep(1000 * time.Second) }
