package docs

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"judgefarm/internal/testenv"
)

// config returns the path of an annotated configuration file.
func config(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "deploy", "config", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestConfigServe: the annotated file starts the server; only where it listens and
// keeps its files differs here.
func TestConfigServe(t *testing.T) {
	t.Parallel()
	_, p := start(t, []string{
		"JUDGEFARM_LISTEN=127.0.0.1:0", "JUDGEFARM_DATA_DIR=" + t.TempDir(), "JUDGEFARM_CACHE_DIR=" + cacheDir(t),
	}, "serve", "--config", config(t, "serve.yaml"))
	stops(t, p)
}

// TestConfigFarm: the annotated files start dispatcher and worker against a real
// Redis, set as they say it must be, and a real S3 server.
func TestConfigFarm(t *testing.T) {
	t.Parallel()
	redis := testenv.StartRedis(t, "--appendonly", "yes", "--maxmemory-policy", "noeviction")
	s3 := testenv.S3(t)
	vars := []string{
		"JUDGEFARM_REDIS=redis://" + redis.Addr + "/0", "JUDGEFARM_BLOBS=" + s3.URL(),
		"JUDGEFARM_S3_ACCESS_KEY=" + s3.AccessKey, "JUDGEFARM_S3_SECRET_KEY=" + s3.SecretKey,
		"JUDGEFARM_LISTEN=127.0.0.1:0", "JUDGEFARM_OPS_LISTEN=127.0.0.1:0", "JUDGEFARM_CACHE_DIR=" + cacheDir(t),
	}
	_, dispatcher := start(t, vars, "dispatcher", "--config", config(t, "dispatcher.yaml"))
	_, worker := start(t, vars, "worker", "--config", config(t, "worker.yaml"))
	stops(t, worker)
	stops(t, dispatcher)
}

// TestConfigComplete: each annotated file explains every flag that its command has,
// as a key or as one commented out, and nothing else.
func TestConfigComplete(t *testing.T) {
	t.Parallel()
	flag := regexp.MustCompile(`(?m)^ +(?:-[a-zA-Z], +)?--(?:\[no-\])?([a-z0-9-]+)`)
	key := regexp.MustCompile(`(?m)^#?([a-z0-9-]+):`)
	for _, command := range []string{"serve", "dispatcher", "worker"} {
		help, err := exec.Command(binary(t), command, "--help").CombinedOutput()
		if err != nil {
			t.Fatalf("%s --help: %v\n%s", command, err, help)
		}
		keys := map[string]bool{}
		for _, m := range key.FindAllStringSubmatch(read(t, config(t, command+".yaml")), -1) {
			keys[m[1]] = true
		}
		for _, m := range flag.FindAllStringSubmatch(string(help), -1) {
			switch name := m[1]; {
			case name == "help" || name == "version" || name == "config":
			case !keys[name]:
				t.Errorf("%s.yaml lacks %s", command, name)
			default:
				delete(keys, name)
			}
		}
		for name := range keys {
			t.Errorf("%s.yaml has %s, which the command does not", command, name)
		}
	}
}

// stops asks an idle daemon to end: it does at once, whatever its drain deadline.
func stops(t *testing.T, p *testenv.Process) {
	t.Helper()
	began := time.Now()
	p.Stop()
	if took := time.Since(began); took > 25*time.Second { // of the 30 s that it would drain for
		t.Errorf("an idle daemon took %v to stop", took)
	}
}
