package languages

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func makeTar(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, h := range headers {
		content := []byte(h.Uname) // a place to carry the content
		h.Uname = ""
		h.Size = int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func compressed(t *testing.T, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func rootTar(t *testing.T) []byte {
	return makeTar(t,
		tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o700},
		tar.Header{Name: "./usr/bin/", Typeflag: tar.TypeDir, Mode: 0o700},
		tar.Header{Name: "./bin", Typeflag: tar.TypeSymlink, Linkname: "usr/bin"},
		tar.Header{Name: "./bin/small", Typeflag: tar.TypeReg, Mode: 0o4755, Uname: "binary"},
		tar.Header{Name: "./usr/bin/again", Typeflag: tar.TypeLink, Linkname: "./usr/bin/small"},
		tar.Header{Name: "./etc/alternatives/small", Typeflag: tar.TypeSymlink, Linkname: "/usr/bin/small"},
		tar.Header{Name: "./dev/null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3},
		tar.Header{Name: "./etc/secret", Typeflag: tar.TypeReg, Mode: 0o600, Uname: "text"},
	)
}

func TestRootFromTar(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{".tar": rootTar(t), ".tar.gz": compressed(t, rootTar(t))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sum := sha256.Sum256(data)
			digest := hex.EncodeToString(sum[:])
			cfg := ProberConfig{Roots: t.TempDir(), Cache: t.TempDir()}
			put(t, filepath.Join(cfg.Roots, digest+name), string(data))
			l := smallLanguage("sha256:" + digest)
			l.Toolchain.Files = []string{"/etc/alternatives/small"}
			tc := probe(t, NewProber(cfg), l)
			if len(tc.Missing) > 0 {
				t.Fatalf("missing %v", tc.Missing)
			}
			again := probe(t, NewProber(cfg), l)
			if again.Root != tc.Root || again.Digest != tc.Digest {
				t.Errorf("second start: %v, first %v", again, tc)
			}
			for name, want := range map[string]os.FileMode{"usr/bin/small": 0o755, "usr/bin/again": 0o755, "etc/secret": 0o644, "usr/bin": 0o755 | os.ModeDir, ".": 0o755 | os.ModeDir} {
				info, err := os.Lstat(filepath.Join(tc.Root, name))
				if err != nil || info.Mode() != want {
					t.Errorf("%s: %v, %v, want mode %v", name, info, err, want)
				}
			}
			if _, err := os.Lstat(filepath.Join(tc.Root, "dev")); !os.IsNotExist(err) {
				t.Errorf("dev: %v", err)
			}
		})
	}
}

// Nothing is written outside the directory, and nothing of a root that is refused
// stays.
func TestRootRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"leads up", makeTar(t, tar.Header{Name: "../evil", Typeflag: tar.TypeReg, Uname: "x"}), "escapes"},
		{"through a link", makeTar(t,
			tar.Header{Name: "out", Typeflag: tar.TypeSymlink, Linkname: "../.."},
			tar.Header{Name: "out/evil", Typeflag: tar.TypeReg, Uname: "x"}), "escapes"},
		{"hard link out", makeTar(t,
			tar.Header{Name: "evil", Typeflag: tar.TypeLink, Linkname: "../../../etc/hostname"}), "escapes"},
		{"device", makeTar(t, tar.Header{Name: "usr/mem", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 1}), "is refused"},
		{"pipe", makeTar(t, tar.Header{Name: "usr/pipe", Typeflag: tar.TypeFifo}), "is refused"},
		{"cut", rootTar(t)[:1600], "EOF"},
		{"no tar", []byte(strings.Repeat("text ", 200)), "tar"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sum := sha256.Sum256(c.data)
			digest := hex.EncodeToString(sum[:])
			cfg := ProberConfig{Roots: t.TempDir(), Cache: t.TempDir()}
			put(t, filepath.Join(cfg.Roots, digest+".tar"), string(c.data))
			_, err := NewProber(cfg).Probe(t.Context(), smallLanguage("sha256:"+digest))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			left, err := os.ReadDir(filepath.Join(cfg.Cache, "roots"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestRootDigestIsChecked(t *testing.T) {
	t.Parallel()
	cfg := ProberConfig{Roots: t.TempDir(), Cache: t.TempDir()}
	digest := strings.Repeat("ab", 32)
	put(t, filepath.Join(cfg.Roots, digest+".tar"), string(rootTar(t)))
	_, err := NewProber(cfg).Probe(t.Context(), smallLanguage("sha256:"+digest))
	if err == nil || !strings.Contains(err.Error(), "its digest is") {
		t.Errorf("error %v", err)
	}
}
