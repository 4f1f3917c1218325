package interact

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ferry joins two named pipes in place of one, so that what a program says is counted:
// near is all that the program sees of it, far all that the manager does. Which way it
// goes is told by who writes first.
type ferry struct {
	near, far bank
	most      int64 // that may come from near
}

// bank is one of the two pipes.
type bank struct {
	*fifo
	out  *os.File        // a writing end of the ferry's
	dead <-chan struct{} // closed when the box is, before our own writing end
}

func (b *bank) open(f *fifo, dead <-chan struct{}) (err error) {
	b.fifo, b.dead = f, dead
	b.out, err = f.writer()
	return err
}

// piece is what a pipe that is ready takes without waiting; pipe(7), PIPE_BUF.
const piece = 4096

// run returns when everything that came was handed on or dropped and both boxes are
// dead. over is called when the program said more than it may.
func (f ferry) run(over func()) {
	defer f.close()
	for {
		nearDead, farDead := closed(f.near.dead), closed(f.far.dead) // before we look for what they left
		ready := []unix.PollFd{{Fd: int32(f.near.r.Fd()), Events: unix.POLLIN}, {Fd: int32(f.far.r.Fd()), Events: unix.POLLIN}}
		// A signal of the Go runtime's may interrupt it: then we look again.
		if _, err := unix.Poll(ready, int(lateInterval.Milliseconds())); err != nil {
			continue
		}
		switch {
		case ready[0].Revents&unix.POLLIN != 0:
			f.carry(f.near, f.far, f.most, over)
		case ready[1].Revents&unix.POLLIN != 0:
			f.carry(f.far, f.near, 0, over)
		case nearDead:
			f.far.leave()
		case farDead:
			f.near.leave()
		default:
			continue
		}
		return
	}
}

func (f ferry) close() {
	for _, b := range []bank{f.near, f.far} {
		if b.out != nil {
			b.out.Close()
		}
	}
}

// carry hands on what comes until nobody writes it any more; what is beyond most, where
// that is above 0, and what a dead one would read is dropped. Then the other side
// finds the end of the file.
func (f ferry) carry(from, to bank, most int64, over func()) {
	from.out.Close() // or it never ends
	buf := make([]byte, piece)
	var total int64
	for dropped := false; ; {
		n, err := from.r.Read(buf)
		if n == 0 || err != nil {
			break
		}
		before := total
		total += int64(n)
		if most > 0 && before <= most && total > most {
			over()
			dropped = true
		}
		dropped = dropped || !to.take(buf[:n])
	}
	to.leave()
}

// take reports false when who would read it is dead.
func (b bank) take(part []byte) bool {
	for {
		dead := closed(b.dead)
		ready := []unix.PollFd{{Fd: int32(b.out.Fd()), Events: unix.POLLOUT}}
		if n, err := unix.Poll(ready, int(lateInterval.Milliseconds())); err == nil && n > 0 {
			_, err := b.out.Write(part)
			return err == nil
		}
		if dead {
			return false
		}
	}
}

// leave closes our writing ends, and serves who is left.
func (b bank) leave() {
	b.out.Close()
	b.end()
	b.survive(b.dead)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// own are a program's pipes where they are not the manager's too, and what joins them.
type own struct {
	to, from fifo
	ferries  [2]ferry
}

// part gives the program pipes of its own beside the manager's, below dir.
func (m *meeting) part(l *joint, dir string) error {
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755)); err != nil {
		return err
	}
	o := &own{}
	l.own = o
	for i, p := range []struct{ near, far *fifo }{{&o.to, &l.to}, {&o.from, &l.from}} {
		if err := p.near.make(filepath.Join(dir, filepath.Base(p.far.path))); err != nil {
			return err
		}
		f := &o.ferries[i]
		f.most = int64(m.Most)
		if err := errors.Join(f.near.open(p.near, l.dead), f.far.open(p.far, m.over)); err != nil {
			return err
		}
	}
	return nil
}

// close is for pipes that nobody uses any more, or yet.
func (o *own) close() {
	for _, f := range o.ferries {
		f.close()
	}
	o.to.close()
	o.from.close()
}
