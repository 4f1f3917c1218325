package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
)

// grammar is a small program with the kinds of flags that judgefarm has.
type grammar struct {
	Common
	Work  workCmd  `cmd:"" help:"Works."`
	Other otherCmd `cmd:"" help:"Does something else."`
}

type workCmd struct {
	Slots    int           `default:"2"`
	Memory   judge.Bytes   `default:"256M"`
	Drain    time.Duration `default:"30s"`
	S3Bucket string        `name:"s3-bucket"`
	TLS      bool          `name:"tls" default:"true" negatable:""`
	Names    []string      `default:"x,y"`
	Whole    []string      `sep:"none"`
	Labels   map[string]string
	Files    []string `arg:"" optional:""`

	err error // what Run returns
	ran bool
}

func (c *workCmd) Run(*Env) error { c.ran = true; return c.err }

type otherCmd struct {
	Listen   string `default:"127.0.0.1:8080"`
	S3Bucket string `name:"s3-bucket" env:"-"` // of this call alone

	bucket *string // what Run was called with, where set
}

func (c *otherCmd) Run(env *Env) error {
	if c.bucket != nil {
		*c.bucket = c.S3Bucket
	}
	fmt.Fprintln(env.Stdout, "other ran")
	return nil
}

// invoke runs Main in this process. Variables come through t.Setenv, so tests that
// set some are not parallel.
func invoke(t *testing.T, g *grammar, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	app := App{Name: "farm", Version: "v1.2.3", Stdout: &out, Stderr: &errs}
	code = Main(app, g, args)
	return code, out.String(), errs.String()
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "farm.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrecedence(t *testing.T) {
	path := writeFile(t, "slots: 3\nmemory: 1G\ns3:\n  bucket: from-file\ntls: no\nnames: [a, 'b,c']\n"+
		"whole: ['1,2', '3']\nlabels: {k: v}\nlisten: 127.0.0.1:1\ndrain: 1m\n")
	t.Setenv("JUDGEFARM_MEMORY", "2G")
	t.Setenv("JUDGEFARM_SLOTS", "4")
	g := &grammar{}
	code, _, stderr := invoke(t, g, "work", "--config", path, "--slots", "5", "f1")
	if code != ExitOK {
		t.Fatalf("code %d, stderr %s", code, stderr)
	}
	got := fmt.Sprintf("%+v", g.Work)
	want := "{Slots:5 Memory:2147483648 Drain:1m0s S3Bucket:from-file TLS:false Names:[a b,c] Whole:[1,2 3] Labels:map[k:v] Files:[f1] err:<nil> ran:true}"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestConfigFromVariable(t *testing.T) {
	t.Setenv("JUDGEFARM_CONFIG", writeFile(t, "s3-bucket: b\n"))
	g := &grammar{}
	if code, _, stderr := invoke(t, g, "work"); code != ExitOK || g.Work.S3Bucket != "b" {
		t.Errorf("code %d, bucket %q, stderr %s", code, g.Work.S3Bucket, stderr)
	}
	if g.Work.Slots != 2 || g.Work.Memory != 256*judge.MiB || !g.Work.TLS {
		t.Errorf("defaults are lost: %+v", g.Work)
	}
}

// A flag that means something else in another command takes neither that one's
// variable nor its key of a file.
func TestFlagOfOneCallAlone(t *testing.T) {
	t.Setenv("JUDGEFARM_CONFIG", writeFile(t, "s3-bucket: from-file\n"))
	run := func(want string, args ...string) {
		t.Helper()
		var got string
		g := &grammar{Other: otherCmd{bucket: &got}}
		if code, _, stderr := invoke(t, g, append([]string{"other"}, args...)...); code != ExitOK || got != want {
			t.Errorf("code %d, bucket %q, stderr %s, want %q", code, got, stderr, want)
		}
	}
	run("")
	t.Setenv("JUDGEFARM_S3_BUCKET", "from-variable")
	run("")
	run("b", "--s3-bucket", "b")
}

func TestVariableNames(t *testing.T) {
	t.Setenv("JUDGEFARM_S3_BUCKET", "from-variable")
	g := &grammar{}
	if code, _, stderr := invoke(t, g, "work"); code != 0 || g.Work.S3Bucket != "from-variable" {
		t.Errorf("code %d, bucket %q, stderr %s", code, g.Work.S3Bucket, stderr)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name string
		file string
		args []string
		want []string // all of them in standard error
	}{
		{name: "unknown flag", args: []string{"work", "--slotz=2"}, want: []string{"--slotz", "farm work --help"}},
		{name: "unknown command", args: []string{"wrk"}, want: []string{"wrk", "see farm --help"}},
		{name: "no command", args: nil, want: []string{"work"}},
		{name: "broken size", args: []string{"work", "--memory=12Q"}, want: []string{"--memory", `"12Q" is no size`, "64K, 256M or 1G"}},
		{name: "broken duration", args: []string{"work", "--drain=3"}, want: []string{"--drain", `"3" is no duration`, "250ms"}},
		{name: "level", args: []string{"work", "--log-level=loud"}, want: []string{"--log-level", "loud"}},
		{name: "unknown key", file: "slots: 1\nslotz: 2\n", want: []string{`farm.yaml:2: unknown key "slotz"`, "did you mean slots?"}},
		{name: "underscore", file: "log_level: info\n", want: []string{`unknown key "log_level"`, "did you mean log-level?"}},
		{name: "unknown in section", file: "s3:\n  bukcet: b\n", want: []string{`farm.yaml:2: unknown key "bukcet"`}},
		{name: "near in section", file: "s3:\n  buckets: b\n", want: []string{`farm.yaml:2: unknown key "buckets"`, "did you mean bucket?"}},
		{name: "section unknown", file: "s4:\n  bucket: b\n", want: []string{`unknown key "s4"`}},
		{name: "two faults at once", file: "aa: 1\nbb: 2\n", want: []string{`"aa"`, `"bb"`}},
		{name: "twice", file: "slots: 1\nslots: 2\n", want: []string{"farm.yaml:2", `"slots" is stated twice, first in line 1`}},
		{name: "twice by section", file: "s3-bucket: a\ns3:\n  bucket: b\n", want: []string{"farm.yaml:3", "twice"}},
		{name: "no value", file: "slots:\n", want: []string{`"slots": has no value`}},
		{name: "list for one", file: "slots: [1, 2]\n", want: []string{`"slots": must be a plain value`}},
		{name: "nested list", file: "names: [[1]]\n", want: []string{`"names": must hold plain values only`}},
		{name: "bad value", file: "drain: 1m\nmemory: lots\n", want: []string{"--memory", "farm.yaml:2", `"lots" is no size`}},
		{name: "bad number", file: "slots: many\n", want: []string{"--slots", "farm.yaml:1", "many"}},
		{name: "number without unit", file: "drain: 30\n", want: []string{"--drain", `"30" is no duration`}},
		{name: "not a map", file: "- a\n", want: []string{"must be a map of flag names"}},
		{name: "two documents", file: "slots: 1\n---\nslots: 2\n", want: []string{"must hold one YAML document"}},
		{name: "no yaml", file: "a: [\n", want: []string{"farm.yaml"}},
		{name: "config in config", file: "config: x\n", want: []string{`unknown key "config"`}},
		{name: "missing file", args: []string{"work", "--config=/does/not/exist"}, want: []string{"read --config: open /does/not/exist"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := tt.args
			if tt.file != "" {
				args = []string{"work", "--config", writeFile(t, tt.file)}
			}
			g := &grammar{}
			code, _, stderr := invoke(t, g, args...)
			if code != ExitUsage || g.Work.ran {
				t.Errorf("code %d, want %d; ran %v", code, ExitUsage, g.Work.ran)
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr lacks %q:\n%s", want, stderr)
				}
			}
		})
	}
}

func TestEmptyFileIsFine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# nothing\n", "{}\n"} {
		if code, _, stderr := invoke(t, &grammar{}, "work", "--config", writeFile(t, text)); code != 0 {
			t.Errorf("%q: code %d, stderr %s", text, code, stderr)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	if code, out, _ := invoke(t, &grammar{}, "--version"); code != 0 || !strings.Contains(out, "v1.2.3") {
		t.Errorf("--version: code %d, out %q", code, out)
	}
	code, out, _ := invoke(t, &grammar{}, "work", "--help")
	if code != 0 || !strings.Contains(out, "JUDGEFARM_S3_BUCKET") || strings.Contains(out, "JUDGEFARM_HELP") {
		t.Errorf("--help: code %d, out %q", code, out)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	bad := judge.Refuse(&judge.FieldError{Field: "limits.wall_ms", Reason: "too low"}, &judge.FieldError{Field: "language", Reason: "unknown"})
	tests := []struct {
		name   string
		err    error
		code   int
		stderr string
	}{
		{"fine", nil, 0, ""},
		{"not accepted", fmt.Errorf("judge: %w", ErrNotAccepted), 1, ""},
		{"usage", fmt.Errorf("start: %w", Usage("--wall is below --cpu")), 2, "farm: start: --wall is below --cpu\n"},
		{"bad request", bad, 2, "farm: limits.wall_ms: too low\nfarm: language: unknown\n"},
		{"failed", judge.Fail(judge.FailSandbox, errors.New("no cgroup")), 3, "farm: sandbox: no cgroup\n"},
		{"failed, whatever it wraps", judge.Fail(judge.FailProblem, bad), 3, ""},
		{"anything else", errors.New("disk full"), 3, "farm: disk full\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := invoke(t, &grammar{Work: workCmd{err: tt.err}}, "work")
			if code != tt.code {
				t.Errorf("code %d, want %d", code, tt.code)
			}
			if tt.stderr != "" && stderr != tt.stderr || tt.err == nil && stderr != "" {
				t.Errorf("stderr %q, want %q", stderr, tt.stderr)
			}
		})
	}
}

func TestJSONLogSaysWhyItEnded(t *testing.T) {
	t.Parallel()
	_, _, stderr := invoke(t, &grammar{Work: workCmd{err: errors.New("disk full")}}, "work", "--log-format=json")
	if !strings.HasPrefix(stderr, "{") || !strings.Contains(stderr, `"error":"disk full"`) {
		t.Errorf("stderr %q is no JSON line with the error", stderr)
	}
}
