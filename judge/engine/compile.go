package engine

import (
	"context"
	"slices"

	"judgefarm/judge"
	"judgefarm/judge/compile"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// compile fills the compile part; without an executable it gives the verdict too.
func (s *session) compile(ctx context.Context) error {
	j := &s.out.Judgement
	files, main, inc := s.sourceFiles()
	res, err := s.Compiler.Compile(ctx, compile.Request{
		Language: s.lang, Files: files, Main: main, Flags: defines(s.lang, inc.Define), Least: s.job.Problem.CompileLimits,
	})
	if err != nil {
		return err
	}
	j.Timing.Compile = judge.MillisOf(res.Took)
	if s.exe = res.Executable; s.exe == nil {
		s.refused(res)
		return nil
	}
	if s.lang.Compile != nil {
		s.told(res)
	}
	s.sources = s.besides(files, inc)
	return s.prepare()
}

// prepare makes what all runs share. A failure gives the executable back.
func (s *session) prepare() error {
	cmd, err := compile.CommandOf(s.lang, s.exe, s.lim)
	if err != nil {
		s.exe.Release()
		return judge.Fail(judge.FailToolchain, err)
	}
	env := cmd.Env
	if s.job.Problem.Unbuffered {
		env = slices.Concat(env, compile.Unbuffered(cmd.Root))
	}
	s.spec = sandbox.Spec{
		Args: cmd.Args, Env: env, Root: cmd.Root, Mounts: cmd.Mounts,
		Limits: s.lim, Slack: cmd.Slack, Sealed: s.job.Problem.Sealed,
	}
	return nil
}

// refused makes what a compiler or check said the judgement.
func (s *session) refused(res *compile.Result) {
	j := &s.out.Judgement
	s.told(res)
	verdict, score := res.Verdict, 0.0
	j.Verdict, j.Score = &verdict, &score
}

// told fills the compile part.
func (s *session) told(res *compile.Result) {
	j := &s.out.Judgement
	s.out.CompileLog = res.Log
	j.Compile = &judge.Compile{
		Verdict: res.Verdict, Usage: res.Usage.JSON(), Cached: res.Cached,
		Log: judge.TextOf(res.Log, max(res.LogTotal, int64(len(res.Log)))),
	}
	if s.watch.Compiled != nil {
		s.watch.Compiled(j.Compile)
	}
}

// sourceFiles are all that is compiled, what the problem adds included, and the main
// file's name where it is not left to the language.
func (s *session) sourceFiles() (files []judge.File, main string, inc testcases.Include) {
	inc = includeOf(s.job.Problem, s.lang.ID)
	files, main = included(s.program, s.job.Submission.Main, inc)
	return prefaced(files, inc, s.lang), main, inc
}
