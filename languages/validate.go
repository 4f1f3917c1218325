package languages

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"judgefarm/judge"
)

var (
	idPattern     = regexp.MustCompile(`^[a-z0-9][a-z0-9.+_-]{0,39}$`)
	suffixPattern = regexp.MustCompile(`^\.[A-Za-z0-9+_.-]+$`)
	digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	envPattern    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// validate returns every fault of a definition.
func (l *Language) validate() []fault {
	var faults []fault
	refuse := func(field, format string, args ...any) {
		faults = append(faults, fault{field, fmt.Sprintf(format, args...)})
	}
	for _, id := range append([]string{l.ID}, l.Aliases...) {
		if !idPattern.MatchString(id) {
			refuse("id", "ids and aliases must be 1 to 40 of a-z 0-9 . + _ -, is %q", id)
		}
	}
	if l.Name == "" {
		refuse("name", "must be set")
	}
	if err := judge.CheckFileName(l.Source); err != nil || strings.Contains(l.Source, "/") {
		refuse("source", "must be a plain file name, is %q", l.Source)
	}
	if len(l.Suffix) == 0 || !l.owns(l.Source) {
		refuse("suffixes", "must hold the suffix of source %q", l.Source)
	}
	for _, s := range l.Suffix {
		if !suffixPattern.MatchString(s) {
			refuse("suffixes", "must be like .cpp, is %q", s)
		}
	}
	faults = append(faults, l.validateIDs()...)
	if l.MainClass != nil {
		faults = append(faults, l.MainClass.compile()...)
	}
	if l.Define != "" && (l.Compile == nil || !strings.HasPrefix(l.Define, "-")) {
		refuse("define", "must be an option of the compiler's, is %q", l.Define)
	}
	faults = append(faults, l.validatePrepare()...)
	faults = append(faults, l.validateCheck()...)
	if l.Compile != nil {
		faults = append(faults, l.Compile.validate("compile", without(sourceWords, "exe"))...)
		out := strings.TrimSuffix(l.Compile.Output, "/")
		if err := judge.CheckFileName(out); err != nil && l.Compile.Output != "" {
			refuse("compile.output", "names the file or directory/ that is kept: %v", err)
		}
	}
	if l.Run.Limits != nil || l.Run.Output != "" {
		refuse("run", "limits and output belong to compile only")
	}
	faults = append(faults, l.Run.validate("run", sourceWords)...)
	faults = append(faults, l.Environment.validate()...)
	faults = append(faults, l.Allowance.validate()...)
	faults = append(faults, l.Toolchain.validate()...)
	if l.SelfTest.Source == "" || l.SelfTest.Expected == "" {
		refuse("self_test", "must have a source and what it is expected to print")
	}
	return faults
}

func (s *Step) validate(field string, words []string) []fault {
	var faults []fault
	refuse := func(part, format string, args ...any) {
		faults = append(faults, fault{field + "." + part, fmt.Sprintf(format, args...)})
	}
	if len(s.Args) == 0 || !isSystemPath(s.Args[0]) && !strings.HasPrefix(s.Args[0], "{exe}/") {
		refuse("args", "must start with a program's absolute path or {exe}/...: nothing is sought in a PATH")
	}
	known := slices.Concat(words, limitWords, []string{"prepared"})
	for _, arg := range s.Args {
		for _, m := range word.FindAllStringSubmatch(arg, -1) {
			switch {
			case !slices.Contains(known, m[1]):
				refuse("args", "word %s is not known here, only %s", m[0], strings.Join(known, ", "))
			case m[1] == "sources" && arg != m[0]:
				refuse("args", "{sources} must stand alone, is in %q", arg)
			}
		}
	}
	faults = append(faults, checkEnv(field+".env", s.Env)...)
	return append(faults, s.Limits.or(DefaultStepLimits()).validate(field+".limits")...)
}

// validate is for limits with their defaults.
func (s *StepLimits) validate(field string) []fault {
	if s.CPU < 0 || s.Wall < s.CPU || s.Tasks < 1 {
		return []fault{{field, "wall must be at least cpu, tasks at least 1"}}
	}
	return nil
}

func checkEnv(field string, env []string) []fault {
	var faults []fault
	for _, e := range env {
		if !envPattern.MatchString(e) || strings.ContainsRune(e, 0) {
			faults = append(faults, fault{field, fmt.Sprintf("must be NAME=value, is %q", e)})
		}
		for _, m := range word.FindAllStringSubmatch(e, -1) {
			if known := append([]string{"exe", "prepared"}, limitWords...); !slices.Contains(known, m[1]) {
				faults = append(faults, fault{field, fmt.Sprintf("word %s is not known here, only %s", m[0], strings.Join(known, ", "))})
			}
		}
	}
	return faults
}

func (e *Environment) validate() []fault {
	var faults []fault
	if e.Root != "" && !isCleanAbs(e.Root) && !digestPattern.MatchString(e.Root) {
		faults = append(faults, fault{"environment.root", fmt.Sprintf("must be an absolute directory or sha256: and 64 hex digits, is %q", e.Root)})
	}
	for i, m := range e.Mounts {
		field := fmt.Sprintf("environment.mounts[%d]", i)
		if !isCleanAbs(m.Source) {
			faults = append(faults, fault{field, fmt.Sprintf("source must be an absolute path, is %q", m.Source)})
		}
		if m.Target != "" && !isCleanAbs(m.Target) {
			faults = append(faults, fault{field, fmt.Sprintf("target must be an absolute path, is %q", m.Target)})
		}
	}
	return append(faults, checkEnv("environment.env", e.Env)...)
}

func (a *Allowance) validate() []fault {
	if a.TimeFactor < 0 || a.TimeFactor > 100 || a.Time < 0 || a.Tasks < 0 {
		return []fault{{"allowance", "must not be negative, and time_factor at most 100"}}
	}
	return nil
}

func (t *Tools) validate() []fault {
	var faults []fault
	if len(t.Programs) == 0 {
		faults = append(faults, fault{"toolchain.programs", "must name at least one program"})
	}
	for _, p := range slices.Concat(t.Programs, t.Files) {
		if !isCleanAbs(p) {
			faults = append(faults, fault{"toolchain", fmt.Sprintf("programs and files must be absolute paths, is %q", p)})
		}
	}
	if len(t.Version) == 0 || !isSystemPath(t.Version[0]) {
		faults = append(faults, fault{"toolchain.version", "must be a command that starts with an absolute path"})
	}
	for _, p := range t.Npm {
		if at := strings.LastIndexByte(p, '@'); at < 1 || at == len(p)-1 {
			faults = append(faults, fault{"toolchain.npm", fmt.Sprintf("must be name@version, is %q", p)})
		}
	}
	return faults
}

func isCleanAbs(p string) bool { return path.IsAbs(p) && path.Clean(p) == p && p != "/" }

// isSystemPath refuses programs in places that a box's user cannot read or that
// differ by user: version managers keep shims there.
func isSystemPath(p string) bool {
	return isCleanAbs(p) && !slices.ContainsFunc([]string{"/root/", "/home/", "/tmp/", "/work/"}, func(dir string) bool {
		return strings.HasPrefix(p, dir)
	})
}

func without(words []string, drop string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == drop })
}
