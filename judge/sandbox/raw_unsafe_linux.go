package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of a run's hot path. None of them waits, so they do not tell
// the scheduler that they could: telling wakes the runtime's monitor, which then
// looks every 20 us at what we do and costs a third of our part of a box.

// raw's pointers are kept where they are: they come as uintptr(unsafe.Pointer(p)) in
// the call itself, and do not move while it lasts.
//
//go:uintptrescapes
func raw(nr, a, b, c, d, e uintptr) (int, error) {
	for {
		r, _, errno := unix.RawSyscall6(nr, a, b, c, d, e, 0)
		switch {
		case errno == 0:
			return int(r), nil
		case errno != unix.EINTR || nr == unix.SYS_CLOSE:
			return -1, errno
		}
	}
}

func rawPath(nr uintptr, dir int, name string, b, c uintptr) (int, error) {
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	return raw(nr, uintptr(dir), uintptr(unsafe.Pointer(p)), b, c, 0)
}

func rawOpen(dir int, name string, flags int) (int, error) {
	return rawPath(unix.SYS_OPENAT, dir, name, uintptr(flags|unix.O_CLOEXEC), 0)
}

func rawRead(fd int, buf []byte) (int, error) {
	return raw(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)), 0, 0)
}

func rawReadStart(fd int, buf []byte) (int, error) {
	return raw(unix.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)), 0, 0)
}

func rawWrite(fd int, text string) (int, error) {
	return raw(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(len(text)), 0, 0)
}

func rawClose(fd int) { raw(unix.SYS_CLOSE, uintptr(fd), 0, 0, 0, 0) }

// rawMessage is sendmsg or recvmsg; it returns the bytes of the message and of its
// control part.
func rawMessage(nr uintptr, fd int, buf, oob []byte, flags int) (int, int, error) {
	iov := unix.Iovec{Base: unsafe.SliceData(buf)}
	iov.SetLen(len(buf))
	msg := unix.Msghdr{Iov: &iov}
	msg.SetIovlen(1)
	if len(oob) > 0 {
		msg.Control = unsafe.SliceData(oob)
		msg.SetControllen(len(oob))
	}
	n, err := raw(nr, uintptr(fd), uintptr(unsafe.Pointer(&msg)), uintptr(flags), 0, 0)
	return n, int(msg.Controllen), err
}

func rawEpollControl(epoll, op, fd int) error {
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	_, err := raw(unix.SYS_EPOLL_CTL, uintptr(epoll), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(&ev)), 0)
	return err
}

func rawEpollWait(epoll int, events []unix.EpollEvent) (int, error) {
	return raw(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0)
}
