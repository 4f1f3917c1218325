//go:build soak

package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What may be more at the end than after the first phase, in one process, and on the
// host, where others work too.
const (
	soakMoreMemory     = 48 << 20 // resident, of a daemon: the Go heap breathes
	soakMoreFiles      = 8        // descriptors
	soakMoreGoroutines = 16
	soakMoreGroups     = 400 // cgroups of the host, dying ones included
	soakMoreNetworks   = 100 // network namespaces of the host, where the kernel tells
	soakKillsPerLost   = 50  // a worker that dies every few seconds hits one submission three times in about 1,000 kills
	soakBoxProcesses   = 6   // for each slot at rest: the nursery and what is prepared
)

// soakSize is what may grow in a process; -1 is not known.
type soakSize struct{ memory, files, goroutines int64 }

func (a soakSize) String() string {
	return fmt.Sprintf("%.1f MiB, %d descriptors, %d goroutines", float64(a.memory)/(1<<20), a.files, a.goroutines)
}

// soakHost is what may be left on the host.
type soakHost struct {
	mounts           int
	groups, networks int64 // of the whole host, -1 where it is not told
}

func (s *soak) host() soakHost {
	h := soakHost{mounts: bytes.Count(s.file("/proc/self/mountinfo"), []byte("\n")), groups: -1, networks: -1}
	for line := range bytes.Lines(s.file("/proc/cgroups")) { // name, hierarchy, groups, enabled
		if f := strings.Fields(string(line)); len(f) == 4 && f[0] == "memory" {
			h.groups, _ = strconv.ParseInt(f[2], 10, 64)
		}
	}
	slabs, _ := os.ReadFile("/proc/slabinfo") // not there in every kernel
	if m := regexp.MustCompile(`(?m)^net_namespace +([0-9]+)`).FindSubmatch(slabs); m != nil {
		h.networks, _ = strconv.ParseInt(string(m[1]), 10, 64)
	}
	return h
}

func (s *soak) file(name string) []byte {
	b, err := os.ReadFile(name)
	if err != nil {
		s.t.Errorf("look: %v", err)
	}
	return b
}

// look is called when every submission has come to its end and both workers live.
func (s *soak) look(phase int) {
	s.say(fmt.Sprintf("phase %d of %d", phase, soakPhases))
	s.orphansGo()
	s.last = map[string]soakSize{}
	for name, p := range s.others {
		s.last[name] = s.size(p.Pid(), "")
	}
	steady := s.workers["steady"]
	s.last["steady worker"] = s.size(steady.process.Pid(), steady.ops)
	for name, w := range s.workers {
		below := s.below(w.process.Pid())
		if len(below) > soakSlots*soakBoxProcesses {
			s.t.Errorf("phase %d: worker %s has %d processes at rest: %v", phase, name, len(below), below)
		}
	}
	for _, g := range s.groups {
		for name := range s.workers {
			if workers := soakDirs(filepath.Join(g, name)); len(workers) > 2 { // its groups, and where v2 had it move
				s.t.Errorf("phase %d: cgroups in %s/%s: %v", phase, g, name, workers)
			}
		}
	}
	if s.first == nil {
		s.first = maps.Clone(s.last)
	}
	for name, now := range s.last {
		was := s.first[name]
		fmt.Printf("soak:         %s: %v\n", name, now)
		if now.memory > was.memory+soakMoreMemory || now.files > was.files+soakMoreFiles || now.goroutines > was.goroutines+soakMoreGoroutines {
			s.t.Errorf("phase %d: %s grew from %v to %v", phase, name, was, now)
		}
	}
}

// size looks at one process; ops is the address of its metrics, or "".
func (s *soak) size(pid int, ops string) soakSize {
	size := soakSize{goroutines: -1}
	if m := regexp.MustCompile(`VmRSS:\s+([0-9]+) kB`).FindSubmatch(s.file(fmt.Sprintf("/proc/%d/status", pid))); m != nil {
		size.memory, _ = strconv.ParseInt(string(m[1]), 10, 64)
		size.memory <<= 10
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		s.t.Errorf("look: %v", err)
	}
	size.files = int64(len(files))
	if ops != "" {
		text, err := get(s.t.Context(), "http://"+ops+"/metrics")
		if err != nil {
			s.t.Errorf("look: %v", err)
		}
		if m := regexp.MustCompile(`(?m)^go_goroutines ([0-9]+)`).FindStringSubmatch(text); m != nil {
			size.goroutines, _ = strconv.ParseInt(m[1], 10, 64)
		}
	}
	return size
}

// soakProcess is a line of /proc/PID/stat.
type soakProcess struct {
	pid, parent int
	name, state string
}

func (s *soak) processes() []soakProcess {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		s.t.Error(err)
	}
	var found []soakProcess
	for _, stat := range stats {
		b, err := os.ReadFile(stat)
		open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
		if err != nil || open < 0 || end < open { // it is gone
			continue
		}
		p := soakProcess{name: string(b[open+1 : end])}
		fmt.Sscan(string(b[:open]), &p.pid)
		fmt.Sscan(string(b[end+1:]), &p.state, &p.parent)
		found = append(found, p)
	}
	return found
}

// below are the descendants of a process.
func (s *soak) below(root int) []soakProcess {
	tree, all := []soakProcess{{pid: root}}, s.processes()
	for i := 0; i < len(tree); i++ {
		for _, p := range all {
			if p.parent == tree[i].pid {
				tree = append(tree, p)
			}
		}
	}
	return tree[1:]
}

// orphansGo waits until no process is without its parent: what a killed worker had
// started must die with it. No process but the test is a child of PID 1 here.
func (s *soak) orphansGo() {
	var left []soakProcess
	s.eventually("processes without a parent", soakDying, func() string {
		left = slices.DeleteFunc(s.processes(), func(p soakProcess) bool {
			return p.state != "Z" && (p.parent != 1 && p.parent != 0 || p.pid == os.Getpid() || p.pid == 1)
		})
		if len(left) == 0 {
			return ""
		}
		return fmt.Sprint(left)
	})
}

// deadGroupsGo checks that the worker that was started has removed the cgroups of the
// one that was killed before it.
func (s *soak) deadGroupsGo(worker string) {
	s.eventually("cgroups of dead workers", soakDying, func() string {
		for _, g := range s.groups {
			own := fmt.Sprintf("judgefarm-%d-", s.workers[worker].process.Pid())
			for _, dir := range soakDirs(filepath.Join(g, worker)) {
				if strings.HasPrefix(dir, "judgefarm-") && !strings.HasPrefix(dir, own) && dir != "judgefarm-main" {
					return filepath.Join(g, worker, dir)
				}
			}
		}
		return ""
	})
}

// soakDying is how long what is dying may take.
const soakDying = 10 * time.Second

// eventually waits until nothing is left to tell.
func (s *soak) eventually(what string, patience time.Duration, left func() string) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		text := left()
		if text == "" {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Errorf("%s: %s", what, text)
			return
		}
	}
}

func soakDirs(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var dirs []string
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, e.Name())
		}
	}
	return dirs
}
