package trip

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
)

// Launch starts a supplier that serves on the listener, reads from in and tells
// on out. It closes the three when it has given them away.
type Launch func(p supplier.Part, listener, in, out *os.File) (Process, error)

// Process is a supplier that was started.
type Process interface {
	PID() int
	// Kill ends it where it stands.
	Kill() error
	// Wait returns when it has ended, with how if that was not in order.
	Wait() error
}

// ownProcess starts this program again as a supplier. It gets the listener as its
// first file beside the standard ones. An interrupt at the terminal is not for
// it: its parent ends it in order.
func ownProcess(p supplier.Part, listener, in, out *os.File) (Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("finding this program: %w", err), listener.Close(), in.Close(), out.Close())
	}
	c := exec.Command(program, append([]string{supplier.Command}, p.Args()...)...)
	c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = in, out, os.Stderr, []*os.File{listener}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OPENAI_") }) // it has no model
	if err := errors.Join(c.Start(), listener.Close(), in.Close(), out.Close()); err != nil {
		return nil, fmt.Errorf("starting supplier %s: %w", p.Name, err)
	}
	return process{c}, nil
}

type process struct{ *exec.Cmd }

func (p process) PID() int    { return p.Process.Pid }
func (p process) Kill() error { return p.Process.Kill() }
