// Command parley looks after a Parley installation: it mends model output,
// shows schemas and conversations, and says what is wrong with a machine.
//
// Data goes to standard output, everything else to standard error. The JSON
// that -o json prints is stable, members may be added; tables are for people
// and may change. The exit codes are in exit.go.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"os/user"
	"time"

	"github.com/google/uuid"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	p := process{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: time.Now, newID: newID, user: whoami(), versions: versions, filesystem: filesystemOf}
	p.terminal = isTerminal(os.Stdin) && isTerminal(os.Stderr)
	os.Exit(p.run(ctx, os.Args[1:]))
}

// process is what the commands know of the world outside.
type process struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	// terminal says that somebody can be asked on stderr and answer on stdin.
	terminal bool
	now      func() time.Time
	newID    func() string // of a command, a UUIDv7
	user     string        // who asks for something, such as user:ada
	versions func(context.Context) (version, error)
	// filesystem says where a folder lies.
	filesystem func(folder string) (filesystem, error)
}

// isTerminal reports whether f is a device that people type on or read from.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// whoami is the name under which commands are asked for.
func whoami() string {
	u, err := user.Current()
	if err != nil {
		return "user:unknown"
	}
	return "user:" + u.Username
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// run runs one command line and returns its exit code.
func (p process) run(ctx context.Context, args []string) int {
	c := p.command()
	c.SetArgs(args)
	c.SetIn(p.stdin)
	c.SetOut(p.stdout)
	c.SetErr(p.stderr)
	verb := &running{}
	err := c.ExecuteContext(context.WithValue(ctx, running{}, verb))
	if err != nil && !verb.started {
		err = &usageError{err} // cobra's own, or a flag of ours
	}
	return report(p.stderr, err)
}

// running tells mistakes in the arguments, which come before a verb starts,
// from what goes wrong in the verb. Its type is its key in the context.
type running struct{ started bool }
