package testenv

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// redisPath is Debian's; a redis-server found elsewhere in PATH may be a wrapper.
const redisPath = "/usr/bin/redis-server"

// RedisServer is one redis-server on a loopback port of its own. It is stopped at
// the end of the test that started it. Its methods are not for concurrent use.
type RedisServer struct {
	// Addr is host:port; it stays the same over restarts.
	Addr string

	t       testing.TB
	args    []string
	running *redisProcess
}

// redisProcess is one life of a server.
type redisProcess struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// Redis starts a redis-server without persistence and returns its address.
func Redis(t testing.TB) (addr string) {
	t.Helper()
	return StartRedis(t).Addr
}

// StartRedis starts a redis-server with the extra settings, such as
// "--appendonly", "yes"; its files lie in t.TempDir. It skips the test when
// redis-server is not installed.
func StartRedis(t testing.TB, settings ...string) *RedisServer {
	t.Helper()
	if _, err := exec.LookPath(redisPath); err != nil {
		t.Skip("missing: redis-server (apt-get install redis-server)")
	}
	s := &RedisServer{t: t}
	dir := t.TempDir()
	t.Cleanup(s.Kill)
	const attempts = 5 // another process may take the free port first
	for n := 1; ; n++ {
		port := strconv.Itoa(FreePort(t))
		s.Addr = "127.0.0.1:" + port
		s.args = append([]string{
			"--bind", "127.0.0.1", "--port", port, "--dir", dir,
			"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--daemonize", "no", "--logfile", "",
		}, settings...)
		err := s.start()
		if err == nil {
			return s
		}
		if n == attempts {
			t.Fatalf("start redis-server: %v", err)
		}
	}
}

// Start runs the server, again after Stop or Kill, and returns when it accepts connections.
func (s *RedisServer) Start() {
	s.t.Helper()
	if s.running != nil {
		s.t.Fatal("redis-server runs already")
	}
	if err := s.start(); err != nil {
		s.t.Fatalf("start redis-server on %s: %v", s.Addr, err)
	}
}

func (s *RedisServer) start() error {
	p := &redisProcess{cmd: exec.Command(redisPath, s.args...), ended: make(chan struct{})}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	ready := make(chan error, 1)
	go p.live(ready)
	select {
	case err := <-ready:
		if err != nil {
			return err
		}
	case <-time.After(startTimeout):
		p.signal(syscall.SIGKILL)
		<-p.ended
		return fmt.Errorf("it did not accept connections within %v", startTimeout)
	}
	s.running = p
	return nil
}

// Stop ends the server in an orderly way (SIGTERM) and waits for it.
func (s *RedisServer) Stop() { s.end(syscall.SIGTERM) }

// Kill ends the server as a crash does (SIGKILL) and waits for it.
func (s *RedisServer) Kill() { s.end(syscall.SIGKILL) }

// Freeze stops the server without ending it (SIGSTOP): connections stay open and
// nothing answers. Thaw undoes it.
func (s *RedisServer) Freeze() { s.running.signal(syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (s *RedisServer) Thaw() { s.running.signal(syscall.SIGCONT) }

func (s *RedisServer) end(sig syscall.Signal) {
	if s.running == nil {
		return
	}
	s.running.signal(sig)
	<-s.running.ended
	s.running = nil
}

func (p *redisProcess) signal(sig syscall.Signal) {
	// The error says that the process has ended already.
	_ = p.cmd.Process.Signal(sig)
}

// live runs the process on a thread of its own: Pdeathsig, which ends the server
// when the tests crash, is sent when the thread that started it ends (prctl(2)).
func (p *redisProcess) live(ready chan<- error) {
	defer close(p.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		ready <- err
		return
	}
	var read sync.WaitGroup
	read.Go(func() {
		var log []string
		accepted := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if log = append(log, lines.Text()); len(log) > 50 {
				log = log[1:]
			}
			if !accepted && strings.Contains(lines.Text(), "Ready to accept connections") {
				accepted = true
				ready <- nil
			}
		}
		if !accepted {
			ready <- fmt.Errorf("it ended: %w", errors.New(strings.Join(log, "\n")))
		}
	})
	read.Wait()
	// A killed server's exit status says nothing.
	_ = p.cmd.Wait()
}
