package main

import (
	"fmt"

	"judgefarm/internal/daemon"
	"judgefarm/judge/sandbox"
)

type doctorCmd struct {
	JSON bool `help:"Print what was found as JSON." name:"json"`
}

// Run shows what this host can enforce. It ends with 1 when something needed is missing.
func (c *doctorCmd) Run(env *daemon.Env) error {
	probe := sandbox.ProbeHost()
	if probe.Err() == nil {
		probe.Items = append(probe.Items, trialBox(env))
	}
	cores, err := daemon.Cores()
	if err != nil {
		return err
	}
	if c.JSON {
		if err := printJSON(env.Stdout, struct {
			OK     bool                `json:"ok"`
			Cores  int                 `json:"cores"`
			Checks []sandbox.ProbeItem `json:"checks"`
		}{probe.Err() == nil, cores, probe.Items}); err != nil {
			return err
		}
	} else if err := printProbe(env, probe, cores); err != nil {
		return err
	}
	if probe.Err() != nil {
		return daemon.ErrNotAccepted
	}
	return nil
}

// trialBox shows whether all that was found works together: it opens a sandbox,
// which runs a box.
func trialBox(env *daemon.Env) sandbox.ProbeItem {
	item := sandbox.ProbeItem{Name: "trial box", Detail: "a program ran in a box and nothing of it was left", Needed: true}
	box, err := sandbox.New(sandbox.Config{Slots: 1, Logger: env.Log})
	if err == nil {
		err = box.Close()
	}
	if item.OK = err == nil; !item.OK {
		item.Detail = err.Error()
		item.Fix = "see what it says; in a container, docs/operations.md names what it must allow"
	}
	return item
}

func printProbe(env *daemon.Env, probe sandbox.Probe, cores int) error {
	rows := make([]string, 0, len(probe.Items))
	for _, check := range probe.Items {
		state := "ok"
		if !check.OK {
			state = "MISSING"
			if !check.Needed {
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
	verdict := "this host can judge: isolation full, every limit exact"
	if probe.Err() != nil {
		verdict = "this host cannot judge until what is MISSING is mended"
	}
	_, err := fmt.Fprintf(env.Stdout, "%d cores may be used\n%s\n", cores, verdict)
	return err
}
