package sandbox

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// Directory trees that a program made, on a file system of the host: as deep as it
// likes, longer than any path may be, with modes that shut their owner out, and perhaps
// changing while we look. So they are walked from descriptor to descriptor, of which a
// climber holds two at a time whatever the depth.

// spot is a directory that a climber has been in, or has seen from the one above.
type spot struct {
	up       *spot  // nil: where the climber began
	name     string // in there
	depth    int
	dev, ino uint64
	dirs     []string // those in it that are still to be removed; removeTree
}

// climber moves about in a tree.
type climber struct {
	root  int // where it began; the caller's
	fd    int // the directory that it is in
	at    *spot
	steps int // that it may go to find its way anew, see find
}

// errRestless is a tree that moves so much that nobody finds the way in it.
var errRestless = errors.New("directories are moved about faster than they can be looked at")

// maxSteps bounds how long a restless tree keeps a climber: some 40 ms.
const maxSteps = 20000

func newClimber(root int) (*climber, error) {
	fd, err := openDir(root, ".")
	if err != nil {
		return nil, err
	}
	c := &climber{root: root, fd: fd, at: &spot{}, steps: maxSteps}
	if err := c.arrive(fd, c.at); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return c, nil
}

func (c *climber) close() { unix.Close(c.fd) }

// arrive notes which directory a place is.
func (c *climber) arrive(fd int, p *spot) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	p.dev, p.ino = uint64(st.Dev), st.Ino
	return nil
}

// enter goes down into p, from wherever the climber is: in p.up, below it or lost.
func (c *climber) enter(p *spot) error {
	for c.at != nil && c.at != p.up {
		c.rise()
	}
	if c.at == nil {
		if err := c.find(p.up); err != nil {
			return err
		}
	}
	fd, err := openDir(c.fd, p.name)
	if err != nil {
		return err
	}
	return c.move(fd, p)
}

func (c *climber) move(fd int, p *spot) error {
	if err := c.arrive(fd, p); err != nil {
		unix.Close(fd)
		return err
	}
	unix.Close(c.fd)
	c.fd, c.at = fd, p
	return nil
}

// rise goes one up. Where that is not the directory it came from, since this one was
// moved meanwhile, the climber is lost: c.at is nil.
func (c *climber) rise() {
	up := c.at.up
	c.at = nil
	if up == nil {
		return
	}
	fd, err := openDir(c.fd, "..")
	if err != nil {
		return
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || uint64(st.Dev) != up.dev || st.Ino != up.ino {
		unix.Close(fd)
		return
	}
	unix.Close(c.fd)
	c.fd, c.at = fd, up
}

// find goes to a place from where the climber began, name by name.
func (c *climber) find(p *spot) error {
	if c.steps -= p.depth + 1; c.steps < 0 {
		return errRestless
	}
	names := make([]string, 0, p.depth)
	for at := p; at.up != nil; at = at.up {
		names = append(names, at.name)
	}
	fd, err := openDir(c.root, ".")
	for i := len(names) - 1; err == nil && i >= 0; i-- {
		var next int
		next, err = openDir(fd, names[i])
		unix.Close(fd)
		fd = next
	}
	if err != nil {
		return err
	}
	return c.move(fd, p)
}

// below is a directory in the one that the climber is in.
func (c *climber) below(name string) *spot {
	return &spot{up: c.at, name: name, depth: c.at.depth + 1}
}

// names are those of everything in the directory that the climber has just entered.
func (c *climber) names() ([]string, error) {
	var names []string
	for {
		n, err := c.some(&names)
		if err != nil || n == 0 {
			return names, err
		}
	}
}

// some appends the next names of the directory; none are left when it returns 0.
func (c *climber) some(names *[]string) (int, error) {
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(c.fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return 0, err
		}
		if _, n, *names = unix.ParseDirent(buf[:n], -1, *names); n > 0 {
			return n, nil
		} // else "." and ".." alone
	}
}

// maxAllows is how often rights are taken back before it is told that a program takes
// them away: one that shuts a directory once may do so just when we have opened it.
const maxAllows = 8

// allowed does something with a name in the climber's directory; where that is refused,
// again with the rights to the directory that a program has taken from us.
func (c *climber) allowed(do func() error) error {
	err := do()
	for range maxAllows {
		if !errors.Is(err, unix.EACCES) || unix.Fchmod(c.fd, 0o700) != nil {
			break
		}
		err = do()
	}
	return err
}

// openDir opens a directory in another one, never through a link. It gives us back the
// rights that we need, where the directory is ours and a program has taken them.
func openDir(dir int, name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	// A new time of access would tell the program where we are.
	fd, err := openat(dir, name, flags|unix.O_NOATIME)
	if errors.Is(err, unix.EPERM) { // it is another's
		fd, err = openat(dir, name, flags)
	}
	for range maxAllows {
		if !errors.Is(err, unix.EACCES) {
			break
		}
		if err = reclaim(dir, name); err == nil {
			fd, err = openat(dir, name, flags)
		}
	}
	return fd, err
}

// reclaim gives us all rights to a directory in another one, and to that.
func reclaim(dir int, name string) error {
	unix.Fchmod(dir, 0o700) // not with O_PATH, as which it is nobody's but ours
	only, err := openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(only)
	if unix.Chmod("/proc/self/fd/"+strconv.Itoa(only), 0o700) != nil {
		return unix.EACCES
	}
	return nil
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
