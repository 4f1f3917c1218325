package dmoj

import (
	"cmp"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// testNames are the files that describe a labelled submission, of which the later ones
// change what the earlier ones say.
var testNames = []string{"test.yml", "test.posix.yml", "test.linux.yml"}

// maxPromised bounds the tests of a package times its cases.
const maxPromised = 1_000_000

// otherTests are those for systems that we are not.
var otherTests = []string{"test.freebsd.yml", "test.kfreebsd.yml", "test.windows.yml"}

// codes are DMOJ's words for how a run ends, each with ours. Its IR is a run that
// exited with another status than 0, its RTE one that a signal ended.
func codes() map[string][]judge.Verdict {
	return map[string][]judge.Verdict{
		"AC": {judge.Accepted}, "WA": {judge.WrongAnswer, judge.PresentationError},
		"TLE": {judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit}, "MLE": {judge.MemoryLimit}, "OLE": {judge.OutputLimit},
		"RTE": {judge.RuntimeError, judge.SecurityViolation}, "IR": {judge.RuntimeError, judge.SecurityViolation},
		"CE": {judge.CompileError, judge.CompileTimeLimit}, "SC": {judge.Skipped}, "IE": nil,
	}
}

// readSubmissions reads tests/NAME/, each of them a submission or several with what
// must come of it.
func (r *reader) readSubmissions() {
	_, folders := r.Children(testsFolder)
	for _, name := range folders {
		folder := testsFolder + "/" + name
		conf, skip := r.testConf(folder)
		if conf == nil || skip != "" {
			r.Note(folder, "is not judged: %s", cmp.Or(skip, "it has no "+testNames[0]))
			for _, file := range r.Below(folder) {
				r.used[file] = true
			}
			continue
		}
		r.readTest(folder, conf)
	}
}

// testConf is what all files of a test say, and why it is skipped.
func (r *reader) testConf(folder string) (conf *values, skip string) {
	for _, name := range otherTests {
		r.used[folder+"/"+name] = true
	}
	for _, name := range testNames {
		file := folder + "/" + name
		if !r.Has(file) {
			continue
		}
		r.used[file] = true
		d := r.YAML(file)
		if d.Root == nil {
			continue
		}
		if manifest.Kind(d.Root) != yaml.MappingNode {
			d.Refuse(d.Root, "must be a mapping")
			continue
		}
		conf = r.open(d, d.Root, "the file", conf)
	}
	if conf == nil {
		return nil, ""
	}
	machine := map[string]string{"amd64": "amd64", "arm64": "arm64", "386": "x86"}[runtime.GOARCH]
	switch {
	case conf.truth("skip", false):
		return conf, "it says skip"
	case conf.get("arch") != nil && !slices.Contains(conf.list("arch"), machine):
		return conf, "it is for other machines"
	}
	return conf, ""
}

// readTest reads one test.
func (r *reader) readTest(folder string, conf *values) {
	for c := conf; c != nil; c = c.parent {
		c.only("a test", "language", "time", "memory", "source", "expect", "cases", "score", "score_cases", "feedback", "feedback_cases",
			"extended_feedback", "extended_feedback_cases", "skip", "arch", "required_auxiliary_executors")
	}
	for _, key := range []string{"language", "time", "memory", "source"} {
		if conf.get(key) == nil {
			r.Refuse(conf.d.Name, "%s must be stated", key)
			return
		}
	}
	if r.promised += len(r.names); r.promised > maxPromised {
		r.Refuse(testsFolder, "must say at most %d times what must come of a case", maxPromised)
		return
	}
	s := testcases.Labelled{Language: r.language(conf.get("language"), conf.text("language")), Limits: r.testLimits(conf)}
	r.expect(conf, &s)
	for _, name := range conf.list("source") {
		at := folder + "/" + name
		if clean(name) == "" || !r.Has(at) {
			conf.d.Refuse(conf.get("source"), "file %.100q is not there", name)
			continue
		}
		r.used[at] = true
		b, ok := r.Read(at, maxProgramSize)
		if !ok {
			continue
		}
		one := s
		one.Path, one.Files = at, []judge.File{{Name: path.Base(name), Data: b}}
		r.p.Submissions = append(r.p.Submissions, one)
	}
}

// testLimits are the limits of one submission.
func (r *reader) testLimits(conf *values) (l judge.Limits) {
	var err error
	if l.CPU, err = seconds(conf.text("time")); err != nil {
		conf.d.Refuse(conf.get("time"), "time %v", err)
	}
	if l.Memory, err = kibibytes(conf.text("memory")); err != nil {
		conf.d.Refuse(conf.get("memory"), "memory %v", err)
	}
	factor := r.top.score("wall_time_factor", judge.ScoreOf(defaultWall))
	l.Wall = times(factor, l.CPU)
	return l
}

// expect reads what must come of a submission: codes of all cases, others of some of
// them, and the points that cases give.
func (r *reader) expect(conf *values, s *testcases.Labelled) {
	all := []string{"AC"}
	if conf.get("expect") != nil {
		all = conf.list("expect")
	}
	s.Label = strings.Join(all, " ")
	general, broken := r.verdicts(conf, "expect", all)
	s.Broken = broken
	own := map[int][]judge.Verdict{}
	r.byCase(conf, "cases", func(i int, n *yaml.Node) {
		own[i], _ = r.verdicts(conf, "cases", conf.d.List(n, "cases"))
	})
	possible := map[judge.Verdict]bool{}
	certain := false // some case cannot be accepted
	for i, name := range r.names {
		set, stated := own[i+1]
		if !stated {
			set = general
		}
		for _, v := range set {
			possible[v] = true
		}
		certain = certain || set != nil && !slices.Contains(set, judge.Accepted) && !slices.Contains(set, judge.Skipped)
		if len(own) > 0 && set != nil {
			s.Expect = append(s.Expect, testcases.Expectation{Cases: name, Permitted: set, Origin: origin(conf, "cases")})
		}
	}
	if len(own) == 0 && general != nil && !slices.Contains(general, judge.CompileError) {
		s.Expect = append(s.Expect, testcases.Expectation{Permitted: general, Origin: origin(conf, "expect")})
	}
	for _, v := range judge.Verdicts() {
		if possible[v] && (v != judge.Accepted || !certain) && v != judge.Skipped {
			s.Allowed = append(s.Allowed, v)
		}
	}
	if general == nil {
		s.Allowed = nil
	}
	r.expectPoints(conf, s)
	for _, key := range []string{"feedback", "feedback_cases", "extended_feedback", "extended_feedback_cases"} {
		if n := conf.get(key); n != nil {
			conf.d.Note(n, "%s is not compared: what is said about a run is in DMOJ's words", key)
		}
	}
}

// origin is where a test says something, "" where it does not.
func origin(conf *values, key string) string {
	for ; conf != nil; conf = conf.parent {
		if e, ok := conf.own[key]; ok {
			return fmt.Sprintf("%s:%d", conf.d.Name, e.key.Line)
		}
	}
	return ""
}

// verdicts are ours of DMOJ's codes. nil is any; broken says that judging must fail.
func (r *reader) verdicts(conf *values, key string, list []string) (set []judge.Verdict, broken bool) {
	set = []judge.Verdict{}
	for _, code := range list {
		if code == "*" {
			return nil, false
		}
		ours, known := codes()[code]
		if !known {
			conf.d.Refuse(conf.get(key), "%s must be of AC WA TLE MLE OLE RTE IR CE SC IE, is %.64q", key, code)
		}
		broken = broken || code == "IE"
		for _, v := range ours {
			if !slices.Contains(set, v) {
				set = append(set, v)
			}
		}
	}
	if broken {
		return nil, true
	}
	return set, false
}

// byCase calls f for each case that a list or a mapping names, from 1.
func (r *reader) byCase(conf *values, key string, f func(i int, n *yaml.Node)) {
	n := conf.get(key)
	switch {
	case n == nil:
	case manifest.Kind(n) == yaml.SequenceNode:
		for i, one := range items(n) {
			f(i+1, one)
		}
	default:
		conf.d.Each(n, key, func(name string, k, v *yaml.Node) {
			i, err := strconv.Atoi(name)
			if err != nil || i < 1 {
				conf.d.Refuse(k, "%s must name cases by their numbers, from 1", key)
				return
			}
			f(i, v)
		})
	}
}

// expectPoints reads what each case must give. Several numbers for one case allow any
// of them, which nothing here can say.
func (r *reader) expectPoints(conf *values, s *testcases.Labelled) {
	points := map[string]judge.Score{}
	set := func(i int, key string, n *yaml.Node) {
		list := conf.d.List(n, key)
		switch {
		case i > len(r.names) || slices.Equal(list, []string{"*"}):
		case len(list) != 1:
			conf.d.Note(n, "%s is not compared: it allows several numbers", key)
		default:
			points[r.names[i-1]] = conf.d.Score(n, key)
		}
	}
	if n := conf.get("score"); n != nil {
		for i := range r.names {
			set(i+1, "score", n)
		}
	}
	r.byCase(conf, "score_cases", func(i int, n *yaml.Node) { set(i, "score_cases", n) })
	if len(points) > 0 {
		s.Expect = append(s.Expect, testcases.Expectation{Points: points, Origin: cmp.Or(origin(conf, "score_cases"), origin(conf, "score"))})
	}
}
