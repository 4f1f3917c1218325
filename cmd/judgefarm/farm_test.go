package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	client "judgefarm/clients/go"
	"judgefarm/internal/blob"
	"judgefarm/internal/testenv"
	"judgefarm/judge"
	"judgefarm/languages"
)

const (
	farmSubmissions = 200
	farmKillAfter   = 30 // final judgements before a worker is killed

	// The lease of 5 s, a look for such as have run out and a free slot: 6 to 7.5 s on a
	// quiet host. The delivery library alone would take more than a minute.
	farmTakeover = 30 * time.Second
)

// TestFarm runs the daemons as an operator does, against a real redis-server and a
// real S3 server: 200 labelled submissions of all kinds, and kill -9 of a worker in
// the middle of one. Nothing is lost, judged wrongly or recorded twice.
func TestFarm(t *testing.T) {
	t.Parallel()
	f := startFarm(t)
	rows := f.rows(t)
	f.judge(t, rows)
	if f.victim == "" {
		t.Fatal("no worker was killed: no long submission ran on it")
	}
	f.checkVerdicts(t, rows)
	f.checkTakeover(t)
	f.checkBucket(t)
	f.checkMetrics(t)
	for name, p := range f.processes {
		p.Stop()
		if name != f.dead && !strings.Contains(p.Output(), "draining") {
			t.Errorf("%s did not drain at SIGTERM:\n%s", name, p.Output())
		}
	}
}

// farm is a dispatcher and two workers.
type farm struct {
	server    *client.Client
	api       string            // base URL of the dispatcher
	ops       map[string]string // base URLs of the workers' metrics
	store     blob.Store
	env       []string
	args      []string // of every daemon
	cache     string
	processes map[string]*testenv.Process

	mu     sync.Mutex // guards what follows
	finals map[string]judge.Judgement
	victim string // the submission that a worker judged when it was killed
	dead   string // that worker
	killed time.Time
	taken  time.Duration // until another worker began on the victim
}

func startFarm(t *testing.T) *farm {
	t.Helper()
	redis, s3 := testenv.Redis(t), testenv.S3(t)
	store, err := blob.Open(blob.Config{URL: s3.URL(), Region: s3.Region, AccessKey: s3.AccessKey, SecretKey: s3.SecretKey})
	if err != nil {
		t.Fatal(err)
	}
	f := &farm{
		store: store, cache: openDir(t), finals: map[string]judge.Judgement{}, ops: map[string]string{}, processes: map[string]*testenv.Process{},
		env:  append(os.Environ(), "JUDGEFARM_S3_ACCESS_KEY="+s3.AccessKey, "JUDGEFARM_S3_SECRET_KEY="+s3.SecretKey),
		args: []string{"--redis", "redis://" + redis, "--blobs", s3.URL(), "--log-format", "json"},
	}
	address := filepath.Join(t.TempDir(), "address")
	d := f.start(t, "dispatcher", "dispatcher", "--listen", "127.0.0.1:0", "--address-file", address)
	wait(t, d, func(context.Context) error {
		text, err := os.ReadFile(address)
		f.api = "http://" + strings.TrimSpace(string(text))
		return err
	})
	if f.server, err = client.New(client.Config{URL: f.api}); err != nil {
		t.Fatal(err)
	}
	f.startWorker(t, "w1")
	f.startWorker(t, "w2")
	return f
}

// startWorker starts a worker and waits until it is ready.
func (f *farm) startWorker(t *testing.T, name string) {
	t.Helper()
	ops := fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t))
	p := f.start(t, name, "worker", "--name", name, "--slots", "2", "--ops-listen", ops, "--cache-dir", f.cache)
	wait(t, p, func(ctx context.Context) error {
		_, err := get(ctx, "http://"+ops+"/readyz")
		return err
	})
	f.ops[name] = "http://" + ops
}

func (f *farm) start(t *testing.T, name string, args ...string) *testenv.Process {
	t.Helper()
	p, err := testenv.StartProcess("", f.env, binary(t), append(args, f.args...)...)
	if err != nil {
		t.Fatal(err)
	}
	f.processes[name] = p
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("%s printed:\n%s", name, p.Output())
		}
	})
	return p
}

// rows are labelled submissions of the core languages, each once, and the quick
// ones again until there are enough.
func (f *farm) rows(t *testing.T) []*labelled {
	t.Helper()
	set, err := languages.Load(languages.Config{})
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]judge.LanguageInfo{}
	for _, id := range []string{"c", "cpp17", "python3", "bash", "javascript", "java"} {
		have[id] = judge.LanguageInfo{ID: id, Available: true}
	}
	const problems = "../../testcases/testdata/problems"
	dirs, err := os.ReadDir(problems)
	if err != nil {
		t.Fatal(err)
	}
	var rows, quick []*labelled
	kinds := map[judge.Verdict]bool{}
	for _, d := range dirs {
		p, err := upload(t.Context(), f.server, filepath.Join(problems, d.Name()), d.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, sub := range p.Submissions {
			row, err := newLabelled(set, have, d.Name(), sub)
			if err != nil {
				t.Fatal(err)
			}
			if row.missing != "" {
				continue
			}
			rows = append(rows, row)
			kinds[row.sub.Allowed[0]] = true
			if (row.language == "c" || row.language == "bash") && !slow(row) {
				quick = append(quick, row)
			}
		}
	}
	for _, v := range judge.Verdicts() {
		// No quick program reaches the compiler's time limit; none is labelled as skipped.
		if !kinds[v] && v != judge.CompileTimeLimit && v != judge.Skipped {
			t.Fatalf("no labelled submission is %s", v)
		}
	}
	for i := 0; len(rows) < farmSubmissions; i++ {
		again := *quick[i%len(quick)]
		rows = append(rows, &again)
	}
	return rows
}

// slow tells submissions that run for a second or more.
func slow(row *labelled) bool {
	return slices.ContainsFunc(row.sub.Allowed, func(v judge.Verdict) bool {
		return v == judge.TimeLimit || v == judge.WallTimeLimit || v == judge.IdleLimit
	})
}

// judge sends all rows at once and follows each to its end.
func (f *farm) judge(t *testing.T, rows []*labelled) {
	t.Helper()
	var group sync.WaitGroup
	for _, row := range rows {
		group.Go(func() {
			sent, err := f.server.Submit(t.Context(), row.request)
			if err != nil {
				t.Errorf("submit %s %s: %v", row.problem, row.sub.Path, err)
				return
			}
			j, err := f.server.Follow(t.Context(), sent.ID, client.Watcher{State: func(s judge.State, attempt int) {
				f.began(t, sent.ID, row, s, attempt)
			}})
			if err != nil {
				t.Errorf("follow %s %s: %v", row.problem, row.sub.Path, err)
				return
			}
			row.got = &j
			f.mu.Lock()
			defer f.mu.Unlock()
			f.finals[j.ID] = j
		})
	}
	group.Wait()
}

// began hears that a worker began on a submission. Once enough is judged it kills
// the worker in the middle of a long one.
func (f *farm) began(t *testing.T, id string, row *labelled, s judge.State, attempt int) {
	if s != judge.Judging {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == f.victim && attempt == 2 {
		f.taken = time.Since(f.killed)
	}
	if f.victim != "" || len(f.finals) < farmKillAfter || !slow(row) {
		return
	}
	now, err := f.server.Get(t.Context(), id)
	if err != nil || now.State != judge.Judging {
		return
	}
	f.victim, f.dead, f.killed = id, now.Worker, time.Now()
	f.processes[f.dead].Kill()
}

func (f *farm) checkVerdicts(t *testing.T, rows []*labelled) {
	t.Helper()
	if len(f.finals) != farmSubmissions {
		t.Errorf("%d submissions are final, want %d", len(f.finals), farmSubmissions)
	}
	for _, row := range rows {
		if row.got == nil || row.differs() {
			t.Errorf("%s %s: got %+v, want %v", row.problem, row.sub.Path, row.got, row.sub.Allowed)
		}
	}
}

// checkTakeover: the killed worker's submission was judged by the other, soon.
func (f *farm) checkTakeover(t *testing.T) {
	t.Helper()
	j := f.finals[f.victim]
	if j.Worker == f.dead || j.Attempt != 2 {
		t.Errorf("victim was judged by %q in attempt %d, want the one that is not %s in attempt 2", j.Worker, j.Attempt, f.dead)
	}
	t.Logf("taken over %v after the kill", f.taken.Round(time.Millisecond))
	if f.taken == 0 || f.taken > farmTakeover {
		t.Errorf("victim was taken over after %v, want within %v", f.taken, farmTakeover)
	}
}

// checkBucket: each final judgement was stored before it was final.
func (f *farm) checkBucket(t *testing.T) {
	t.Helper()
	outputs := 0
	for id, want := range f.finals {
		keys, err := f.store.List(t.Context(), "judgements/"+id+"/", "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, key := range keys {
			if strings.Contains(key, "/cases/") {
				outputs++
			}
			if !strings.HasSuffix(key, "/judgement.json") {
				continue
			}
			var got judge.Judgement
			f.load(t, key, &got)
			found = found || got.Worker == want.Worker && got.Attempt == want.Attempt && *got.Verdict == *want.Verdict
		}
		if !found {
			t.Errorf("submission %s: no stored judgement is that of the record, keys %v", id, keys)
		}
	}
	if outputs == 0 {
		t.Error("no output of a failed case is in the bucket")
	}
}

func (f *farm) load(t *testing.T, key string, doc any) {
	t.Helper()
	r, _, err := f.store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := json.NewDecoder(r).Decode(doc); err != nil {
		t.Fatal(err)
	}
}

// checkMetrics: what the living worker counts as accepted final writes is exactly what
// the records say of it; the rest are the dead one's, one each. So there were 200.
func (f *farm) checkMetrics(t *testing.T) {
	t.Helper()
	own := 0
	for _, j := range f.finals {
		if j.Worker != f.dead {
			own++
		}
	}
	delete(f.ops, f.dead)
	living := ""
	for _, base := range f.ops {
		var err error
		if living, err = get(t.Context(), base+"/metrics"); err != nil {
			t.Fatal(err)
		}
	}
	if got := int(sum(living, "judge_judgements_total")); got != own {
		t.Errorf("the living worker counts %d accepted judgements, its records are %d", got, own)
	}
	d, err := get(t.Context(), f.api+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	if got := int(sum(d, "judge_submissions_accepted_total")); got != farmSubmissions {
		t.Errorf("the dispatcher counts %d accepted submissions, want %d", got, farmSubmissions)
	}
	for _, name := range []string{
		"judge_runs_total", "judge_box_setup_seconds_count", "judge_box_teardown_seconds_count",
		"judge_run_cpu_seconds_count", "judge_uploads_total", "judge_compiles_total", "judge_queue_wait_seconds_count",
	} {
		if sum(living, name) == 0 {
			t.Errorf("metric %s of the living worker did not move", name)
		}
	}
}

// sum adds the samples of a metric over its labels.
func sum(text, name string) float64 {
	total := 0.0
	for _, m := range regexp.MustCompile(`(?m)^`+name+`(?:\{[^}]*\})? (\S+)$`).FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err == nil {
			total += v
		}
	}
	return total
}

func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, body)
	}
	return string(body), err
}

func wait(t *testing.T, p *testenv.Process, probe func(context.Context) error) {
	t.Helper()
	if err := p.WaitFor(t.Context(), probe); err != nil {
		t.Fatalf("%v\n%s", err, p.Output())
	}
}

// openDir makes a directory that the boxes' users can reach; t.TempDir is closed to them.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "judgefarm-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// binary is judgefarm, built once for all tests of the package.
func binary(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "build", "-o", binaryPath(), ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build judgefarm: %w\n%s", err, out)
	}
	return binaryPath(), nil
})

func binaryPath() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("judgefarm-main-%d", os.Getpid()))
}
