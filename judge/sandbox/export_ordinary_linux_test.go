package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is a cgroup hierarchy that boxes need, and where a group may be made in it:
// our own group first, then those above it.
type Tree struct {
	V2   bool
	Dirs []string
}

// Trees are the hierarchies of this host that Cgroups would come from, each once.
func Trees() ([]Tree, error) {
	mounts, err := cgroupMounts()
	if err != nil {
		return nil, err
	}
	var trees []Tree
	for _, controller := range []string{"memory", "pids", "cpuacct"} {
		m, ok := backing(mounts, controller)
		if !ok {
			return nil, fmt.Errorf("no cgroup controller %q", controller)
		}
		tree := Tree{V2: m.v2}
		for dir := m.own; strings.HasPrefix(dir, m.dir); dir = filepath.Dir(dir) {
			tree.Dirs = append(tree.Dirs, dir)
		}
		if !slices.ContainsFunc(trees, func(t Tree) bool { return t.Dirs[0] == tree.Dirs[0] }) {
			trees = append(trees, tree)
		}
	}
	return trees, nil
}
