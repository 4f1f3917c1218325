package judge

// Noise is what disturbed a run, as documents show it: reasons why the same program
// may take another time elsewhere. No verdict depends on it. What could not be
// measured is absent.
type Noise struct {
	Involuntary    *int64  `json:"involuntary_switches,omitempty" doc:"times a core was taken from the program's processes"`
	RunDelay       *Millis `json:"run_delay_ms,omitempty" doc:"time the program's first thread could have run and had no core"`
	PressureCPU    *Millis `json:"pressure_cpu_ms,omitempty" doc:"time some task of the host waited for a core; pressure and steal are of the whole host, for runs of 100 ms and more"`
	PressureMemory *Millis `json:"pressure_memory_ms,omitempty" doc:"time some task of the host waited for memory"`
	PressureIO     *Millis `json:"pressure_io_ms,omitempty" doc:"time some task of the host waited for a disk"`
	Steal          *Millis `json:"steal_ms,omitempty" doc:"time the hypervisor took, all cores together"`
}
