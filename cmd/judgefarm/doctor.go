package main

import (
	"fmt"
	"strings"

	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

type doctorCmd struct {
	JSON bool `help:"Print what was found as JSON." name:"json"`
	isolationFlag
}

// levelReport is what doctor says of one isolation level.
type levelReport struct {
	Isolation sandbox.Isolation   `json:"isolation"`
	OK        bool                `json:"ok"`
	Missing   []sandbox.ProbeItem `json:"missing,omitempty"`
	Enforced  judge.Enforced      `json:"enforced"`
}

// doctorReport is what doctor prints.
type doctorReport struct {
	OK        bool                `json:"ok"`
	Isolation sandbox.Isolation   `json:"isolation"`
	Best      sandbox.Isolation   `json:"best,omitempty"`
	Cores     int                 `json:"cores"`
	Levels    []levelReport       `json:"levels"`
	Checks    []sandbox.ProbeItem `json:"checks"`
}

// Run shows what this host can enforce. It ends with 1 when something that the
// chosen level needs is missing.
func (c *doctorCmd) Run(env *daemon.Env) error {
	cores, err := daemon.Cores()
	if err != nil {
		return err
	}
	rep := doctorReport{Isolation: c.Isolation, Cores: cores}
	probe := sandbox.ProbeHost()
	for _, level := range sandbox.Levels() {
		l := examine(env, probe, level)
		rep.Levels = append(rep.Levels, l)
		if l.OK && rep.Best == "" {
			rep.Best = level
		}
		rep.OK = rep.OK || l.OK && level == c.Isolation
	}
	rep.Checks = probe.Items
	if c.JSON {
		err = printJSON(env.Stdout, rep)
	} else {
		err = printDoctor(env, rep)
	}
	if err == nil && !rep.OK {
		return daemon.ErrNotAccepted
	}
	return err
}

// examine tells what a level lacks. Where nothing is known to be missing, a box
// shows whether all of it works together.
func examine(env *daemon.Env, probe sandbox.Probe, level sandbox.Isolation) levelReport {
	l := levelReport{Isolation: level, Missing: probe.Missing(level), Enforced: level.Enforced()}
	if len(l.Missing) > 0 {
		return l
	}
	box, err := sandbox.Open(sandbox.Config{Isolation: level, Slots: 1, NoAhead: true, Logger: env.Log})
	if err == nil {
		l.Enforced = box.Enforced()
		err = box.Close()
	}
	if l.OK = err == nil; !l.OK {
		l.Missing = []sandbox.ProbeItem{{
			Name: "trial box", Detail: err.Error(), Needed: []sandbox.Isolation{level},
			Fix: "see what it says; in a container, docs/operations.md names what it must allow",
		}}
	}
	return l
}

func printDoctor(env *daemon.Env, rep doctorReport) error {
	var rows []string
	for _, check := range rep.Checks {
		state := "ok"
		if !check.OK {
			state = "MISSING"
			if len(check.Needed) == 0 {
				state = "warning"
			}
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s", check.Name, state, check.Detail))
		if !check.OK && check.Fix != "" {
			rows = append(rows, "\t\tfix: "+check.Fix)
		}
	}
	if err := printTable(env.Stdout, "CHECK | STATE | FOUND", rows); err != nil {
		return err
	}
	rows = nil
	for _, l := range rep.Levels {
		rows = append(rows, describeLevel(l)...)
	}
	fmt.Fprintln(env.Stdout)
	if err := printTable(env.Stdout, "ISOLATION | HERE | WHAT IT HOLDS, OR WHAT WOULD RAISE THIS HOST TO IT", rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "\n%d cores may be used\n%s\n", rep.Cores, conclude(rep))
	return err
}

// describeLevel is a level's rows: what it holds, or each missing piece with its fix.
func describeLevel(l levelReport) []string {
	if l.OK {
		return []string{fmt.Sprintf("%s\tyes\t%s", l.Isolation, held(l.Enforced))}
	}
	var rows []string
	name, state := string(l.Isolation), "no"
	for _, m := range l.Missing {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s: %s", name, state, m.Name, m.Detail))
		if m.Fix != "" {
			rows = append(rows, "\t\tfix: "+m.Fix)
		}
		name, state = "", ""
	}
	return rows
}

// held lists what is not exact, since most is.
func held(e judge.Enforced) string {
	var parts []string
	for _, degree := range []judge.Enforcement{judge.Sampled, judge.None} {
		var names []string
		for _, l := range []struct {
			name string
			how  judge.Enforcement
		}{
			{"CPU", e.CPU}, {"wall", e.Wall}, {"memory", e.Memory}, {"output", e.Output}, {"tasks", e.Tasks},
			{"disk", e.Disk}, {"files", e.Files}, {"network", e.Network}, {"processes", e.Processes},
		} {
			if l.how == degree {
				names = append(names, l.name)
			}
		}
		if names != nil {
			parts = append(parts, strings.Join(names, ", ")+" "+string(degree))
		}
	}
	if parts == nil {
		return "every limit exact"
	}
	return strings.Join(append(parts, "the rest exact"), "; ")
}

// conclude is the last line.
func conclude(rep doctorReport) string {
	switch {
	case rep.OK:
		for _, l := range rep.Levels {
			if l.Isolation == rep.Isolation {
				return fmt.Sprintf("this host can judge: isolation %s, %s", l.Isolation, held(l.Enforced))
			}
		}
	case rep.Best != "":
		return fmt.Sprintf("this host cannot judge with isolation %s; the best level here is %s, chosen by --isolation %s", rep.Isolation, rep.Best, rep.Best)
	}
	return "this host cannot judge until what is MISSING is mended"
}
