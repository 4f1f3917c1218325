package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"syscall"

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
//	  |--- START + streams and cgroup files ----------------->|
//	  |<-- STARTED (or EXEC_FAILED) --------------------------|
//	  |<-- EXITED --------------------------------------------|
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
	what    string
}

const replySize = 4*4 + 3*8 + 64

func parseReply(b []byte) (reply, error) {
	if len(b) != replySize {
		return reply{}, fmt.Errorf("reply of %d bytes, want %d", len(b), replySize)
	}
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	what, _, _ := bytes.Cut(b[40:], []byte{0})
	return reply{
		kind: u32(b), errno: syscall.Errno(u32(b[4:])), status: syscall.WaitStatus(u32(b[8:])),
		startNS: int64(u64(b[16:])), endNS: int64(u64(b[24:])), setupNS: int64(u64(b[32:])),
		what: string(what),
	}, nil
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

func configMessage(filter seccomp.Filter, privileged bool) []byte {
	var m message
	var root uint32
	if privileged {
		root = 1
	}
	m.u32(msgConfig, uint32(len(filter)), root, 0)
	for _, ins := range filter {
		m.buf = binary.NativeEndian.AppendUint16(m.buf, ins.Code)
		m.buf = append(m.buf, ins.Jt, ins.Jf)
		m.u32(ins.K)
	}
	return m.buf
}

// An operation builds one part of the box's root; see nursery.h.
type operation struct {
	kind byte
	num  uint64
	a, b string
}

func prepareMessage(plan *rootPlan, box BoxLimits, uid, gid int) []byte {
	var root message
	root.operations(plan.ops)
	var m message
	m.u32(msgPrepare, uint32(len(root.buf)))
	m.u64(uint64(box.Disk), uint64(box.Inodes))
	m.u32(uint32(uid), uint32(gid))
	m.buf = append(m.buf, root.buf...)
	m.operations(plan.own)
	return m.buf
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
}

func startMessage(p program) []byte {
	var m message
	var pin uint32
	if len(p.cpus) > 0 {
		pin = 1
	}
	m.u32(msgStart, uint32(p.joins), uint32(len(p.limits)), uint32(len(p.paths)), uint32(len(p.args)), uint32(len(p.env)), pin, 0)
	var mask [cpuWords]uint64
	for _, c := range p.cpus {
		mask[c/64] |= 1 << (c % 64)
	}
	m.u64(mask[:]...)
	for i := range maxLimits {
		if i < len(p.limits) {
			m.u32(uint32(p.limits[i].Res), 0)
			m.u64(p.limits[i].Rlim.Cur, p.limits[i].Rlim.Max)
		} else {
			m.u32(0, 0)
			m.u64(0, 0)
		}
	}
	m.str(p.dir)
	for _, list := range [][]string{p.paths, p.args, p.env} {
		for _, s := range list {
			m.str(s)
		}
	}
	return m.buf
}
