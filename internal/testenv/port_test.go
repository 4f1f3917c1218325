package testenv

import (
	"fmt"
	"os"
	"testing"
)

// What the kernel gives to connections by itself must never be a server's port.
func TestFreePortIsNoConnections(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Fatal(err)
	}
	var low, high int
	if _, err := fmt.Sscan(string(text), &low, &high); err != nil {
		t.Fatal(err)
	}
	if low < portHigh {
		t.Logf("this host gives connections ports from %d on", low)
		low = portHigh
	}
	seen := map[int]bool{}
	for range 50 {
		port := FreePort(t)
		if port < 1024 || port >= low {
			t.Errorf("port %d is privileged or one of %d to %d", port, low, high)
		}
		seen[port] = true
	}
	if len(seen) < 25 {
		t.Errorf("%d different ports in 50 draws", len(seen))
	}
}
