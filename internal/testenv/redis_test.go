package testenv

import (
	"bufio"
	"fmt"
	"net"
	"testing"
)

// command sends one inline command and returns the first line of the answer.
func command(t *testing.T, addr, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("dial %s: %v", addr, err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s\r\n", text)
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return line
}

func TestRedisRestarts(t *testing.T) {
	t.Parallel()
	s := StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	if got := command(t, s.Addr, "SET k v"); got != "+OK\r\n" {
		t.Fatalf("SET: got %q", got)
	}
	for name, end := range map[string]func(){"stop": s.Stop, "kill": s.Kill} {
		end()
		if conn, err := net.Dial("tcp", s.Addr); err == nil {
			conn.Close()
			t.Fatalf("%s: the server still accepts connections", name)
		}
		s.Start()
		if got := command(t, s.Addr, "STRLEN k"); got != ":1\r\n" {
			t.Errorf("%s: the key is gone: got %q", name, got)
		}
	}
}
