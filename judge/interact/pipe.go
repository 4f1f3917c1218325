package interact

import (
	"io"
	"os"
)

// pipe is a pipe whose ends are held here too, until the box that uses them is dead.
type pipe struct {
	r, w    *os.File
	dropped chan struct{} // closed when there is nothing left to drop
}

// end closes our end of what is written to: the reader sees the end of the file.
func (p *pipe) end() { p.w.Close() }

// drop reads until nobody writes any more.
func (p *pipe) drop() {
	go func() {
		defer close(p.dropped)
		io.Copy(io.Discard, p.r)
		p.r.Close()
	}()
}

// close is for a pipe that nobody uses yet.
func (p *pipe) close() {
	if p.r != nil {
		p.r.Close()
		p.w.Close()
	}
}

// link is one direction: one pipe, or two with a relay between them.
type link struct {
	in, out *pipe // what is written to and what is read from: the same without a relay
	relayed chan struct{}
}

func (l *link) open(relayed bool) (err error) {
	l.in = &pipe{}
	l.out = l.in
	if err = l.in.open(); err == nil && relayed {
		l.out, l.relayed = &pipe{}, make(chan struct{})
		err = l.out.open()
	}
	return err
}

// join starts the relay, where there is one.
func (l *link) join(r relay) {
	if l.relayed == nil {
		return
	}
	go func() {
		defer close(l.relayed)
		r.copy(l.out.w, l.in.r)
		l.out.end()
		io.Copy(io.Discard, l.in.r) // of a program that is being ended
		l.in.r.Close()
	}()
}

// wait returns when nothing is on its way any more.
func (l *link) wait() {
	if l.relayed != nil {
		<-l.relayed
	}
	<-l.out.dropped
}

// close is for a link that nobody uses yet.
func (l *link) close() {
	if l.in == nil {
		return
	}
	l.in.close()
	if l.out != l.in {
		l.out.close()
	}
}
