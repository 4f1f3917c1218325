package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// maxCarried is how many mounts come with the program rather than with the box: as
// many descriptors as a message has room for.
const maxCarried = 8

// openMounts opens what is mounted into a finished box, as the nursery opens what boxes
// are made with. The caller closes them.
func openMounts(mounts []Mount) (fds []int, err error) {
	for _, m := range mounts {
		fd, err := openMount(m.Source)
		if err != nil {
			closeAll(fds)
			return nil, fmt.Errorf("open mount %s: %w", m.Source, err)
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

func openMount(source string) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, err
	}
	// Private, so that nothing that is mounted in the box reaches the host.
	attr := unix.MountAttr{Attr_set: attrTools, Propagation: unix.MS_PRIVATE}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		rawClose(fd)
		return -1, err
	}
	return fd, nil
}
