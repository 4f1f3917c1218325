package testenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// startTimeout bounds how long a server may take until it answers, on a busy machine too.
const startTimeout = 2 * time.Minute

// Process is a server that a test started. It dies with the test process, whatever
// ends that.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process is reaped

	mu  sync.Mutex
	out bytes.Buffer
	err error
}

// Write keeps what the server prints, for messages of failed tests.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

// Output is what the server has printed so far.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// StartProcess starts a program in a directory with exactly the environment given.
func StartProcess(dir string, env []string, program string, args ...string) (*Process, error) {
	p := &Process{cmd: exec.Command(program, args...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, env
	p.cmd.Stdout, p.cmd.Stderr = p, p
	// The kernel sends this when the *thread* that started the child ends (prctl(2)),
	// so one thread stays with the child for its whole life.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		if err := p.cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		err := p.cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return p, nil
}

// Done is closed when the process is gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Pid is the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Kill ends the process at once (SIGKILL) and waits until it is gone.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

// Stop asks the process to end (SIGTERM) and waits until it is gone.
func (p *Process) Stop() { p.end(syscall.SIGTERM) }

func (p *Process) end(sig syscall.Signal) {
	// An error means that it is gone already.
	_ = p.cmd.Process.Signal(sig)
	select {
	case <-p.done:
	case <-time.After(startTimeout):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// WaitFor calls probe until it returns nil, the process ends, or startTimeout passes.
func (p *Process) WaitFor(ctx context.Context, probe func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("server ended before it answered: %w; it printed:\n%s", p.waitErr(), p.Output())
		case <-ctx.Done():
			return fmt.Errorf("server does not answer: %w; it printed:\n%s", err, p.Output())
		case <-tick.C:
		}
	}
}

func (p *Process) waitErr() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}
