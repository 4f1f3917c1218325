package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/criyle/go-sandbox/pkg/rlimit"
	"github.com/criyle/go-sandbox/pkg/seccomp"
)

// The protocol between worker, nursery and box. nursery.h is its other half and
// draws each message; a change in one is a change in both.
//
//	worker                      nursery                 box (PID 1)
//	  |--- CONFIG ----------------->|
//	  |<-- OK ----------------------|
//	  |--- PREPARE + control fd --->|--- clone -------------->|
//	  |<-- OK + pidfd --------------|                         |
//	  |<-- READY + work directory ----------------------------|
//	  |--- START + streams, cgroup files, mounts ------------>|
//	  |<-- TRACE + pidfd, strict, from the program's process -|
//	  |--- TRACED, strict, to the program's process --------->|
//	  |<-- STARTED (or EXEC_FAILED) --------------------------|
//	  |--- LOOK (level userns, any number of times) --------->|
//	  |<-- USAGE ---------------------------------------------|
//	  |--- END (level userns, when a limit is reached) ------>|
//	  |<-- EXITED --------------------------------------------|
//	  |--- BURY ------------------->|
//
// FAIL, with the step and its errno, may take the place of any answer.
const (
	msgConfig = iota + 1
	msgPrepare
	msgOK
	msgFail
	msgReady
	msgStart
	msgStarted
	msgExecFailed
	msgExited
	msgTrace
	msgTraced
	msgBury
	msgLook
	msgEnd
	msgUsage
)

const (
	insideID   = 1000      // uid and gid in the box
	messageMax = 160 << 10 // longest message
	maxLimits  = 16
	cpuWords   = maxCPUs / 64
)

// reply is what nursery and box answer; struct reply.
type reply struct {
	kind    uint32
	errno   syscall.Errno
	status  syscall.WaitStatus
	startNS int64
	endNS   int64
	setupNS int64
	noise   exitNoise // of msgExited
	sources uint64    // of a box's msgOK: the files that it was made from, by rootPlan.sources
	what    string
	usage   usage // of msgUsage, and of msgExited of a box that was told to measure: in the place of what
}

const replySize = 4*4 + 6*8 + 9*8

// maxErrno is the kernel's MAX_ERRNO.
const maxErrno = 4095

// parseReply refuses what nursery and box never say: a broken reply must become an
// error, never a report.
func parseReply(b []byte) (reply, error) {
	if len(b) != replySize {
		return reply{}, fmt.Errorf("reply of %d bytes, want %d", len(b), replySize)
	}
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	what, _, _ := bytes.Cut(b[64:][:64], []byte{0})
	r := reply{
		kind: u32(b), errno: syscall.Errno(u32(b[4:])), status: syscall.WaitStatus(u32(b[8:])),
		startNS: int64(u64(b[16:])), endNS: int64(u64(b[24:])), setupNS: int64(u64(b[32:])),
		noise:   exitNoise{time.Duration(u64(b[40:])), int64(u64(b[48:]))},
		sources: u64(b[56:]), usage: parseUsage(b[64:]), what: strings.ToValidUTF8(string(what), "?"),
	}
	switch {
	case r.kind < msgOK || r.kind == msgStart || r.kind > msgTrace && r.kind != msgUsage:
		return reply{}, fmt.Errorf("reply of kind %d", r.kind)
	case r.errno > maxErrno:
		return reply{}, fmt.Errorf("reply with errno %d", uint(r.errno))
	case r.startNS < 0 || r.endNS < 0 || r.setupNS < 0 || r.noise.runDelay < -1 || r.noise.involuntary < -1:
		return reply{}, errors.New("reply with a negative time")
	}
	return r, nil
}

// failure is the reply as an error of ours.
func (r reply) failure() error {
	if r.kind == msgFail {
		return fmt.Errorf("%s: %w", r.what, r.errno)
	}
	return fmt.Errorf("unexpected message %d", r.kind)
}

type message struct{ buf []byte }

func (m *message) u32(vs ...uint32) {
	for _, v := range vs {
		m.buf = binary.NativeEndian.AppendUint32(m.buf, v)
	}
}

func (m *message) u64(vs ...uint64) {
	for _, v := range vs {
		m.buf = binary.NativeEndian.AppendUint64(m.buf, v)
	}
}

func (m *message) str(s string) { m.buf = append(append(m.buf, s...), 0) }

func configMessage(filter, strict seccomp.Filter, privileged bool, level Isolation) []byte {
	var m message
	var root, first uint32
	if privileged {
		root = 1
	}
	if level == Userns {
		first = 1
	}
	m.u32(msgConfig, uint32(len(filter)), root, uint32(len(strict)), first, 0)
	m.filter(filter)
	m.filter(strict)
	return m.buf
}

func (m *message) filter(f seccomp.Filter) {
	for _, ins := range f {
		m.buf = binary.NativeEndian.AppendUint16(m.buf, ins.Code)
		m.buf = append(m.buf, ins.Jt, ins.Jf)
		m.u32(ins.K)
	}
}

// limits takes the room of maxLimits.
func (m *message) limits(limits []rlimit.RLimit) {
	for i := range maxLimits {
		if i < len(limits) {
			m.u32(uint32(limits[i].Res), 0)
			m.u64(limits[i].Rlim.Cur, limits[i].Rlim.Max)
		} else {
			m.u32(0, 0)
			m.u64(0, 0)
		}
	}
}

func buryMessage() []byte {
	var m message
	m.u32(msgBury)
	return m.buf
}

// An operation builds one part of the box's root; see nursery.h.
type operation struct {
	kind byte
	num  uint64
	a, b string
}

// prepareMessage is for any slot; forUser makes it that of one.
func prepareMessage(plan *rootPlan, box BoxLimits) []byte {
	var root message
	root.operations(plan.ops)
	var m message
	m.u32(msgPrepare, uint32(len(root.buf)))
	m.u64(uint64(box.Disk), uint64(box.Inodes))
	m.u32(0, 0)
	m.buf = append(m.buf, root.buf...)
	m.operations(plan.own)
	return m.buf
}

// forUser returns a copy with the box's user, as the host knows it.
func forUser(prepare []byte, uid, gid int) []byte {
	msg := bytes.Clone(prepare)
	binary.NativeEndian.PutUint32(msg[24:], uint32(uid))
	binary.NativeEndian.PutUint32(msg[28:], uint32(gid))
	return msg
}

func (m *message) operations(ops []operation) {
	for _, op := range ops {
		m.buf = append(m.buf, op.kind)
		m.u64(op.num)
		m.str(op.a)
		m.str(op.b)
	}
}

// program is what a START message asks for.
type program struct {
	dir    string
	paths  []string
	args   []string
	env    []string
	limits []rlimit.RLimit
	cpus   []int
	joins  int
	tasks  int
	strict bool
	mounts []string // where what comes with the message is mounted
	told   bool     // PID 1 counts and adds up what the box uses
	sealed bool     // the work directory is read-only
	open   []string // but for the content of these
}

func startMessage(p program) []byte {
	var m message
	var pin, strict, measure, sealed uint32
	if len(p.cpus) > 0 {
		pin = 1
	}
	if p.strict {
		strict = 1
	}
	if p.told {
		measure = 1
	}
	if p.sealed {
		sealed = 1
	}
	m.u32(msgStart, uint32(p.joins), uint32(len(p.limits)), uint32(len(p.paths)), uint32(len(p.args)), uint32(len(p.env)), pin, strict, uint32(len(p.mounts)), measure,
		sealed, uint32(len(p.open)), uint32(p.tasks), 0)
	var mask [cpuWords]uint64
	for _, c := range p.cpus {
		mask[c/64] |= 1 << (c % 64)
	}
	m.u64(mask[:]...)
	m.limits(p.limits)
	m.str(p.dir)
	for _, list := range [][]string{p.paths, p.args, p.env, p.mounts, p.open} {
		for _, s := range list {
			m.str(s)
		}
	}
	return m.buf
}
