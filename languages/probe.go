package languages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Toolchain is what this host has of a language.
type Toolchain struct {
	Language *Language
	Root     string            // host directory that is the box's root; "" for the host's own
	Packages map[string]string // versions of the definition's Debian packages that are installed
	Missing  []Missing         // empty: the language can be tried
	// Digest is "sha256:" and the hex digest over the content of programs, files
	// and mounts, package versions, commands and environment; "" while something
	// is missing.
	Digest string
}

// Missing is one thing that is not there, and what brings it.
type Missing struct {
	What string `json:"what"` // "/usr/bin/pypy3 is not there"
	Fix  string `json:"fix"`  // "apt-get install pypy3"
}

// ProberConfig says where roots that are tars come from and go to.
type ProberConfig struct {
	Roots string // directory with HEX.tar or HEX.tar.gz; "" has none
	Cache string // directory below which they are unpacked
}

// Prober looks at this host. It runs nothing and keeps file digests for the life
// of the process. It is safe for concurrent use.
type Prober struct {
	cfg    ProberConfig
	hasher hasher
	dpkg   dpkg
	roots  roots
}

// NewProber returns a prober.
func NewProber(cfg ProberConfig) *Prober {
	return &Prober{cfg: cfg, roots: roots{cfg: cfg}}
}

// ProbeAll probes every language of a set, in the set's order.
func (p *Prober) ProbeAll(ctx context.Context, set *Set) ([]*Toolchain, error) {
	all := make([]*Toolchain, len(set.all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for i, l := range set.all {
		group.Go(func() (err error) {
			all[i], err = p.Probe(ctx, l)
			return err
		})
	}
	return all, group.Wait()
}

// Probe looks for what a language needs. The error is ctx's cause or says that
// something there could not be read; what is not there is in Missing.
func (p *Prober) Probe(ctx context.Context, l *Language) (*Toolchain, error) {
	tc := &Toolchain{Language: l, Packages: map[string]string{}}
	root, err := p.roots.dir(ctx, l.Environment.Root)
	if errors.Is(err, fs.ErrNotExist) {
		tc.Missing = append(tc.Missing, Missing{What: err.Error(), Fix: "put it there, or change environment.root"})
		return tc, nil
	}
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", l.ID, err)
	}
	tc.Root = root
	versions, err := p.dpkg.versions(root)
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", l.ID, err)
	}
	for _, name := range l.Toolchain.Packages {
		if v, ok := versions[name]; ok {
			tc.Packages[name] = v
		}
	}
	sum := sha256.New()
	if err := p.digest(ctx, tc, sum); err != nil {
		return nil, fmt.Errorf("probe %s: %w", l.ID, err)
	}
	if len(tc.Missing) == 0 {
		tc.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	}
	return tc, nil
}

// digest writes all that makes the toolchain to w and notes what is missing.
func (p *Prober) digest(ctx context.Context, tc *Toolchain, w io.Writer) error {
	l := tc.Language
	var mounts []EnvMount
	for i, m := range l.Environment.Mounts {
		if _, err := os.Stat(m.Source); err != nil {
			tc.Missing = append(tc.Missing, Missing{
				What: fmt.Sprintf("environment.mounts[%d] %s is not there", i, m.Source), Fix: tc.fix(m.Source)})
			continue
		}
		mounts = append(mounts, m)
	}
	v := view{root: tc.Root, mounts: mounts}
	if err := writeDefinition(w, l, tc.Packages); err != nil {
		return err
	}
	for _, name := range slices.Concat(l.Toolchain.Programs, l.Toolchain.Files) {
		if err := p.writeFiles(ctx, tc, v, name, w); err != nil {
			return err
		}
	}
	for _, m := range mounts {
		source, err := filepath.EvalSymlinks(m.Source)
		if err != nil {
			return err
		}
		if err := p.hasher.write(ctx, w, m.Target, source); err != nil {
			return err
		}
	}
	return nil
}

func (p *Prober) writeFiles(ctx context.Context, tc *Toolchain, v view, pattern string, w io.Writer) error {
	names, err := v.glob(pattern)
	if err == nil && len(names) == 0 {
		err = fs.ErrNotExist
	}
	for _, name := range names {
		var host string
		if host, err = v.resolve(name); err != nil {
			break
		}
		if err = p.hasher.write(ctx, w, name, host); err != nil {
			break
		}
	}
	switch {
	case errors.Is(err, errOutside):
		tc.Missing = append(tc.Missing, Missing{What: err.Error(), Fix: "mount it"})
	case errors.Is(err, fs.ErrNotExist):
		tc.Missing = append(tc.Missing, Missing{What: pattern + " is not there", Fix: tc.fix(pattern)})
	case err != nil:
		return err
	}
	return nil
}

// writeDefinition writes what of a definition changes what a toolchain does. Where
// roots and mounts lie on the host does not: their content counts.
func writeDefinition(w io.Writer, l *Language, packages map[string]string) error {
	env := Environment{Env: l.Environment.Env}
	if digestPattern.MatchString(l.Environment.Root) {
		env.Root = l.Environment.Root
	}
	for _, m := range l.Environment.Mounts {
		env.Mounts = append(env.Mounts, EnvMount{Target: m.Target})
	}
	sample := "" // what is prepared depends on the program that it is prepared with
	if l.Prepare != nil {
		sample = l.SelfTest.Source
	}
	return json.NewEncoder(w).Encode(struct {
		Form        string
		Prepare     *Prepare `json:",omitempty"`
		Sample      string   `json:",omitempty"`
		Compile     *Step
		Check       *Check `json:",omitempty"`
		Run         Step
		Environment Environment
		MainClass   *MainClass
		Packages    map[string]string
		Npm         []string
	}{"judgefarm toolchain 1", l.Prepare, sample, l.Compile, l.Check, l.Run, env, l.MainClass, packages, l.Toolchain.Npm})
}

// fix says how to get a missing file.
func (tc *Toolchain) fix(file string) string {
	t := tc.Language.Toolchain
	if strings.HasPrefix(file, NpmPrefix+"/") && len(t.Npm) > 0 {
		return "npm install --prefix " + NpmPrefix + " " + strings.Join(t.Npm, " ")
	}
	if slices.ContainsFunc(tc.Language.Environment.Mounts, func(m EnvMount) bool { return within(file, m.Target) || file == m.Source }) {
		return "put it there, or change environment.mounts"
	}
	var absent []string
	for _, name := range t.Packages {
		if tc.Packages[name] == "" {
			absent = append(absent, name)
		}
	}
	where := ""
	if tc.Root != "" {
		where = " in the root " + tc.Language.Environment.Root
	}
	switch {
	case len(t.Packages) == 0:
		return "see the definition of " + tc.Language.ID
	case len(absent) == 0:
		return "apt-get install --reinstall " + strings.Join(t.Packages, " ") + where
	}
	return "apt-get install " + strings.Join(absent, " ") + where
}
