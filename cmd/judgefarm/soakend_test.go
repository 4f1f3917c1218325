//go:build soak

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"judgefarm/judge"
)

// soakProgram is a submission of a kind, compiled once and judged over and over.
type soakProgram struct {
	name   string
	source string
	cases  int
	limits judge.LimitsJSON
	want   judge.Verdict
}

const soakSum = "#include <stdio.h>\nint sum(void) { int a, b; return scanf(\"%d %d\", &a, &b) == 2 && printf(\"%d\\n\", a + b) > 0 ? 0 : 1; }\n"

// soakPrograms are sent in turn: most are honest, the others leave what they can.
var soakPrograms = []soakProgram{
	{name: "sum", source: soakSum + "int main(void) { return sum(); }\n", cases: 10, want: judge.Accepted},
	{name: "again", source: soakSum + "int main(void) { int r = sum(); return r; }\n", cases: 10, want: judge.Accepted},
	{name: "daemon", cases: 10, want: judge.Accepted, source: soakSum + `#include <unistd.h>
int main(void) {
  int r = sum();
  fflush(stdout);
  if (fork() == 0) { setsid(); if (fork() == 0) for (;;) pause(); }
  return r;
}
`},
	{name: "litter", cases: 10, want: judge.Accepted, source: soakSum + `#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
int main(void) {
  shmget(1, 65536, IPC_CREAT | 0666);
  msgget(1, IPC_CREAT | 0666);
  int fd[2] = {open("/tmp/left", O_CREAT | O_WRONLY, 0600), open("/dev/shm/left", O_CREAT | O_WRONLY, 0600)};
  socketpair(AF_UNIX, SOCK_STREAM, 0, fd);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = 80};
  int s = socket(AF_INET, SOCK_STREAM, 0);
  connect(s, (struct sockaddr *)&a, sizeof a);
  return sum();
}
`},
	{name: "sum", source: soakSum + "int main(void) { return sum(); }\n", cases: 10, want: judge.Accepted},
	{name: "hog", cases: 1, limits: judge.LimitsJSON{Memory: 16 << 10}, want: judge.MemoryLimit, source: `#include <stdlib.h>
#include <string.h>
int main(void) { for (;;) { char *p = malloc(1 << 20); if (!p) return 1; memset(p, 1, 1 << 20); } }
`},
	{name: "forks", cases: 1, limits: judge.LimitsJSON{CPU: 200, Wall: 20000, Tasks: 16}, want: judge.TimeLimit, source: `#include <unistd.h>
int main(void) { for (;;) fork(); }
`},
	{name: "prints", cases: 1, limits: judge.LimitsJSON{Output: 64}, want: judge.OutputLimit, source: `#include <stdio.h>
int main(void) { for (;;) puts("x"); }
`},
}

// makeSoakGroups makes a cgroup of ours in each hierarchy that boxes need, and in it
// one for each worker.
func makeSoakGroups(t *testing.T, workers ...string) []string {
	t.Helper()
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var v1, v2 []string
	for line := range strings.Lines(string(info)) {
		before, after, _ := strings.Cut(strings.TrimSpace(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		dir := left[4]
		switch {
		case right[0] == "cgroup2":
			if b, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers")); err == nil && bytes.Contains(b, []byte("memory")) {
				v2 = append(v2, dir)
			}
		case right[0] == "cgroup" && slices.ContainsFunc(strings.Split(right[2], ","), func(o string) bool {
			return o == "memory" || o == "pids" || o == "cpuacct"
		}):
			v1 = append(v1, dir)
		}
	}
	if len(v2) > 0 {
		v1 = v2[:1]
	}
	var groups []string
	for _, dir := range v1 {
		group := filepath.Join(dir, fmt.Sprintf("judgefarm-soak-%d", time.Now().UnixNano()))
		for _, d := range append([]string{""}, workers...) {
			if err := os.Mkdir(filepath.Join(group, d), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { removeSoakGroup(filepath.Join(group, d)) })
		}
		if len(v2) > 0 {
			for _, d := range []string{dir, group} {
				if err := os.WriteFile(filepath.Join(d, "cgroup.subtree_control"), []byte("+memory +pids"), 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// removeSoakGroup removes a group and those in it: a worker that is killed at the end
// of a run that failed has no next start to remove its own. The kernel answers EBUSY
// until the last process is gone for good. What stays then was told before.
func removeSoakGroup(dir string) {
	for _, d := range soakDirs(dir) {
		removeSoakGroup(filepath.Join(dir, d))
	}
	for deadline := time.Now().Add(soakDying); errors.Is(os.Remove(dir), syscall.EBUSY) && time.Now().Before(deadline); {
	}
}

// finish stops the daemons and looks for what is left of them.
func (s *soak) finish() {
	for _, w := range s.workers {
		w.process.Stop()
	}
	for _, p := range s.others {
		p.Stop()
	}
	s.orphansGo()
	if below := s.below(os.Getpid()); len(below) > 1 { // redis-server is testenv's
		s.t.Errorf("processes are left: %v", below)
	}
	for _, g := range s.groups {
		for name := range s.workers {
			if left := soakDirs(filepath.Join(g, name)); len(left) > 0 {
				s.t.Errorf("cgroups are left in %s/%s: %v", g, name, left)
			}
		}
	}
	if entries, err := os.ReadDir(s.tmp); err != nil || len(entries) > 0 {
		s.t.Errorf("files are left in the daemons' temporary directory: %v, %v", entries, err)
	}
	for _, kind := range []string{"shm", "sem", "msg"} {
		if b := s.file("/proc/sysvipc/" + kind); bytes.Count(b, []byte("\n")) > 1 {
			s.t.Errorf("IPC objects are left:\n%s", b)
		}
	}
	networks := map[string]bool{}
	for _, p := range s.processes() {
		if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", p.pid)); err == nil {
			networks[ns] = true
		}
	}
	if len(networks) != 1 {
		s.t.Errorf("network namespaces of processes: %v", networks)
	}
	s.summary(s.host())
}

func (s *soak) summary(after soakHost) {
	s.say("end")
	fmt.Printf("soak: mounts %d -> %d; of the whole host: cgroups %d -> %d, network namespaces %d -> %d\n",
		s.before.mounts, after.mounts, s.before.groups, after.groups, s.before.networks, after.networks)
	if after.mounts != s.before.mounts {
		s.t.Errorf("mounts: %d before, %d after", s.before.mounts, after.mounts)
	}
	if after.groups > s.before.groups+soakMoreGroups || after.networks > s.before.networks+soakMoreNetworks {
		s.t.Errorf("the host had %+v, has %+v", s.before, after)
	}
	for name, was := range s.first {
		fmt.Printf("soak: %s: %v -> %v\n", name, was, s.last[name])
	}
	if s.lost.Load() > 1+s.kills.Load()/soakKillsPerLost {
		s.t.Errorf("%d submissions were given up in %d kills", s.lost.Load(), s.kills.Load())
	}
	if s.kills.Load() == 0 {
		s.t.Error("no worker was killed: too few runs")
	}
}
