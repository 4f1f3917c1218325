package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// leafName is the group that the worker itself moves to. It is no group of boxes,
// and no janitor takes it.
const leafName = "judgefarm-main"

// v2Leaf is a group that the worker moved itself into, because in v2 a group with
// processes cannot hand controllers to its children; cgroups(7), "no internal
// processes".
type v2Leaf struct{ parent, dir string }

// delegate makes sure that groups below dir can have memory and pids limits. Only
// our own group is changed, and only ourselves are moved.
func delegate(dir string, own bool) (*v2Leaf, error) {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return nil, fmt.Errorf("read cgroup: %w", err)
	}
	if on := strings.Fields(string(b)); slices.Contains(on, "memory") && slices.Contains(on, "pids") {
		return leafOf(dir), nil
	}
	if !own {
		return nil, fmt.Errorf("cgroup %s does not hand memory and pids to its children", dir)
	}
	enable := func() error {
		return writeAt(unix.AT_FDCWD, filepath.Join(dir, "cgroup.subtree_control"), "+memory +pids")
	}
	err = enable()
	if !errors.Is(err, unix.EBUSY) {
		return nil, err
	}
	procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil, fmt.Errorf("read cgroup: %w", err)
	}
	pid := strconv.Itoa(os.Getpid())
	if n := othersIn(string(procs), pid); n > 0 {
		return nil, fmt.Errorf("cgroup %s holds %d processes besides the worker; start it in a cgroup of its own", dir, n)
	}
	leaf := &v2Leaf{parent: dir, dir: filepath.Join(dir, leafName)}
	made := unix.Mkdir(leaf.dir, 0o755)
	if made != nil && !errors.Is(made, unix.EEXIST) {
		return nil, fmt.Errorf("make cgroup for the worker: %w", made)
	}
	if err := writeAt(unix.AT_FDCWD, filepath.Join(leaf.dir, "cgroup.procs"), pid); err != nil {
		if made == nil {
			err = errors.Join(err, removeGroup(unix.AT_FDCWD, leaf.dir))
		}
		return nil, err
	}
	if err := enable(); err != nil {
		return nil, errors.Join(err, leaf.undo())
	}
	return leaf, nil
}

// othersIn counts the processes of a cgroup.procs but one, which need not be there.
func othersIn(procs, pid string) (n int) {
	for p := range strings.FieldsSeq(procs) {
		if p != pid {
			n++
		}
	}
	return n
}

// leafOf is the leaf below dir if another Sandbox of this process has moved us there;
// whoever is closed last undoes it.
func leafOf(dir string) *v2Leaf {
	leaf := &v2Leaf{parent: dir, dir: filepath.Join(dir, leafName)}
	procs, err := os.ReadFile(filepath.Join(leaf.dir, "cgroup.procs"))
	if err != nil || !slices.Contains(strings.Fields(string(procs)), strconv.Itoa(os.Getpid())) {
		return nil
	}
	return leaf
}

// undo moves the worker back and removes the leaf, unless another Sandbox of the
// process still has its boxes beside it.
func (l *v2Leaf) undo() error {
	entries, err := os.ReadDir(l.parent)
	if err != nil {
		return fmt.Errorf("read cgroup: %w", err)
	}
	for _, e := range entries {
		if isGroupName(e.Name()) {
			return nil
		}
	}
	return errors.Join(
		writeAt(unix.AT_FDCWD, filepath.Join(l.parent, "cgroup.subtree_control"), "-memory -pids"),
		writeAt(unix.AT_FDCWD, filepath.Join(l.parent, "cgroup.procs"), strconv.Itoa(os.Getpid())),
		removeGroup(unix.AT_FDCWD, l.dir),
	)
}
