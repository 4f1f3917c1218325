package sandbox

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/criyle/go-sandbox/pkg/seccomp"
)

// nurseryName is argv[0] of a nursery; see nursery.h.
const nurseryName = "judgefarm-nursery"

// setupTimeout bounds every step of ours that needs an answer. It is far above
// what a loaded machine takes: past it, something is broken.
const setupTimeout = 30 * time.Second

// nursery is the process that makes boxes. It dies with us, since its socket ends
// then, and its boxes die with it. One goroutine at a time may use it.
type nursery struct {
	proc *os.Process
	sock *socket
}

func startNursery(p *poller, filter seccomp.Filter, privileged bool) (*nursery, error) {
	if !nurseryLinked {
		return nil, fmt.Errorf("%w: this binary was built with CGO_ENABLED=0; build it with cgo and a C compiler", ErrHost)
	}
	sock, other, err := socketPair()
	if err != nil {
		return nil, err
	}
	end := os.NewFile(uintptr(other), "nursery")
	defer end.Close()
	started := false
	defer func() {
		if !started {
			sock.close()
		}
	}()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	proc, err := os.StartProcess("/proc/self/exe", []string{nurseryName}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{null, null, null, end},
	})
	if err != nil {
		return nil, fmt.Errorf("start nursery: %w", err)
	}
	started = true
	n := &nursery{proc: proc, sock: sock}
	if err = n.ask(configMessage(filter, privileged)); err == nil {
		_, err = n.answer(p)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("configure nursery: %w", err), n.close())
	}
	return n, nil
}

// ask sends a message; answer waits for the OK and returns its descriptor.
func (n *nursery) ask(msg []byte, fds ...int) error {
	if err := n.sock.send(msg, fds...); err != nil {
		return fmt.Errorf("ask nursery: %w", err)
	}
	return nil
}

func (n *nursery) answer(p *poller) (int, error) {
	r, fd, err := n.sock.receive(p)
	if err != nil {
		return -1, fmt.Errorf("hear from nursery: %w", err)
	}
	if r.kind != msgOK {
		if fd >= 0 {
			rawClose(fd)
		}
		return -1, r.failure()
	}
	return fd, nil
}

// close ends the nursery and the boxes that it still has.
func (n *nursery) close() error {
	n.sock.close()
	var err error
	if kerr := n.proc.Kill(); kerr != nil && !errors.Is(kerr, os.ErrProcessDone) {
		err = errors.Join(err, kerr)
	}
	if _, werr := n.proc.Wait(); werr != nil && !errors.Is(werr, os.ErrProcessDone) {
		err = errors.Join(err, werr)
	}
	return err
}
