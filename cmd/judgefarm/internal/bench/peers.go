package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"judgefarm/judge/sandbox"
)

// Peers are other sandboxes with all the isolation that each of them offers, as far
// as they are installed. missing says which are not, and why. None of them measures
// or limits as a box does; where one has cgroups they are in use. end removes what was
// made for them.
func Peers(ctx context.Context, driver, program string) (loads []Load, missing []string, end func()) {
	end = func() {}
	dir, name := filepath.Split(filepath.Clean(program))
	inside := sandbox.ExeDir + "/" + name
	if path, err := exec.LookPath("bwrap"); err != nil {
		missing = append(missing, "bubblewrap: no bwrap in PATH (apt-get install bubblewrap)")
	} else {
		args := []string{path, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"}
		for _, m := range shown() {
			args = append(args, "--ro-bind", m, m)
		}
		args = append(args, "--ro-bind", dir, sandbox.ExeDir, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/work", "--chdir", "/work", inside)
		loads, missing = tried(ctx, loads, missing, Command("bubblewrap", driver, args...))
	}
	if path, err := exec.LookPath("nsjail"); err != nil {
		missing = append(missing, "nsjail: not in PATH (https://github.com/google/nsjail, built from source)")
	} else {
		args := []string{path, "-Mo", "-Q", "--user", "60000", "--group", "60000", "--time_limit", "10", "--cwd", "/work"}
		for _, m := range shown() {
			args = append(args, "-R", m)
		}
		args = append(args, "-R", dir+":"+sandbox.ExeDir, "-T", "/tmp", "-T", "/work", "--", inside)
		loads, missing = tried(ctx, loads, missing, Command("nsjail", driver, args...))
	}
	if path, err := exec.LookPath("isolate"); err != nil {
		missing = append(missing, "isolate: not in PATH (https://github.com/ioi/isolate, built from source)")
	} else {
		var more []Load
		more, missing, end = isolate(ctx, path, driver, dir, inside, missing)
		loads = append(loads, more...)
	}
	return loads, missing, end
}

// isolate has boxes that are made, used and removed by a command each; both the use
// alone and the whole are told. Its control groups are used where they work here.
func isolate(ctx context.Context, path, driver, dir, inside string, missing []string) ([]Load, []string, func()) {
	const boxes = 8 // as many as there are workers at most
	command := func(args ...string) error {
		out, err := exec.CommandContext(context.WithoutCancel(ctx), path, args...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
		return err
	}
	name, group := "isolate --cg", []string{"--cg"}
	if command("--cg", "-b0", "--init") != nil || command("--cg", "-b0", "--cleanup") != nil {
		name, group = "isolate (no cgroups)", nil
	}
	end := func() {
		for i := range boxes {
			command(append(group, fmt.Sprintf("-b%d", i), "--cleanup")...)
		}
	}
	for i := range boxes {
		if err := command(append(group, fmt.Sprintf("-b%d", i), "--init")...); err != nil {
			end()
			return nil, append(missing, "isolate: "+err.Error()), func() {}
		}
	}
	use := []string{"-s", "-t5", "-w10", "-d", sandbox.ExeDir + "=" + dir, "--run", "--", inside}
	kept := append(append([]string{path}, group...), append([]string{"-b{w}"}, use...)...)
	loads, missing := tried(ctx, nil, missing, Command(name+", box kept", driver, kept...))
	script := fmt.Sprintf(`box="-b$((8 + $1))"; shift
"$@" "$box" --init >/dev/null && "$@" "$box" %s && exec "$@" "$box" --cleanup`, strings.Join(use, " "))
	whole := append([]string{"/bin/sh", "-c", script, "sh", "{w}", path}, group...)
	loads, missing = tried(ctx, loads, missing, Command(name+", init to cleanup", driver, whole...))
	return loads, missing, end
}

// tried runs a load once and adds it, or tells why it cannot be measured here.
func tried(ctx context.Context, loads []Load, missing []string, l Load) ([]Load, []string) {
	if _, _, err := l.Batch(ctx, 1, 1); err != nil {
		return loads, append(missing, fmt.Sprintf("%s: does not work here: %v", l.Name, err))
	}
	return append(loads, l), missing
}

// shown is what boxes see of the host; a link is followed, as peers bind files.
func shown() []string {
	var paths []string
	for _, m := range sandbox.DefaultSystem() {
		if _, err := os.Stat(m.Source); err == nil {
			paths = append(paths, m.Source)
		}
	}
	return paths
}
