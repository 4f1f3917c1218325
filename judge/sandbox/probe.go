package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// Probe is what a host can enforce, piece by piece.
type Probe struct{ Items []ProbeItem }

// ProbeItem is one thing that boxes need of a host.
type ProbeItem struct {
	Name   string `json:"name"`          // "user namespaces"
	OK     bool   `json:"ok"`            // it is there
	Detail string `json:"detail"`        // what was found
	Fix    string `json:"fix,omitempty"` // what to do about it, when not OK

	Needed []Isolation `json:"needed_for,omitempty"` // levels that Open refuses without it; none: it only informs
}

// neededFor reports whether the level cannot be without the item.
func (i ProbeItem) neededFor(level Isolation) bool { return slices.Contains(i.Needed, level) }

// Missing lists what a level needs and the host does not have.
func (p Probe) Missing(level Isolation) []ProbeItem {
	var missing []ProbeItem
	for _, i := range p.Items {
		if !i.OK && i.neededFor(level) {
			missing = append(missing, i)
		}
	}
	return missing
}

// Err is nil when everything that a level needs is there; else it wraps ErrHost and
// names each missing piece with its fix.
func (p Probe) Err(level Isolation) error {
	var missing []string
	for _, i := range p.Missing(level) {
		missing = append(missing, fmt.Sprintf("%s: %s (%s)", i.Name, i.Detail, i.Fix))
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("%w: isolation %s: %s", ErrHost, level, strings.Join(missing, "; "))
}

// trialHint adds what usually is behind a failed trial box.
func trialHint(err error) string {
	for text, hint := range map[string]string{
		"clone with new namespaces": "user namespaces may be forbidden: see kernel.unprivileged_userns_clone, user.max_user_namespaces and, in a container, its seccomp profile",
		"write uid map":             "in a container, its range of uids must hold the boxes' users",
		"mount proc":                "something is mounted over parts of /proc: in a container, unmask it (--security-opt systempaths=unconfined)",
		"open own pidfd":            "Linux 5.14 or later is needed",
	} {
		if strings.Contains(err.Error(), text) {
			return " (" + hint + ")"
		}
	}
	return ""
}
