package compile

import (
	"errors"
	"slices"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
)

// CommandOf is the run of an executable of lang under limits to which
// lang.Apply was already applied. The only error is an executable without a
// directory.
func CommandOf(lang *languages.Language, exe *Executable, lim judge.Limits) (Command, error) {
	if exe.Dir == "" {
		return Command{}, errors.New("start executable: it has no directory")
	}
	words := languages.LimitWords(lim, lang.Slack())
	return Command{
		Args:    words.Expand(exe.Args),
		Env:     words.Expand(exe.Env),
		Root:    exe.Root,
		Mounts:  append(slices.Clone(exe.Mounts), sandbox.Mount{Source: exe.Dir, Target: sandbox.ExeDir}),
		Slack:   lang.Slack(),
		Release: exe.Release,
	}, nil
}
