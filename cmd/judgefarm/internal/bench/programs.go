package bench

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The programs that are measured, in C; the head of each says what it does.
//
//go:embed programs/*
var programs embed.FS

// TrueSource is the program that every load runs, as C source: start and exit.
func TrueSource() string {
	text, err := programs.ReadFile("programs/true.c")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// Programs are the compiled ones, all static, and the source of one to compile.
type Programs struct {
	True, Bare, Work string
	Compile          string // C++ source
}

// Build compiles the programs into dir. It needs gcc.
func Build(ctx context.Context, dir string) (Programs, error) {
	p := Programs{Compile: filepath.Join(dir, "compile.cc")}
	for name, to := range map[string]*string{"true": &p.True, "bare": &p.Bare, "work": &p.Work} {
		var err error
		if *to, err = build(ctx, dir, name); err != nil {
			return p, err
		}
	}
	return p, put(dir, "compile.cc")
}

// BuildTrue is Build of the program that does nothing alone; it returns its path.
func BuildTrue(ctx context.Context, dir string) (string, error) { return build(ctx, dir, "true") }

// BuildNoise is Build of the program that repeats the same work alone.
func BuildNoise(ctx context.Context, dir string) (string, error) { return build(ctx, dir, "noise") }

func build(ctx context.Context, dir, name string) (string, error) {
	if err := put(dir, name+".c"); err != nil {
		return "", err
	}
	program := filepath.Join(dir, name)
	out, err := exec.CommandContext(ctx, "/usr/bin/gcc", "-O2", "-static", "-o", program, program+".c").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the programs to measure (apt-get install gcc libc6-dev): %w: %s", err, out)
	}
	return program, nil
}

func put(dir, name string) error {
	text, err := programs.ReadFile("programs/" + name)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), text, 0o644)
}
