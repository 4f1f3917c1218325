package daemon

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"judgefarm/judge"

	"github.com/alecthomas/kong"
)

// envPrefix starts the name of every variable that stands for a flag:
// --s3-bucket is JUDGEFARM_S3_BUCKET.
const envPrefix = "JUDGEFARM_"

// exited carries kong's call of Exit out of the parser.
type exited int

func parse(app App, grammar Grammar, args []string) (*kong.Context, error) {
	k, err := kong.New(grammar,
		kong.Name(app.Name),
		kong.Description(app.Description),
		kong.Vars{"version": app.Version},
		kong.Writers(app.Stdout, app.Stderr),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.TypeMapper(reflect.TypeFor[judge.Bytes](), kong.MapperFunc(decodeSize)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(decodeDuration)),
		kong.PostBuild(func(k *kong.Kong) error { nameVariables(k.Model.Node); return nil }),
		kong.WithBeforeResolve(addFile),
	)
	if err != nil {
		panic(fmt.Sprintf("daemon: the grammar is broken: %v", err)) // a bug of ours, whatever the arguments
	}
	return k.Parse(args)
}

// nameVariables gives each flag its variable. kong's DefaultEnvars would make
// JUDGEFARM_S_3_BUCKET of --s3-bucket. A flag with env:"-" has none, and no key of a
// file either: what one command means by it must not reach another's.
func nameVariables(node *kong.Node) {
	for _, flag := range node.Flags {
		switch {
		case flag.Name == "help" || flag.Name == "version":
		case len(flag.Envs) == 1 && flag.Envs[0] == "-":
			flag.Envs, flag.Tag.Envs = nil, nil
		case len(flag.Envs) == 0:
			name := envPrefix + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(flag.Name))
			flag.Envs, flag.Tag.Envs = []string{name}, []string{name}
		}
	}
	for _, child := range node.Children {
		nameVariables(child)
	}
}

// addFile reads --config, if it is given, before kong fills in what the command
// line left open. kong calls it for every step of the command line; one reading is enough.
func addFile(ctx *kong.Context, step *kong.Path) error {
	if step.App == nil {
		return nil
	}
	for _, flag := range ctx.Flags() {
		if flag.Name != "config" {
			continue
		}
		path, _ := ctx.FlagValue(flag).(string)
		if path == "" {
			return nil
		}
		values, err := readFile(path, ctx.Model)
		if err != nil {
			return err
		}
		ctx.AddResolver(values)
	}
	return nil
}

// inEnvironment reports whether a variable states the flag.
func inEnvironment(flag *kong.Flag) bool {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return true
		}
	}
	return false
}
