// Package interact joins a program and an interactor, each in a box of its own, by
// two pipes and no copying between them; or several programs and a manager, by two
// pipes each. It says how all ended and which was first; what that means is
// judge/engine's to rule.
//
//	program stdout ------> interactor stdin
//	program stdin  <------ interactor stdout
//
// Bare pipes would blur who was first: the output of a program that crashes is at its
// end before anybody can know of the crash, so that the interactor would rule on a
// dialogue cut short. So an end of file reaches the other side only when the box of
// the side that ended is known to be dead; and what the other one goes on writing is
// read and dropped, so that it meets neither SIGPIPE nor a full pipe.
package interact

import (
	"context"
	"errors"
	"sync/atomic"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// Session is one dialogue. Its runners give boxes without waiting for each other: the
// interactor's must not be a runner all of whose slots may wait for interactors.
type Session struct {
	ProgramRunner, InteractorRunner sandbox.Runner

	// The specs, but for standard input and output, which are the pipes.
	Program, Interactor sandbox.Spec

	// Final reports whether how the interactor ended leaves the program nothing to
	// gain: the program is ended then. Nil is never.
	Final func(*sandbox.Report) bool

	// Most, where above 0, bounds what the program says: a program that says more is
	// ended. Record, where above 0, is how much of the dialogue is kept. For either,
	// all goes through this process, see relay: the dialogue takes longer.
	Most, Record judge.Bytes
}

// Result is how both sides ended.
type Result struct {
	Program    *sandbox.Report // nil when it was ended because of Final
	Interactor *sandbox.Report
	// ProgramFirst says that the program's box was dead before the interactor's.
	ProgramFirst bool
	Flood        bool   // the program was ended since it said more than Most
	Dialogue     []byte // what both said, as far as Record allows; see record
}

// What the program is ended by, with no fault of ours.
var (
	errFinal = errors.New("the interactor has ruled")
	errFlood = errors.New("the program says more than it may")
)

type end struct {
	rep *sandbox.Report
	err error
	at  int32 // the first to end has the least
}

// Run starts both and waits until both boxes are gone. The error is ours or ctx's
// cause; nothing is known about the program then.
func (s Session) Run(ctx context.Context) (*Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	program, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var said, heard link // by the program
	if err := errors.Join(said.open(s.relayed()), heard.open(s.relayed())); err != nil {
		said.close()
		heard.close()
		return nil, err
	}
	s.Program.Stdin, s.Program.Stdout = heard.out.r, sandbox.Stream{File: said.in.w}
	s.Interactor.Stdin, s.Interactor.Stdout = said.out.r, sandbox.Stream{File: heard.in.w}
	notes := &record{most: s.Record}
	said.join(relay{mark: '>', most: int64(s.Most), over: func() { stop(errFlood) }, record: notes})
	heard.join(relay{mark: '<', record: notes})

	ended, ruled := make(chan end, 1), make(chan end, 1)
	var order atomic.Int32
	go func() { ended <- side(program, s.ProgramRunner, s.Program, said.in, heard.out, &order) }()
	go func() { ruled <- side(ctx, s.InteractorRunner, s.Interactor, heard.in, said.out, &order) }()
	var p, i end
	res := &Result{}
	for range 2 {
		select {
		case p = <-ended:
			ended = nil
		case i = <-ruled:
			ruled = nil
			if i.err == nil && s.Final != nil && s.Final(i.rep) {
				stop(errFinal)
			}
		}
		if ours := errors.Join(fault(p.err), i.err); ours != nil {
			cancel(ours) // the other one has nothing to talk to
		}
	}
	said.wait()
	heard.wait()
	res.Program, res.Interactor, res.ProgramFirst = p.rep, i.rep, p.at < i.at
	res.Flood, res.Dialogue = errors.Is(context.Cause(program), errFlood), notes.text()
	switch {
	case i.err != nil || fault(p.err) != nil:
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, errors.Join(fault(p.err), i.err)
	}
	return res, nil
}

func (s Session) relayed() bool { return s.Most > 0 || s.Record > 0 }

// fault leaves of an error what is ours.
func fault(err error) error {
	if errors.Is(err, errFinal) || errors.Is(err, errFlood) {
		return nil
	}
	return err
}

// side runs one of the two. When its box is dead the other side reads the end of the
// file, and what is still written to this one is dropped. Who was first is told by
// order, which moves before the other side can know.
func side(ctx context.Context, r sandbox.Runner, spec sandbox.Spec, out, in *pipe, order *atomic.Int32) end {
	rep, err := r.Run(ctx, spec)
	at := order.Add(1)
	out.end()
	in.drop()
	if err != nil {
		rep = nil
	}
	return end{rep, err, at}
}
