package compile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// meta is what is known of one compile.
type meta struct {
	Key      string        `json:"key"`
	Verdict  judge.Verdict `json:"verdict,omitempty"`
	Log      []byte        `json:"log,omitempty"`
	LogTotal int64         `json:"log_total,omitempty"`
	Usage    judge.Usage   `json:"usage"`
	Files    []fileMeta    `json:"files,omitempty"`
}

// fileMeta is one file of an executable.
type fileMeta struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Exec   bool   `json:"exec,omitempty"`
	Digest string `json:"digest"` // hex sha256
}

// addLine puts a line of ours at the end of the log, which stays within its
// limit: what the compiler said gives way.
func (m *meta) addLine(limit judge.Bytes, text string) {
	line := "judgefarm: " + text + "\n"
	if n := len(m.Log); n > 0 && m.Log[n-1] != '\n' {
		line = "\n" + line
	}
	room := max(0, int(limit)-len(line))
	m.Log = append(bytes.Clone(m.Log[:min(len(m.Log), room)]), line...)
	m.LogTotal += int64(len(line))
}

// The files of an entry. The meta file is a line with the digest of the rest.
const (
	metaName = "meta"
	exeName  = "exe"
)

// block is what a file or directory occupies at least; sizes are rounded up to it,
// so that a cache of tiny files is bounded too.
const block = 4096

func (m *meta) bytes() int64 {
	total := int64(4 * block)
	for _, f := range m.Files {
		total += (f.Size + block - 1) / block * block
	}
	return total + int64(len(m.Log))
}

// writeEntry writes a whole entry into an empty directory, readable by all
// whatever the umask is. Every descriptor is closed when it returns.
func writeEntry(dir string, m *meta, files []sandbox.Collected) error {
	exe := filepath.Join(dir, exeName)
	if err := os.Mkdir(exe, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(exe)
	if err != nil {
		return err
	}
	defer root.Close()
	m.Files = nil
	for _, f := range files {
		if err := writeFile(root, f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		sum := sha256.Sum256(f.Data)
		m.Files = append(m.Files, fileMeta{
			Name: f.Name, Size: int64(len(f.Data)), Exec: f.Mode&0o111 != 0, Digest: hex.EncodeToString(sum[:]),
		})
	}
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	head := hex.EncodeToString(sum[:]) + "\n"
	return errors.Join(
		os.WriteFile(filepath.Join(dir, metaName), append([]byte(head), body...), 0o644),
		chmodDirs(dir))
}

func writeFile(root *os.Root, f sandbox.Collected) error {
	if err := root.MkdirAll(path.Dir(f.Name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if f.Mode&0o111 != 0 {
		mode = 0o755
	}
	out, err := root.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(f.Data)
	return errors.Join(err, out.Chmod(mode), out.Close())
}

func chmodDirs(dir string) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chmod(p, 0o755)
	})
}

// readMeta reads and checks an entry's meta file.
func readMeta(dir, key string) (meta, error) {
	var m meta
	data, err := os.ReadFile(filepath.Join(dir, metaName))
	if err != nil {
		return m, err
	}
	head, body, _ := bytes.Cut(data, []byte("\n"))
	sum := sha256.Sum256(body)
	if string(head) != hex.EncodeToString(sum[:]) {
		return m, errors.New("meta file is broken")
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("meta file: %w", err)
	}
	if m.Key != key {
		return m, errors.New("meta file is of another entry")
	}
	return m, nil
}

// verify reads an entry's files and compares them with what was written.
func (m *meta) verify(exe string) error {
	for _, f := range m.Files {
		data, err := os.ReadFile(filepath.Join(exe, f.Name))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		if int64(len(data)) != f.Size || hex.EncodeToString(sum[:]) != f.Digest {
			return fmt.Errorf("%s is not what was written", f.Name)
		}
	}
	return nil
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
