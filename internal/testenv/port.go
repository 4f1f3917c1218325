package testenv

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Ports from which FreePort draws: below those that the kernel gives to connections and
// to listeners without a port of their own (ip(7): ip_local_port_range begins at 32768).
// A port of that range may become some connection's in the moment before the server
// takes it or while the server is down, even that of the client that tries to reach it.
const portLow, portHigh = 15000, 32000

// FreePort returns a loopback port that was free a moment ago. Another process may
// take it before the test's server does, so starting must be tried again.
func FreePort(t testing.TB) int {
	t.Helper()
	const tries = 100
	var err error
	for range tries {
		port := portLow + rand.IntN(portHigh-portLow)
		var ln net.Listener
		if ln, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			ln.Close()
			return port
		}
	}
	t.Fatalf("find a free port: %v", err)
	return 0
}
