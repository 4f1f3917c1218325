package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"judgefarm/internal/daemon"
	"judgefarm/languages"
)

type languagesBuildCmd struct {
	Name         string   `arg:"" help:"Recipe: a bundled one (python3+sci, python3-minimal), or with --from the id of the file's."`
	From         string   `help:"Recipe of one's own: a definition with 'root: ROOT' and toolchain.packages." placeholder:"FILE" type:"existingfile"`
	LanguagesDir string   `help:"Directory of the definitions that workers read (their --languages-dir): NAME.yaml, NAME.lock and roots/HEX.tar are written there." placeholder:"DIR" required:""`
	Suite        string   `help:"Debian release to build from." default:"bookworm"`
	Mirror       []string `help:"Archive, as a URL or a line of sources.list; by default Debian's own, with updates. Repeatable. A snapshot has the versions of an old lock." placeholder:"URL" sep:"none"`
	DryRun       bool     `help:"Only print the command that would be run."`
}

// Run builds a root with mmdebstrap(1) and writes the definition that uses it. With
// a lock file the root has exactly its packages, or nothing is written.
func (c *languagesBuildCmd) Run(env *daemon.Env) error {
	ctx, stop := env.Context()
	defer stop()
	recipe, err := c.recipe()
	if err != nil {
		return err
	}
	lockFile := filepath.Join(c.LanguagesDir, c.Name+".lock")
	locked, err := readLock(lockFile)
	if err != nil {
		return err
	}
	if c.DryRun {
		work := filepath.Join(c.LanguagesDir, "roots", ".build-0")
		_, err := fmt.Fprintln(env.Stdout, strings.Join(c.command(recipe, locked, work), " "))
		return err
	}
	if err := os.MkdirAll(filepath.Join(c.LanguagesDir, "roots"), 0o755); err != nil {
		return daemon.Usage("--languages-dir: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Join(c.LanguagesDir, "roots"), ".build-")
	if err != nil {
		return daemon.Usage("--languages-dir: %w", err)
	}
	defer os.RemoveAll(work)
	args := c.command(recipe, locked, work)
	fmt.Fprintln(env.Stdout, strings.Join(args, " "))
	if err := build(ctx, env.Stderr, args); err != nil {
		if locked != nil {
			err = fmt.Errorf("%w; where the archive no longer has a version of %s, name a snapshot of it with --mirror or remove the lock", err, lockFile)
		}
		return err
	}
	control, err := os.ReadFile(filepath.Join(work, "control"))
	if err != nil {
		return fmt.Errorf("read the list of packages: %w", err)
	}
	built := languages.ParseControl(control)
	if locked != nil {
		if lines := locked.Differences(built); len(lines) > 0 {
			return daemon.Usage("the root is not what %s says, nothing was written:\n%s", lockFile, strings.Join(lines, "\n"))
		}
	}
	digest, err := c.keep(recipe, work, built)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s: %d packages, root sha256:%s\njudgefarm languages --languages-dir %s --self-test %s tries it\n",
		c.Name, len(built), digest, c.LanguagesDir, c.Name)
	return nil
}

func (c *languagesBuildCmd) recipe() (*languages.Recipe, error) {
	if c.From == "" {
		recipe, err := languages.BundledRecipe(c.Name)
		if err != nil {
			return nil, daemon.Usage("%w; --from takes one of your own", err)
		}
		return recipe, nil
	}
	text, err := os.ReadFile(c.From)
	if err != nil {
		return nil, daemon.Usage("--from: %w", err)
	}
	recipe, err := languages.ParseRecipe(text)
	if err == nil && recipe.Language.ID != c.Name {
		err = fmt.Errorf("id: is %q, and %q is to be built", recipe.Language.ID, c.Name)
	}
	if err != nil {
		return nil, daemon.Usage("--from: %s: %w", c.From, err)
	}
	return recipe, nil
}

// readLock is nil where there is no lock yet.
func readLock(file string) (languages.Lock, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, daemon.Usage("read lock: %w", err)
	}
	lock, err := languages.ParseLock(text)
	if err != nil {
		return nil, daemon.Usage("%s: %w", file, err)
	}
	return lock, nil
}

// packagesHook writes what the archive's index says of every package in the root;
// apt has checked the digests. mmdebstrap gives it the root's directory as $1.
const packagesHook = `APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-cache show $(dpkg-query --admindir="$1/var/lib/dpkg" -W -f '${Package}=${Version} ') > "$JUDGEFARM_CONTROL"`

// command is how mmdebstrap is called: essential packages and what the recipe
// names, without documents, or exactly what the lock names.
func (c *languagesBuildCmd) command(recipe *languages.Recipe, locked languages.Lock, work string) []string {
	include := recipe.Language.Toolchain.Packages
	if locked != nil {
		include = nil
		for _, p := range locked {
			include = append(include, p.Name+"="+p.Version)
		}
	}
	args := []string{
		"env", "JUDGEFARM_CONTROL=" + filepath.Join(work, "control"),
		"mmdebstrap", "--variant=essential", "--include=" + strings.Join(include, ","),
		"--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*",
		"--dpkgopt=path-exclude=/usr/share/locale/*", "--aptopt=Acquire::Retries 3",
		"--customize-hook=" + packagesHook, c.Suite, filepath.Join(work, "root.tar"),
	}
	return append(args, c.Mirror...)
}

func build(ctx context.Context, stderr io.Writer, args []string) error {
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		return daemon.Usage("mmdebstrap is not on this host: apt-get install mmdebstrap")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = stderr, stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("mmdebstrap: %w", err)
	}
	return nil
}

// keep puts the root, the lock and at last the definition into place, each whole.
func (c *languagesBuildCmd) keep(recipe *languages.Recipe, work string, built languages.Lock) (digest string, err error) {
	tar := filepath.Join(work, "root.tar")
	f, err := os.Open(tar)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("digest root: %w", err)
	}
	digest = hex.EncodeToString(sum.Sum(nil))
	if err := os.Rename(tar, filepath.Join(c.LanguagesDir, "roots", digest+".tar")); err != nil {
		return "", err
	}
	for name, data := range map[string][]byte{".lock": built.Bytes(), ".yaml": recipe.Definition(digest)} {
		tmp := filepath.Join(work, "file"+name)
		if err := os.WriteFile(tmp, data, 0o644); err != nil {
			return "", err
		}
		if err := os.Rename(tmp, filepath.Join(c.LanguagesDir, c.Name+name)); err != nil {
			return "", err
		}
	}
	return digest, nil
}
