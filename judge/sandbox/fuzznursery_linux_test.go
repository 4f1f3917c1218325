package sandbox

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// fuzzed is a nursery that gets messages of any kind. It is started where the host's
// file systems are read-only, since what its messages ask for is done as root.
type fuzzed struct {
	poller  *poller
	nursery *nursery
}

func newFuzzed(f *testing.F) *fuzzed {
	f.Helper()
	p, err := newPoller()
	if err != nil {
		f.Fatal(err)
	}
	z := &fuzzed{poller: p}
	f.Cleanup(func() {
		if err := errors.Join(z.stop(), p.close()); err != nil {
			f.Error(err)
		}
	})
	return z
}

func (z *fuzzed) stop() (err error) {
	if z.nursery != nil {
		err = z.nursery.close()
		z.nursery = nil
	}
	return err
}

// start starts a nursery if there is none.
func (z *fuzzed) start(t *testing.T) *nursery {
	t.Helper()
	if z.nursery != nil {
		return z.nursery
	}
	filter, err := boxFilter(Full)
	strict, serr := strictFilter()
	if err := errors.Join(err, serr); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		// Never unlocked: the thread ends with the goroutine, and its view with it.
		runtime.LockOSThread()
		err := readOnlyHost()
		if err == nil {
			z.nursery, err = startNursery(z.poller, filter, strict, os.Geteuid() == 0, Full)
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return z.nursery
}

// readOnlyHost gives this thread a view of its own of the host's file systems, in
// which none but proc can be written to. An ordinary user has no need of that.
func readOnlyHost() error {
	if os.Geteuid() != 0 {
		return nil
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return errors.Join(
		unix.Unshare(unix.CLONE_NEWNS|unix.CLONE_FS),
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attr),
		unix.MountSetattr(unix.AT_FDCWD, "/proc", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}),
	)
}

// prepare sends a message with a control socket and returns that and the box that
// came of it, if one did; pidfd is -1 then. Only a good answer, FAIL or the end of
// the nursery will do.
func (z *fuzzed) prepare(t *testing.T, msg []byte) (control *socket, pidfd int) {
	t.Helper()
	n := z.start(t)
	control, other, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer rawClose(other)
	pidfd = -1
	if err = n.ask(msg, other); err == nil {
		if len(msg) >= 4 && binary.NativeEndian.Uint32(msg) == msgBury { // has no answer
			return control, -1
		}
		_, pidfd, err = n.answer(z.poller)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the nursery hangs on %x", msg)
	}
	config := len(msg) >= 4 && binary.NativeEndian.Uint32(msg) == msgConfig
	if err != nil || config { // it may have said more than was heard, or be another now
		if err := z.stop(); err != nil {
			t.Error(err)
		}
	}
	return control, pidfd
}

// end kills a box and waits until it is gone.
func (z *fuzzed) end(t *testing.T, pidfd int) {
	t.Helper()
	defer rawClose(pidfd)
	if err := unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		t.Error(err)
	}
	b := &box{slot: &slot{poller: z.poller}, pidfd: pidfd}
	if err := b.waitDead(); err != nil {
		t.Error(err)
	}
}

// hear takes what the box says until it is the last, and fails when it hangs.
func (z *fuzzed) hear(t *testing.T, control *socket, last ...uint32) {
	t.Helper()
	for {
		r, fd, err := control.receive(z.poller)
		if fd >= 0 {
			rawClose(fd)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			t.Error("the box hangs")
			return
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Errorf("the box says what it must not: %v", err)
			return
		}
		for _, kind := range append(last, msgFail, msgExecFailed, msgExited, msgTrace) {
			if r.kind == kind {
				return
			}
		}
	}
}

// smallPlan is a root with one operation of each kind.
func smallPlan(tb testing.TB) *rootPlan {
	tb.Helper()
	p := newRootPlan()
	p.file("/etc/made", "text\n")
	p.link("/bin", "usr/bin")
	if err := errors.Join(p.bind("/usr", "/usr", attrTools), p.finish()); err != nil {
		tb.Fatal(err)
	}
	return p
}

var fuzzBox = BoxLimits{Disk: 1 << 20, Inodes: 64, FileSize: 1 << 20, OpenFiles: 64, Stack: 1 << 20}

// FuzzNursery: on any message a nursery answers, says FAIL or ends. What it then
// makes of a box is ready, says FAIL or ends.
func FuzzNursery(f *testing.F) {
	z := newFuzzed(f)
	uid := 1<<20 + 4000
	if os.Geteuid() != 0 {
		uid = os.Geteuid()
	}
	good := forUser(prepareMessage(smallPlan(f), fuzzBox), uid, uid)
	f.Add(good)
	f.Add(good[:len(good)-3])
	f.Add(good[:32])
	f.Add([]byte{})
	longer := append([]byte(nil), good...)
	binary.NativeEndian.PutUint32(longer[4:], 1<<31)
	f.Add(longer)
	f.Add(append(append([]byte(nil), good[:36]...), "b\x00\x00\x00\x00\x00\x00\x00\x00/x\x00/nowhere\x00"...))
	f.Add(configMessage(nil, nil, false, Full))
	f.Add([]byte{msgConfig, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{msgExited, 0, 0, 0})
	f.Add(buryMessage())
	f.Fuzz(func(t *testing.T, msg []byte) {
		if len(msg) == 0 || len(msg) > messageMax+100 {
			return // the end of the stream; more than a socket takes
		}
		control, pidfd := z.prepare(t, msg)
		defer control.close()
		if pidfd >= 0 {
			z.hear(t, control, msgReady)
			z.end(t, pidfd)
		}
	})
}

// FuzzStart: on any message a box that is ready starts a program, says FAIL or why
// not, or ends.
func FuzzStart(f *testing.F) {
	z := newFuzzed(f)
	uid := 1<<20 + 4001
	if os.Geteuid() != 0 {
		uid = os.Geteuid()
	}
	plan := smallPlan(f)
	spec := Spec{Args: []string{"/usr/bin/true", "x"}, Env: []string{"A=1"}, Limits: judge.Limits{}.Complete()}
	good := startMessage(programOf(spec, fuzzBox, hardLimits(), 0))
	f.Add(good, uint8(3))
	f.Add(good, uint8(4))
	f.Add(good, uint8(0))
	f.Add(good[:len(good)-1], uint8(3))
	f.Add(good[:40], uint8(3))
	f.Add(startMessage(programOf(spec, fuzzBox, hardLimits(), 1)), uint8(4))
	f.Add(startMessage(programOf(spec, fuzzBox, hardLimits(), 1)), uint8(6))
	for _, at := range []int{4, 8, 12, 16, 20, 24, 28, 32} { // each of the counts, as large as it can be, and the flags
		for _, v := range []uint32{0xffffffff, 0xfffffffd, 17, 16384} {
			spoiled := append([]byte(nil), good...)
			binary.NativeEndian.PutUint32(spoiled[at:], v)
			f.Add(spoiled, uint8(3))
			f.Add(spoiled, uint8(0))
		}
	}
	f.Add([]byte{msgStart}, uint8(1))
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { null.Close() })
	f.Fuzz(func(t *testing.T, msg []byte, n uint8) {
		if len(msg) == 0 || len(msg) > messageMax+100 {
			return
		}
		control, pidfd := z.prepare(t, forUser(prepareMessage(plan, fuzzBox), uid, uid))
		defer control.close()
		if pidfd < 0 {
			t.Fatal("no box")
		}
		defer z.end(t, pidfd)
		if err := control.send(msg, repeated(n%20, int(null.Fd()))...); err != nil {
			t.Skip(err) // the box ended, or the kernel takes no such message
		}
		z.hear(t, control, msgStarted)
	})
}
