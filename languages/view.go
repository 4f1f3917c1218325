package languages

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// errOutside says that a path exists for the host but not in the box.
var errOutside = errors.New("is outside the system directories that a box sees; name its directory in environment.mounts")

// systemDirs are what a box sees of a host without a root of its own.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"}

// view finds the host's files by the paths that the box sees: through mounts,
// the root, and symbolic links as they lead in the box.
type view struct {
	root   string // host directory; "" is the host's system directories
	mounts []EnvMount
}

// maxLinks is the kernel's bound on symbolic links in one path, path_resolution(7).
const maxLinks = 40

// resolve follows a path in the box to the host's file.
func (v view) resolve(p string) (string, error) {
	for range maxLinks {
		next, host, err := v.step(p)
		if err != nil || next == "" {
			return host, err
		}
		p = next
	}
	return "", fmt.Errorf("%s: too many symbolic links", p)
}

// step walks p until a symbolic link and returns the path that it makes of p, or
// "" and the host's path when there is none.
func (v view) step(p string) (next, host string, err error) {
	parts := strings.Split(strings.TrimPrefix(path.Clean(p), "/"), "/")
	at := "/"
	for i, part := range parts {
		dir := at
		at = path.Join(at, part)
		var inner bool
		if host, inner, err = v.host(at); err != nil {
			return "", "", err
		}
		if inner {
			continue
		}
		info, err := os.Lstat(host)
		if err != nil {
			return "", "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := os.Readlink(host)
		if err != nil {
			return "", "", err
		}
		if !path.IsAbs(target) {
			target = path.Join(dir, target)
		}
		return path.Join(append([]string{target}, parts[i+1:]...)...), "", nil
	}
	return "", host, nil
}

// host maps one path of the box without following links. inner says that it is
// only a directory on the way to a mount.
func (v view) host(at string) (host string, inner bool, err error) {
	best := -1
	for i, m := range v.mounts {
		if within(at, m.Target) && (best < 0 || len(m.Target) > len(v.mounts[best].Target)) {
			best = i
		}
		inner = inner || within(m.Target, at)
	}
	if best >= 0 {
		source, err := filepath.EvalSymlinks(v.mounts[best].Source)
		return source + strings.TrimPrefix(at, v.mounts[best].Target), false, err
	}
	if inner {
		return "", true, nil
	}
	if v.root == "" && !slices.ContainsFunc(systemDirs, func(dir string) bool { return within(at, dir) }) {
		return "", false, fmt.Errorf("%s: %w", at, errOutside)
	}
	return v.root + at, false, nil
}

// glob lists the paths of the box that match a pattern, in order.
func (v view) glob(pattern string) ([]string, error) {
	fixed := pattern
	for strings.ContainsAny(fixed, "*?[") {
		fixed = path.Dir(fixed)
	}
	if fixed == pattern {
		return []string{pattern}, nil
	}
	base, err := v.resolve(fixed)
	if err != nil {
		return nil, err
	}
	found, err := filepath.Glob(base + strings.TrimPrefix(pattern, fixed))
	if err != nil {
		return nil, fmt.Errorf("match %s: %w", pattern, err)
	}
	for i, f := range found {
		found[i] = fixed + strings.TrimPrefix(f, base)
	}
	slices.Sort(found)
	return found, nil
}

func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir+"/")
}
