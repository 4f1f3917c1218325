package languages

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// dpkg knows which Debian packages a root has, from the package manager's own
// file. A root without that file has none that it knows of.
type dpkg struct {
	mu    sync.Mutex
	roots map[string]installed // by host directory, "" for the host
}

type installed struct {
	size     int64
	mtime    time.Time
	versions map[string]string // of packages whose status is installed
}

// versions lists the installed packages of a root, by name.
func (d *dpkg) versions(root string) (map[string]string, error) {
	file := filepath.Join("/", root, "var/lib/dpkg/status")
	info, err := os.Stat(file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read package versions: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if got, ok := d.roots[root]; ok && got.size == info.Size() && got.mtime.Equal(info.ModTime()) {
		return got.versions, nil
	}
	versions, err := readStatus(file)
	if err != nil {
		return nil, fmt.Errorf("read package versions: %w", err)
	}
	if d.roots == nil {
		d.roots = map[string]installed{}
	}
	d.roots[root] = installed{info.Size(), info.ModTime(), versions}
	return versions, nil
}

// readStatus parses dpkg's status file, deb822(5), as far as names, versions and
// status go.
func readStatus(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	versions := map[string]string{}
	var name, version, status string
	end := func() {
		if name != "" && strings.HasSuffix(status, " installed") {
			versions[name] = version
		}
		name, version, status = "", "", ""
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			end()
			continue
		}
		if v, ok := strings.CutPrefix(line, "Package: "); ok {
			name = v
		} else if v, ok := strings.CutPrefix(line, "Version: "); ok {
			version = v
		} else if v, ok := strings.CutPrefix(line, "Status: "); ok {
			status = v
		}
	}
	end()
	return versions, lines.Err()
}
