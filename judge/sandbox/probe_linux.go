package sandbox

import "context"

// ProbeHost tells what this host can enforce.
func ProbeHost(_ context.Context) Probe { return probeHost() }

func probeHost() Probe { return Probe{} }
