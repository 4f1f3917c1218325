package sandbox

import (
	"fmt"
	"path"
	"strings"

	"judgefarm/judge"
)

// Bounds of a Spec. The kernel takes more, yet no run has a use for it.
const (
	maxArgs    = 96 << 10 // bytes of Args and Env together
	maxStrings = 16000    // how many they are
	maxMounts  = 32
	maxFiles   = 4096
	maxOpen    = 16 // OPEN_MAX of nursery.h
)

// Defaults of BoxLimits.
const (
	defaultFileSize  = 64 * judge.MiB
	defaultDisk      = 64 * judge.MiB
	defaultInodes    = 4096
	defaultOpenFiles = 256
	// leastStack is the stack's where the memory limit is smaller: with less the kernel
	// ends an exec by SIGSEGV, which is no word of memory. The cgroup bounds it all the same.
	leastStack = 8 * judge.MiB
)

// Complete returns b with every zero field set to its default.
func (b BoxLimits) Complete(l judge.Limits) BoxLimits {
	if b.FileSize == 0 {
		b.FileSize = defaultFileSize
	}
	if b.Disk == 0 {
		b.Disk = defaultDisk
	}
	if b.Inodes == 0 {
		b.Inodes = defaultInodes
	}
	if b.OpenFiles == 0 {
		b.OpenFiles = defaultOpenFiles
	}
	if b.Stack == 0 {
		b.Stack = max(l.Memory, leastStack)
	}
	return b
}

// Validate reports every fault of a spec that can be told without a host, as a
// *judge.BadRequest whose fields are named as in Spec. Every Runner calls it.
func (s Spec) Validate() error {
	var faults []*judge.FieldError
	refuse := func(field, format string, args ...any) {
		faults = append(faults, &judge.FieldError{Field: field, Reason: fmt.Sprintf(format, args...)})
	}
	s.validateProgram(refuse)
	s.validateTree(refuse)
	faults = append(faults, s.Limits.Validate("limits.")...)
	s.validateBox(refuse)
	return judge.Refuse(faults...)
}

type refuseFunc func(field, format string, args ...any)

func (s Spec) validateProgram(refuse refuseFunc) {
	if len(s.Args) == 0 || s.Args[0] == "" {
		refuse("args", "must name a program")
	} else if strings.Contains(s.Args[0], "/") && !path.IsAbs(s.Args[0]) {
		refuse("args[0]", "must be an absolute path or a name without a slash, is %q", s.Args[0])
	}
	total := 0
	for i, a := range s.Args {
		total += len(a) + 1
		if strings.ContainsRune(a, 0) {
			refuse(fmt.Sprintf("args[%d]", i), "must not have a NUL byte")
		}
	}
	for i, e := range s.Env {
		total += len(e) + 1
		if strings.ContainsRune(e, 0) || strings.IndexByte(e, '=') < 1 {
			refuse(fmt.Sprintf("env[%d]", i), "must be NAME=value without a NUL byte")
		}
	}
	if n := len(s.Args) + len(s.Env); n > maxStrings {
		refuse("args", "and env together must be at most %d, are %d", maxStrings, n)
	}
	if total > maxArgs {
		refuse("args", "and env together must be at most %d bytes, are %d", maxArgs, total)
	}
	if s.Dir != "" {
		refusePath(refuse, "dir", s.Dir)
	}
	if s.Stdout.Merge {
		refuse("stdout.merge", "is for stderr only")
	}
	if s.Stderr.Merge && s.Stderr.File != nil {
		refuse("stderr.merge", "must not be set together with stderr.file")
	}
	for name, st := range map[string]Stream{"stdout": s.Stdout, "stderr": s.Stderr} {
		if st.Limit < 0 || st.Limit > judge.GiB {
			refuse(name+".limit", "must be 0 to 1 GiB, is %d bytes", st.Limit)
		}
		if st.Spill != nil && (st.File != nil || st.Merge) {
			refuse(name+".spill", "is for a stream that is captured")
		}
	}
}

// open are the files that Sealed leaves writable, with the directory before them.
func (s Spec) open(dir string) (names []string) {
	for _, f := range s.Files {
		if s.Sealed && f.Open {
			names = append(names, path.Join(dir, f.Name))
		}
	}
	return names
}

func (s Spec) validateTree(refuse refuseFunc) {
	if s.Root != "" {
		refusePath(refuse, "root", s.Root)
	}
	if len(s.Mounts) > maxMounts {
		refuse("mounts", "must be at most %d, are %d", maxMounts, len(s.Mounts))
	}
	for i, m := range s.Mounts {
		refusePath(refuse, fmt.Sprintf("mounts[%d].source", i), m.Source)
		field := fmt.Sprintf("mounts[%d].target", i)
		refusePath(refuse, field, m.Target)
		for _, own := range []string{"/", WorkDir, "/tmp", "/dev", "/proc"} {
			if t := path.Clean(m.Target); t == own || own != "/" && strings.HasPrefix(t, own+"/") {
				refuse(field, "must not lie at or below %s, which is the box's own, is %q", own, m.Target)
			}
		}
	}
	if len(s.Files) > maxFiles {
		refuse("files", "must be at most %d, are %d", maxFiles, len(s.Files))
	}
	if n := len(s.open("")); n > maxOpen {
		refuse("files", "must be at most %d that are open, are %d", maxOpen, n)
	}
	for i, f := range s.Files {
		if err := judge.CheckFileName(f.Name); err != nil {
			refuse(fmt.Sprintf("files[%d].name", i), "%v", err)
		}
		if f.Mode.Perm() != f.Mode {
			refuse(fmt.Sprintf("files[%d].mode", i), "must be permission bits only, is %v", f.Mode)
		}
	}
	for i, c := range s.Collect {
		if err := judge.CheckFileName(c.Name); err != nil && (!c.Dir || c.Name != ".") {
			refuse(fmt.Sprintf("collect[%d].name", i), "%v", err)
		}
		if c.Max < 0 || c.Max > 4*judge.GiB {
			refuse(fmt.Sprintf("collect[%d].max", i), "must be 0 to 4 GiB, is %d bytes", c.Max)
		}
	}
}

func (s Spec) validateBox(refuse refuseFunc) {
	sizes := map[string]judge.Bytes{"file_size": s.Box.FileSize, "disk": s.Box.Disk, "stack": s.Box.Stack}
	for name, v := range sizes {
		if v < 0 || v > 1024*judge.GiB {
			refuse("box."+name, "must be 0 to 1 TiB, is %d bytes", v)
		}
	}
	if s.Slack < 0 || s.Slack > 1024*judge.GiB {
		refuse("slack", "must be 0 to 1 TiB, is %d bytes", s.Slack)
	}
	if n := s.Box.Inodes; n != 0 && (n < 16 || n > 1<<24) {
		refuse("box.inodes", "must be 0 or 16 to 16777216, is %d", n)
	}
	if n := s.Box.OpenFiles; n != 0 && (n < 8 || n > 1<<20) {
		refuse("box.open_files", "must be 0 or 8 to 1048576, is %d", n)
	}
	for _, c := range s.Box.CPUs {
		if c < 0 || c >= maxCPUs {
			refuse("box.cpus", "must be 0 to %d, is %d", maxCPUs-1, c)
		}
	}
}

// maxCPUs bounds core numbers, as glibc's cpu_set_t does.
const maxCPUs = 1024

func refusePath(refuse refuseFunc, field, p string) {
	if !path.IsAbs(p) || path.Clean(p) != p || len(p) > 4000 || strings.ContainsRune(p, 0) {
		refuse(field, "must be a clean absolute path, is %q", p)
	}
}
