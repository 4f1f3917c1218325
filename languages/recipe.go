package languages

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed roots/*.yaml
var bundledRecipes embed.FS

// rootWord stands in a recipe for the root that is yet to be built.
const rootWord = "root: ROOT\n"

// Recipe is a definition whose environment.root is the word ROOT: a file system
// with its toolchain.packages is to be built, and becomes the root.
type Recipe struct {
	Language *Language
	text     []byte
}

// Recipes names the bundled recipes.
func Recipes() []string {
	entries, err := fs.ReadDir(bundledRecipes, "roots")
	if err != nil {
		return nil // the directory is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// BundledRecipe is the recipe of a name of Recipes.
func BundledRecipe(name string) (*Recipe, error) {
	if !slices.Contains(Recipes(), name) {
		return nil, fmt.Errorf("no recipe is called %q, only %s", name, strings.Join(Recipes(), ", "))
	}
	text, err := bundledRecipes.ReadFile("roots/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	return ParseRecipe(text)
}

// ParseRecipe reads a recipe. The error names every fault.
func ParseRecipe(text []byte) (*Recipe, error) {
	if bytes.Count(text, []byte(rootWord)) != 1 {
		return nil, errors.New("environment.root: must be the word ROOT, once: the root that is built takes its place")
	}
	r := &Recipe{text: text}
	lang, faults := parse(r.Definition(strings.Repeat("0", 64)))
	if len(faults) == 0 && len(lang.Toolchain.Packages) == 0 {
		faults = append(faults, errors.New("toolchain.packages: must name the packages that the root is built of"))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	r.Language = lang
	return r, nil
}

// Definition is the recipe with the root that was built, by the hex sha256 of its tar.
func (r *Recipe) Definition(digest string) []byte {
	return bytes.Replace(r.text, []byte(rootWord), []byte("root: sha256:"+digest+"\n"), 1)
}
