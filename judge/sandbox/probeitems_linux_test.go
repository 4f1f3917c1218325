package sandbox

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// some is a host with these settings and no others.
func some(pairs ...string) settings {
	return func(name string) (string, error) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], nil
			}
		}
		return "", fs.ErrNotExist
	}
}

// Each thing that a host may lack is named with its fix; what only informs refuses
// nothing.
func TestProbeItems(t *testing.T) {
	t.Parallel()
	const (
		proc   = "22 27 0:21 / /proc rw,relatime - proc proc rw"
		masked = proc + "\n50 22 0:40 / /proc/kcore rw - tmpfs tmpfs rw\n"
		swap   = "Filename\tType\tSize\tUsed\tPriority\n"
	)
	for name, c := range map[string]struct {
		item   ProbeItem
		ok     bool
		detail string
		fix    string
		level  Isolation // that is refused; "" is none
	}{
		"namespaces":           {userNamespaceItem(some("user/max_user_namespaces", "15000"), false), true, "allowed", "", ""},
		"no setting":           {userNamespaceItem(some(), false), true, "allowed", "", ""},
		"not a number":         {userNamespaceItem(some("user/max_user_namespaces", "x"), false), true, "allowed", "", ""},
		"no namespaces":        {userNamespaceItem(some("user/max_user_namespaces", "0"), true), false, "max_user_namespaces is 0", "sysctl -w user.max_user_namespaces", Userns},
		"Debian's switch":      {userNamespaceItem(some("kernel/unprivileged_userns_clone", "0"), false), false, "userns_clone is 0", "run as root", Full},
		"Debian's, root":       {userNamespaceItem(some("kernel/unprivileged_userns_clone", "0"), true), true, "allowed", "", ""},
		"AppArmor":             {appArmorItem(some("kernel/apparmor_restrict_unprivileged_userns", "1"), false), false, "is 1", "profile with the userns rule", Userns},
		"AppArmor, root":       {appArmorItem(some("kernel/apparmor_restrict_unprivileged_userns", "1"), true), true, "does not restrict", "", ""},
		"no AppArmor":          {appArmorItem(some(), false), true, "does not restrict", "", ""},
		"proc":                 {procItem(proc), true, "nothing", "", ""},
		"masked proc":          {procItem(masked), false, "/proc/kcore is mounted over", "systempaths=unconfined", Full},
		"binfmt_misc":          {procItem("1 2 0:3 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw"), true, "nothing", "", ""},
		"hidepid off":          {hidingItem(proc + ",hidepid=0"), true, "off", "", ""},
		"hidepid":              {hidingItem(proc + ",hidepid=invisible,gid=4"), true, "invisible: processes of others", "", ""},
		"hidepid of a box":     {hidingItem("22 27 0:21 / /x/proc rw - proc proc rw,hidepid=2"), true, "off", "", ""},
		"tracing":              {tracingItem(some("kernel/yama/ptrace_scope", "1")), true, "allowed", "", ""},
		"no Yama":              {tracingItem(some()), true, "allowed", "", ""},
		"no tracing":           {tracingItem(some("kernel/yama/ptrace_scope", "3")), false, "no strict mode", "boot again", ""},
		"cores":                {coreItem(some("kernel/core_pattern", "core")), true, "are off", "", ""},
		"core handler":         {coreItem(some("kernel/core_pattern", "|/usr/share/apport/apport %p")), true, "pipes cores", "", ""},
		"core socket":          {coreItem(some("kernel/core_pattern", "@/run/cores.sock")), false, "to a socket", "core_pattern=core", ""},
		"peak of v1":           {peakItem(false, false, "5.15.0"), true, "reported", "", ""},
		"peak":                 {peakItem(true, true, "5.15.0"), true, "reported", "", ""},
		"peak nowhere to look": {peakItem(true, false, "6.1.0-50-amd64"), true, "reported", "", ""},
		"no peak":              {peakItem(true, false, "5.15.0-100-generic"), false, "no memory.peak", "5.19", Full},
		"no swap":              {swapItem(swap, false), true, "off", "", ""},
		"limited swap":         {swapItem(swap+"/dev/sda2 partition 1 0 -2\n", true), true, "denied", "", ""},
		"swap":                 {swapItem(swap+"/dev/sda2 partition 1 0 -2\n", false), false, "cannot be limited", "swapaccount=1", Full},
	} {
		i := c.item
		if i.OK != c.ok || !strings.Contains(i.Detail, c.detail) || !strings.Contains(i.Fix, c.fix) || !i.OK && i.Fix == "" {
			t.Errorf("%s: %+v", name, i)
		}
		if c.level != "" && !slices.Contains(i.Needed, c.level) || !c.ok && c.level == "" && len(i.Needed) > 0 {
			t.Errorf("%s: needed for %v, want %q", name, i.Needed, c.level)
		}
	}
}
