//go:build soak

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "judgefarm/clients/go"
	"judgefarm/internal/testenv"
	"judgefarm/judge"
)

// soakPhases is how often everything is let come to rest and looked at.
const soakPhases = 10

// soakSlots is how many submissions a worker judges at once.
const soakSlots = 2

// TestSoak runs tens of thousands of cases through real daemons while one of two
// workers is killed (SIGKILL) and started again at random times, and looks in between
// and at the end for whatever could be left or grow. make soak runs it in namespaces
// of its own, where every process, mount and IPC object is ours.
func TestSoak(t *testing.T) {
	runs, seed := soakNumber(t, "JUDGEFARM_SOAK_RUNS", 50000), soakNumber(t, "JUDGEFARM_SOAK_SEED", time.Now().UnixNano()%1e6)
	fmt.Printf("soak: %d runs, seed %d (make soak RUNS=%d SEED=%d)\n", runs, seed, runs, seed)
	s := startSoak(t, uint64(seed))
	stop := s.killNowAndThen()
	progress := s.progress()
	for phase := 1; phase <= soakPhases && !t.Failed(); phase++ {
		s.judge(runs * int64(phase) / soakPhases)
		s.pause.Lock() // no kill while we look
		s.look(phase)
		s.pause.Unlock()
	}
	stop()
	progress()
	s.finish()
}

func soakNumber(t *testing.T, name string, otherwise int64) int64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		t.Fatalf("%s=%q is no positive number", name, text)
	}
	return n
}

type soak struct {
	t      *testing.T
	server *client.Client
	args   []string // of every daemon
	tmp    string   // TMPDIR of the daemons
	cache  string
	groups []string // ours, one in each hierarchy
	random *rand.Rand
	before soakHost
	began  time.Time
	first  map[string]soakSize // of the processes that live throughout, after the first phase
	last   map[string]soakSize
	taken  atomic.Int64 // attempts that took over from a dead worker
	lost   atomic.Int64 // submissions that were given up after three of them

	runs, submissions, kills atomic.Int64

	pause   sync.Mutex // held while a worker is dead, or while we look
	workers map[string]*soakWorker
	others  map[string]*testenv.Process // redis is not among them: it is testenv's
}

type soakWorker struct {
	process *testenv.Process
	ops     string
}

func startSoak(t *testing.T, seed uint64) *soak {
	t.Helper()
	s := &soak{
		t: t, tmp: openDir(t), cache: openDir(t), random: rand.New(rand.NewPCG(seed, 0)), began: time.Now(),
		workers: map[string]*soakWorker{}, others: map[string]*testenv.Process{},
	}
	s.before = s.host()
	s.groups = makeSoakGroups(t, "steady", "victim")
	s.args = []string{"--redis", "redis://" + testenv.Redis(t), "--blobs", openDir(t), "--log-level", "warn"}
	address := filepath.Join(t.TempDir(), "address")
	d, err := testenv.StartProcess("", s.env(), binary(t), append([]string{"dispatcher", "--listen", "127.0.0.1:0", "--address-file", address}, s.args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Kill)
	s.others["dispatcher"] = d
	wait(t, d, func(context.Context) error {
		text, err := os.ReadFile(address)
		if err == nil {
			s.server, err = client.New(client.Config{URL: "http://" + strings.TrimSpace(string(text))})
		}
		return err
	})
	s.startWorker("steady")
	s.startWorker("victim")
	return s
}

func (s *soak) env() []string { return append(os.Environ(), "TMPDIR="+s.tmp) }

// startWorker starts a worker in its own cgroups and waits until it is ready.
func (s *soak) startWorker(name string) {
	s.t.Helper()
	var join strings.Builder
	for _, g := range s.groups {
		fmt.Fprintf(&join, "echo $$ >%s || exit 1; ", filepath.Join(g, name, "cgroup.procs"))
	}
	w := &soakWorker{ops: fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(s.t))}
	args := []string{"-c", join.String() + `exec "$@"`, "sh", binary(s.t), "worker", "--name", name, "--slots", strconv.Itoa(soakSlots),
		"--ops-listen", w.ops, "--cache-dir", s.cache}
	var err error
	if w.process, err = testenv.StartProcess("", s.env(), "/bin/sh", append(args, s.args...)...); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(w.process.Kill)
	s.workers[name] = w
	s.eventually("worker "+name+" gets ready", 5*time.Minute, func() string {
		if _, err := get(s.t.Context(), "http://"+w.ops+"/readyz"); err != nil {
			return fmt.Sprintf("%v; it printed:\n%s", err, w.process.Output())
		}
		return ""
	})
}

// killNowAndThen kills the victim, sees that nothing of it lives on, and starts it
// again, until the function that it returns is called.
func (s *soak) killNowAndThen() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Second + time.Duration(s.random.Int64N(int64(6*time.Second)))):
			}
			s.killOne()
		}
	}()
	return func() { close(done); <-ended }
}

func (s *soak) killOne() {
	s.pause.Lock()
	defer s.pause.Unlock()
	s.workers["victim"].process.Kill()
	s.kills.Add(1)
	s.orphansGo()
	s.startWorker("victim")
	s.deadGroupsGo("victim")
}

// progress prints a line a minute.
func (s *soak) progress() (stop func()) {
	done := make(chan struct{})
	tick := time.NewTicker(time.Minute)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				s.say("so far")
			}
		}
	}()
	return func() { tick.Stop(); close(done) }
}

func (s *soak) say(what string) {
	took := time.Since(s.began)
	fmt.Printf("soak: %4.0f s, %s: %d submissions, %d runs (%.0f/s), %d kills, %d taken over, %d given up\n",
		took.Seconds(), what, s.submissions.Load(), s.runs.Load(), float64(s.runs.Load())/took.Seconds(), s.kills.Load(), s.taken.Load(), s.lost.Load())
}

// judge sends submissions until there were so many runs, and waits for all of them.
func (s *soak) judge(runs int64) {
	var group sync.WaitGroup
	for range 4 * soakSlots {
		group.Go(func() {
			for s.runs.Load() < runs && !s.t.Failed() {
				s.one(soakPrograms[s.submissions.Add(1)%int64(len(soakPrograms))])
			}
		})
	}
	group.Wait()
}

func (s *soak) one(p soakProgram) {
	req := judge.Request{Language: "c", Files: []judge.FileJSON{{Name: "main.c", Content: p.source}}, Limits: &p.limits}
	for i := range p.cases {
		req.Tests = append(req.Tests, judge.TestJSON{Stdin: fmt.Sprintln(i, 1), Expected: fmt.Sprintln(i + 1)})
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	sent, err := s.server.Submit(ctx, req)
	if err != nil {
		s.t.Errorf("submit %s: %v", p.name, err)
		return
	}
	j, err := s.server.Follow(ctx, sent.ID, client.Watcher{})
	if err != nil {
		s.t.Errorf("%s %s is lost: %v", p.name, sent.ID, err)
		return
	}
	if j.State == judge.FailedState && j.Failed.Kind == judge.FailLost && j.Retryable {
		s.lost.Add(1) // the victim died three times with it: told so, as it should be
		s.one(p)
		return
	}
	if j.Verdict == nil || *j.Verdict != p.want || j.Cached {
		s.t.Errorf("%s %s: state %s, verdict %v, want %s; failed %v, cached %v", p.name, sent.ID, j.State, j.Verdict, p.want, j.Failed, j.Cached)
	}
	for _, r := range j.Cases {
		if r.Verdict != judge.Skipped {
			s.runs.Add(1)
		}
	}
	if j.Attempt > 1 {
		s.taken.Add(1)
	}
}
