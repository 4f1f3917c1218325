package sandbox

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/criyle/go-sandbox/pkg/seccomp"
	"golang.org/x/sys/unix"
)

// nurseryName is argv[0] of a nursery; see nursery.h.
const nurseryName = "judgefarm-nursery"

// setupTimeout bounds every step of ours that needs an answer. It is far above
// what a loaded machine takes: past it, something is broken.
const setupTimeout = 30 * time.Second

// nursery is the process that makes boxes. It dies with us, since its socket ends
// then, and its boxes die with it. One goroutine at a time may use it.
type nursery struct {
	proc      *os.Process
	sock      *socket
	templates bool // boxes copy their root from one
}

func startNursery(p *poller, filter, strict seccomp.Filter, privileged bool, level Isolation) (*nursery, error) {
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
	var r reply
	if err = n.ask(configMessage(filter, strict, privileged, level)); err == nil {
		r, _, err = n.answer(p)
		n.templates = r.status != 0
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

func (n *nursery) answer(p *poller) (reply, int, error) {
	r, fd, err := n.sock.receive(p)
	if err != nil {
		return r, -1, fmt.Errorf("hear from nursery: %w", err)
	}
	if r.kind != msgOK {
		if fd >= 0 {
			rawClose(fd)
		}
		return r, -1, r.failure()
	}
	return r, fd, nil
}

// bury has the nursery close the mount namespace of a dead box, whose last holder waits
// for a grace period of the kernel: 0.1 ms on an idle machine, 0.5 ms and more on a busy
// one. A dead nursery cannot; then the caller waits when it closes its own.
func (n *nursery) bury(namespace int) { n.ask(buryMessage(), namespace) }

// alive reports whether the nursery is; a dead one takes its boxes with it.
func (n *nursery) alive() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, n.proc.Pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo == 0
}

// close ends the nursery and the boxes that it still has.
func (n *nursery) close() error {
	n.sock.close()
	var err error
	if kerr := n.proc.Kill(); kerr != nil && !errors.Is(kerr, os.ErrProcessDone) {
		err = errors.Join(err, kerr)
	}
	if _, werr := n.proc.Wait(); werr != nil && !errors.Is(werr, os.ErrProcessDone) && !errors.Is(werr, unix.ECHILD) {
		err = errors.Join(err, werr)
	}
	return err
}
