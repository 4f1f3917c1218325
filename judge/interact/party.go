package interact

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// Party is a manager and several programs, each in a box of its own. Each program is
// joined to the manager by two named pipes, which nobody else sees:
//
//	program i  ---- FromProgram(i) ---->  manager
//	program i  <---- ToProgram(i) -----   manager
//
// As in a Session the end of a file reaches the other side only when the box of the
// side that ended is known to be dead, and what is written to a dead side is dropped.
type Party struct {
	// Manager and Programs, but for the mounts of the pipes, and for the standard
	// input and output of programs where Streams is set.
	Manager  sandbox.Spec
	Programs []sandbox.Spec
	// Runners run the programs, one each. No two of Runners and ManagerRunner may wait
	// for each other's boxes: all boxes are there at one time.
	Runners       []sandbox.Runner
	ManagerRunner sandbox.Runner
	// Streams says that a program's standard input and output are its pipes, which it
	// does not see by name then.
	Streams bool
	Dir     string // a directory for the pipes; "" is the system's temporary one

	// Final reports whether how the manager ended leaves the programs nothing to gain:
	// they are ended then. Nil is never.
	Final func(*sandbox.Report) bool

	// Most, where above 0, bounds what each program says: all are ended when one says
	// more. All goes through this process then, see ferry: the dialogue takes longer.
	Most judge.Bytes
}

// PartyResult is how all ended.
type PartyResult struct {
	Manager  *sandbox.Report
	Programs []Ended
	Flood    bool // the programs were ended since one said more than Most
}

// Ended is how one program of a party ended.
type Ended struct {
	Report *sandbox.Report // nil when it was ended because of Final or Most
	First  bool            // its box was dead before the manager's
}

// ToProgram is the pipe that program i reads, as the boxes see it.
func ToProgram(i int) string { return boxDir(i) + "/m_to_u" + strconv.Itoa(i) }

// FromProgram is the pipe that program i writes to.
func FromProgram(i int) string { return boxDir(i) + "/u" + strconv.Itoa(i) + "_to_m" }

func boxDir(i int) string { return sandbox.PipesDir + "/" + strconv.Itoa(i) }

// Run starts all and waits until every box is gone. The error is ours or ctx's cause;
// nothing is known about the programs then.
func (p Party) Run(ctx context.Context) (*PartyResult, error) {
	dir, err := os.MkdirTemp(p.Dir, "pipes-")
	if err != nil {
		return nil, fmt.Errorf("make pipes: %w", err)
	}
	defer os.RemoveAll(dir)
	m := &meeting{Party: p, joints: make([]joint, len(p.Programs))}
	defer m.close()
	if err := m.open(dir); err != nil {
		return nil, err
	}
	return m.run(ctx)
}

// joint is what joins one program to the manager.
type joint struct {
	to, from fifo          // the program's input and output
	own      *own          // the program's, where all that it says is counted; nil: it has to and from
	out      *os.File      // of from, for the program alone; nil where it opens the pipe itself
	dead     chan struct{} // closed when the program's box is
}

// leave closes the program's own end, where there is one; it may be called again.
func (l *joint) leave() {
	if l.out != nil {
		l.out.Close()
	}
}

// theirs are the program's input and output as it has them.
func (l *joint) theirs() (to, from *fifo) {
	if l.own != nil {
		return &l.own.to, &l.own.from
	}
	return &l.to, &l.from
}

// orphaned is called when one of the two is dead, with what tells that the other is.
// Where there are ferries it is they who see to the other.
func (m *meeting) orphaned(l *joint, manager bool, other <-chan struct{}) {
	to, from := &l.to, &l.from
	if !manager {
		to, from = l.theirs()
	}
	for _, f := range []*fifo{to, from} {
		f.end()
		if l.own == nil {
			m.late.Go(func() { f.survive(other) })
		}
	}
}

// meeting is a party under way.
type meeting struct {
	Party
	joints []joint
	over   chan struct{} // closed when the manager's box is dead
	order  atomic.Int32  // how many boxes are dead
	late   sync.WaitGroup
}

func (m *meeting) open(dir string) error {
	// The boxes' users must be able to come in, whatever our umask is.
	if err := os.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("make pipes: %w", err)
	}
	m.over = make(chan struct{})
	m.Manager.Mounts = slices.Clone(m.Manager.Mounts)
	m.Programs = slices.Clone(m.Programs)
	for i := range m.joints {
		l, own := &m.joints[i], filepath.Join(dir, strconv.Itoa(i))
		l.dead = make(chan struct{})
		if err := errors.Join(os.Mkdir(own, 0o755), os.Chmod(own, 0o755)); err != nil {
			return fmt.Errorf("make pipes: %w", err)
		}
		if err := l.to.make(filepath.Join(own, filepath.Base(ToProgram(i)))); err != nil {
			return err
		}
		if err := l.from.make(filepath.Join(own, filepath.Base(FromProgram(i)))); err != nil {
			return err
		}
		m.Manager.Mounts = append(m.Manager.Mounts, sandbox.Mount{Source: own, Target: boxDir(i)})
		if m.Most > 0 {
			if err := m.part(l, own+"-own"); err != nil {
				return err
			}
		}
		spec := &m.Programs[i]
		to, from := l.theirs()
		if m.Streams {
			// An end of its own: ours is closed when the manager is dead, while the
			// program may be about to start.
			var err error
			if l.out, err = from.writer(); err != nil {
				return err
			}
			spec.Stdin, spec.Stdout = to.r, sandbox.Stream{File: l.out}
		} else {
			spec.Mounts = append(slices.Clone(spec.Mounts), sandbox.Mount{Source: filepath.Dir(to.path), Target: boxDir(i)})
		}
	}
	return nil
}

// run has all boxes at one time.
func (m *meeting) run(ctx context.Context) (*PartyResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	programs, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	type ending struct {
		who int // the manager is -1
		end
	}
	ended := make(chan ending, len(m.joints)+1)
	go func() { ended <- ending{-1, m.manager(ctx)} }()
	for i := range m.joints {
		if l := &m.joints[i]; l.own != nil {
			for _, f := range l.own.ferries {
				m.late.Go(func() { f.run(func() { stop(errFlood) }) })
			}
		}
		go func() { ended <- ending{i, m.program(programs, i)} }()
	}
	res := &PartyResult{Programs: make([]Ended, len(m.joints))}
	var ours error
	at, over := make([]int32, len(m.joints)), int32(0)
	for range len(m.joints) + 1 {
		e := <-ended
		if e.who < 0 {
			res.Manager, over = e.rep, e.at
			if e.err == nil && m.Final != nil && m.Final(e.rep) {
				stop(errFinal)
			}
		} else {
			e.err = fault(e.err)
			res.Programs[e.who].Report, at[e.who] = e.rep, e.at
		}
		if e.err != nil && ours == nil {
			ours = e.err
			cancel(ours) // the others have nobody to talk to
		}
	}
	for i := range m.joints {
		res.Programs[i].First = at[i] < over
	}
	m.late.Wait()
	res.Flood = errors.Is(context.Cause(programs), errFlood)
	if ours != nil {
		return nil, ours
	}
	return res, nil
}

func (m *meeting) manager(ctx context.Context) end {
	rep, err := m.ManagerRunner.Run(ctx, m.Manager)
	at := m.order.Add(1)
	close(m.over)
	for i := range m.joints {
		m.orphaned(&m.joints[i], true, m.joints[i].dead)
	}
	return end{only(rep, err), err, at}
}

func (m *meeting) program(ctx context.Context, i int) end {
	rep, err := m.Runners[i].Run(ctx, m.Programs[i])
	at := m.order.Add(1) // before anybody can read the end of what it wrote
	m.joints[i].leave()
	close(m.joints[i].dead)
	m.orphaned(&m.joints[i], false, m.over)
	return end{only(rep, err), err, at}
}

// only is the report where there is no error.
func only(rep *sandbox.Report, err error) *sandbox.Report {
	if err != nil {
		return nil
	}
	return rep
}

// close comes when every box is dead, or none was made.
func (m *meeting) close() {
	for i := range m.joints {
		l := &m.joints[i]
		l.leave()
		l.to.close()
		l.from.close()
		if l.own != nil {
			l.own.close()
		}
	}
}
