package sandbox

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// group is one box's cgroup, in each hierarchy one directory of the same name.
// Its methods belong to the goroutine that runs the box.
type group struct {
	c     *cgroups
	name  string
	tasks int         // the limit
	cpuFD int         // the CPU usage file, read over and over
	own   judge.Bytes // the most that was seen without page cache
	oom   int         // v1: eventfd that counts out-of-memory events; -1 on v2
}

// newGroup makes a group with its limits. An old directory of the same name is an
// error: limits would be another box's and counters would not start at zero.
func (c *cgroups) newGroup(name string, memory judge.Bytes, tasks int) (*group, error) {
	g := &group{c: c, name: name, cpuFD: -1, oom: -1}
	for i, h := range c.all {
		if _, err := rawPath(unix.SYS_MKDIRAT, h.fd, name, 0o755, 0); err != nil {
			for _, made := range c.all[:i] {
				err = errors.Join(err, removeGroup(made.fd, name))
			}
			return nil, fmt.Errorf("make cgroup of box: %w", err)
		}
	}
	if err := g.limit(memory, tasks); err != nil {
		return nil, errors.Join(err, g.remove())
	}
	if !c.memory.v2 {
		if err := g.watchOOM(); err != nil {
			return nil, errors.Join(err, g.remove())
		}
	}
	usage := "/cpuacct.usage"
	if c.cpu.v2 {
		usage = "/cpu.stat"
	}
	var err error
	if g.cpuFD, err = rawOpen(c.cpu.fd, name+usage, unix.O_RDONLY); err != nil {
		return nil, errors.Join(fmt.Errorf("open cgroup file %s: %w", usage, err), g.remove())
	}
	return g, nil
}

func (g *group) limit(memory judge.Bytes, tasks int) error {
	g.tasks = tasks
	c, bytes := g.c, strconv.FormatInt(wholePages(memory), 10)
	if err := writeAt(c.pids.fd, g.name+"/pids.max", strconv.Itoa(tasks)); err != nil {
		return err
	}
	if c.memory.v2 {
		return errors.Join(
			writeAt(c.memory.fd, g.name+"/memory.max", bytes),
			g.writeIfThere("/memory.swap.max", "0"),
			writeAt(c.memory.fd, g.name+"/memory.oom.group", "1"),
		)
	}
	err := writeAt(c.memory.fd, g.name+"/memory.limit_in_bytes", bytes)
	if err == nil && !c.noSwapFile {
		// Memory and swap together: with the same value none is left for swap.
		err = writeAt(c.memory.fd, g.name+"/memory.memsw.limit_in_bytes", bytes)
	}
	return err
}

// relimit changes the limits of a group that nothing has been in.
func (g *group) relimit(memory judge.Bytes, tasks int) error {
	if !g.c.memory.v2 && !g.c.noSwapFile {
		// The limit of memory alone may at no time be beyond this one.
		if err := writeAt(g.c.memory.fd, g.name+"/memory.memsw.limit_in_bytes", "-1"); err != nil {
			return err
		}
	}
	return g.limit(memory, tasks)
}

// writeIfThere is for files that a kernel without swap does not have.
func (g *group) writeIfThere(file, text string) error {
	err := writeAt(g.c.memory.fd, g.name+file, text)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// watchOOM asks v1 to count out-of-memory events into an eventfd; memory cgroup
// v1 documentation, section 10. v1 kills one process where v2 with oom.group ends
// the whole box, so somebody has to wait for it.
func (g *group) watchOOM() error {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("make eventfd: %w", err)
	}
	g.oom = fd
	control, err := rawOpen(g.c.memory.fd, g.name+"/memory.oom_control", unix.O_RDONLY)
	if err != nil {
		return fmt.Errorf("open cgroup file memory.oom_control: %w", err)
	}
	defer rawClose(control)
	return writeAt(g.c.memory.fd, g.name+"/cgroup.event_control", fmt.Sprintf("%d %d", fd, control))
}

// usageFile tells what was used when the program began.
func (g *group) usageFile() int { return g.cpuFD }

func (g *group) limitFile() (int, error) {
	fd, err := rawOpen(g.c.pids.fd, g.name+"/pids.max", unix.O_WRONLY)
	if err != nil {
		return -1, fmt.Errorf("open cgroup file pids.max: %w", err)
	}
	return fd, nil
}

// joinFiles opens what a process writes "0" to in order to join. On v1 it is
// tasks: a single thread that moves itself takes no global lock, where a process
// that moves by cgroup.procs stops every fork and exit of the host.
func (g *group) joinFiles() ([]int, error) {
	var fds []int
	for _, h := range g.c.all {
		file := "/tasks"
		if h.v2 {
			file = "/cgroup.procs"
		}
		fd, err := rawOpen(h.fd, g.name+file, unix.O_WRONLY)
		if err != nil {
			closeAll(fds)
			return nil, fmt.Errorf("open cgroup file %s: %w", file, err)
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// cpu is the CPU time, user and system, of everything that was ever in the group.
func (g *group) cpu() (time.Duration, error) {
	s, err := readFD(g.cpuFD, "cpu usage")
	if err != nil {
		return 0, err
	}
	if g.c.cpu.v2 {
		us := field(s, "usage_usec")
		if us < 0 {
			return 0, fmt.Errorf("read cgroup file cpu.stat: no usage_usec")
		}
		return time.Duration(us) * time.Microsecond, nil
	}
	ns, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read cgroup file cpuacct.usage: %w", err)
	}
	return time.Duration(ns), nil
}

// split is how the kernel divides CPU time between user and system. It counts
// that by ticks, so the parts are scaled to the exact total.
func (g *group) split(total time.Duration) (user, system time.Duration) {
	var u, s int64
	if g.c.cpu.v2 {
		text, _ := readFD(g.cpuFD, "cpu usage")
		u, s = field(text, "user_usec"), field(text, "system_usec")
	} else {
		u, _ = readInt(g.c.cpu.fd, g.name+"/cpuacct.usage_user")
		s, _ = readInt(g.c.cpu.fd, g.name+"/cpuacct.usage_sys")
	}
	if u < 0 || s < 0 || u+s == 0 {
		return total, 0
	}
	user = time.Duration(float64(total) * (float64(u) / float64(u+s)))
	return user, total - user
}

// oomKills counts the group's processes that the kernel ended for memory.
func (g *group) oomKills() (int64, error) {
	file := "/memory.oom_control"
	if g.c.memory.v2 {
		file = "/memory.events"
	}
	s, err := readAt(g.c.memory.fd, g.name+file)
	if err != nil {
		return 0, err
	}
	if n := field(s, "oom_kill"); n >= 0 {
		return n, nil
	}
	return 0, fmt.Errorf("read cgroup file %s: no oom_kill", file)
}

// waker is v1's out-of-memory event.
func (g *group) waker(*box) int { return g.oom }

func (g *group) woke(b *box, next time.Time) (time.Time, error) {
	b.oomEvent = true
	b.kill(killMemory)
	return next, b.slot.poller.remove(g.oom)
}

// The group needs nobody to tell it anything, nor to end the box.
func (g *group) told(*box, reply, int) error              { return nil }
func (g *group) end(*box) bool                            { return false }
func (g *group) within(sleep time.Duration) time.Duration { return sleep }

// measure reads the counters of a dead box.
func (g *group) measure(r *Report) error {
	m, p := g.c.memory, g.c.pids
	peak, events, refused := "/memory.max_usage_in_bytes", int64(0), "/pids.events"
	var err error
	if m.v2 {
		peak = "/memory.peak"
		s, rerr := readAt(m.fd, g.name+"/memory.events")
		err, events = rerr, max(field(s, "max"), 0)
	} else {
		events, err = readInt(m.fd, g.name+"/memory.failcnt")
	}
	bytes, perr := readInt(m.fd, g.name+peak)
	kills, kerr := g.oomKills()
	forks, ferr := readAt(p.fd, g.name+refused)
	if err = errors.Join(err, perr, kerr, ferr); err != nil {
		return err
	}
	g.memory(r, judge.Bytes(bytes))
	r.Evidence.OOMKills, r.Evidence.OOMEvents = kills, events
	r.Evidence.ForksRefused = max(field(forks, "max"), 0)
	r.Evidence.TasksPeak = -1
	if n, err := readInt(p.fd, g.name+"/pids.peak"); err == nil { // since Linux 6.6
		r.Evidence.TasksPeak = min(n, int64(g.tasks)) // PID 1 may be in it
	}
	return nil
}

// remove deletes the group, whose processes are dead.
func (g *group) remove() error {
	if g.oom >= 0 {
		rawClose(g.oom)
	}
	if g.cpuFD >= 0 {
		rawClose(g.cpuFD)
	}
	var errs []error
	for _, h := range g.c.all {
		errs = append(errs, removeGroup(h.fd, g.name))
	}
	return errors.Join(errs...)
}

func closeAll(fds []int) {
	for _, fd := range fds {
		rawClose(fd)
	}
}
