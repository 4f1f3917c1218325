package main

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// registry is where a process keeps its metrics; the library's name stays in this file.
type registry = prometheus.Registry

// newRegistry has what every daemon tells of its own process.
func newRegistry() *registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}
