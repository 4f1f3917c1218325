package sandbox_test

import (
	"testing"

	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

func newSandbox(t testing.TB, cfg sandbox.Config) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestRunner(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(t *testing.T) sandbox.Runner { return newSandbox(t, sandbox.Config{}) })
}
