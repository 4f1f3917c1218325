package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Pair is two programs and the ways in which their pipes join them.
type Pair struct {
	First, Second []string // commands
	Stdin         string   // file that First reads, where nothing comes back from Second
	Back          bool     // what Second prints goes to First
	Exit          int      // of Second, when all is well
}

// Run runs both on this host, joined by plain pipes and by nothing else, and returns
// how long it took until both had ended.
func (p Pair) Run(ctx context.Context) (took time.Duration, err error) {
	first := exec.CommandContext(ctx, p.First[0], p.First[1:]...)
	second := exec.CommandContext(ctx, p.Second[0], p.Second[1:]...)
	first.Env, second.Env = []string{}, []string{}
	var ends []*os.File
	closeAll := func() {
		for _, f := range ends {
			f.Close()
		}
		ends = nil
	}
	defer closeAll()
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	ends = append(ends, r, w)
	first.Stdout, second.Stdin = w, r
	if p.Back {
		if r, w, err = os.Pipe(); err != nil {
			return 0, err
		}
		ends = append(ends, r, w)
		second.Stdout, first.Stdin = w, r
	} else {
		in, err := os.Open(p.Stdin)
		if err != nil {
			return 0, err
		}
		ends = append(ends, in)
		first.Stdin = in
	}
	began := time.Now()
	if err := first.Start(); err != nil {
		return 0, err
	}
	err = second.Start()
	closeAll() // else neither would read the end of the other's output
	if err != nil {
		return 0, errors.Join(err, first.Wait())
	}
	serr := second.Wait()
	err = first.Wait()
	took = time.Since(began)
	if code := second.ProcessState.ExitCode(); code != p.Exit || err != nil {
		return took, fmt.Errorf("%s ended with %w, %s with status %d, want %d (%w)", p.First[0], err, p.Second[0], code, p.Exit, serr)
	}
	return took, nil
}

// Source is one of the programs that are measured, as C source.
func Source(name string) ([]byte, error) { return programs.ReadFile("programs/" + name + ".c") }
