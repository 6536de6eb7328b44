package crash_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long the driver waits for the next thing that a process does.
// It is there for a process that hangs, and no test depends on how fast one is.
const patience = 2 * time.Minute

// heard is what the processes have told the driver in all their lives.
type heard struct {
	mu     sync.Mutex
	opened map[int]string     // the conversation of each order whose opening is durable
	ended  map[int]string     // how it ended, as the planner was told
	acked  map[[3]string]bool // messages that their receivers have: receiver, sender, id
}

func newHeard() *heard {
	return &heard{opened: map[int]string{}, ended: map[int]string{}, acked: map[[3]string]bool{}}
}

// hear notes a line of a process.
func (h *heard) hear(line string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var n int
	var text string
	words := strings.Fields(line)
	switch words[0] {
	case "opened":
		if _, err := fmt.Sscan(line, &text, &n, &text); err != nil {
			return err
		}
		if before, ok := h.opened[n]; ok && before != text {
			return fmt.Errorf("order %d was asked for in %s and again in %s", n, before, text)
		}
		h.opened[n] = text
	case "ended":
		if _, err := fmt.Sscan(line, &text, &n, &text); err != nil {
			return err
		}
		if before, ok := h.ended[n]; ok && before != text {
			return fmt.Errorf("order %d ended %s and then %s", n, before, text)
		}
		h.ended[n] = text
	case "acked":
		h.acked[[3]string(words[1:])] = true
	}
	return nil
}

// process is a child that runs.
type process struct {
	part
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	ready  chan struct{} // receives when the child says so
	idle   chan struct{}
	ended  chan struct{} // closed when it has ended
	killed bool          // it was, and did not end by itself; known when it has ended
	fault  error         // what it said that contradicts what was said before, and its complaints
}

// run starts a child and hears what it says. After so many lines, if that is not
// 0, it is killed; and at the end of the test.
func run(t *testing.T, p part, h *heard, lines int) *process {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	c := &process{part: p, cmd: exec.CommandContext(t.Context(), os.Args[0]), ready: make(chan struct{}, 1), idle: make(chan struct{}, 1), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childVar+"="+string(text))
	var complaints strings.Builder
	c.cmd.Stderr = &complaints
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		var faults []error
		n := 0
		for scan := bufio.NewScanner(out); scan.Scan(); {
			if n++; n == lines {
				faults = append(faults, c.cmd.Process.Kill())
			}
			switch scan.Text() {
			case "ready":
				c.ready <- struct{}{}
			case "idle":
				c.idle <- struct{}{}
			}
			faults = append(faults, h.hear(scan.Text()))
		}
		err := c.cmd.Wait()
		status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
		if c.killed = ok && status.Signaled() && status.Signal() == syscall.SIGKILL; !c.killed {
			faults = append(faults, err)
		}
		if complaints.Len() > 0 {
			faults = append(faults, errors.New(complaints.String()))
		}
		c.fault = errors.Join(faults...)
	}()
	return c
}

// await waits for something of the process.
func (c *process) await(t *testing.T, what string, happened <-chan struct{}) {
	t.Helper()
	select {
	case <-happened:
	case <-c.ended:
		select {
		case <-happened:
		default:
			t.Fatalf("%s ended before it was %s: %v", c.Role, what, c.fault)
		}
	case <-time.After(patience):
		// It tells where its goroutines are.
		if err := c.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
			t.Error(err)
		}
		<-c.ended
		t.Fatalf("%s is not %s: %v", c.Role, what, c.fault)
	}
}

// plan is how a life of a process ends: at a point, or at a moment after a
// number of lines that it says.
type plan struct {
	point string
	lines int
}

func (p plan) String() string {
	if p.point != "" {
		return p.point
	}
	if p.lines == 0 {
		return "when it is told to"
	}
	return fmt.Sprintf("after %d lines", p.lines)
}

// plans makes the ends of one role's lives: every point of it in some order, again
// and again, and between them moments.
func plans(r *rand.Rand, role string) func() plan {
	var left []string
	moment := false
	return func() plan {
		if moment = !moment; moment {
			return plan{lines: 1 + r.IntN(25)}
		}
		if len(left) == 0 {
			left = slices.Clone(points[role])
			r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		}
		next := left[0]
		left = left[1:]
		if !strings.HasPrefix(next, "before identity") && !strings.HasPrefix(next, "after takeover") {
			next = fmt.Sprintf("%s %d", next, 1+r.IntN(3))
		}
		return plan{point: next}
	}
}

// points are the named places at which each role dies.
var points = map[string][]string{
	"asker": sides([]string{"!request", "?agree", "?inform", "pending", "delivered", "?request", "!agree !inform"},
		"send", "sent", "deliver", "answer", "effect of handler begins", "effect of handler ends"),
	"answerer": sides([]string{"?request", "!agree", "reply", "called of tool", "called of step", "result of tool", "result of step", "!inform", "!agree !inform", "pending", "delivered", "!request", "?inform"},
		"send", "sent", "deliver", "answer", "request", "response", "effect of plain tool begins", "effect of plain step begins",
		"effect of keyed tool ends", "effect of plain tool ends", "effect of keyed step ends", "effect of plain step ends", "effect of handler ends"),
}

// sides are both sides of each change of the store, the places in the code, and
// two of the start.
func sides(changes []string, places ...string) []string {
	list := []string{"before identity 1", "after takeover 1"}
	for _, c := range changes {
		list = append(list, "before "+c, "after "+c)
	}
	for _, p := range places {
		list = append(list, "at "+p)
	}
	return list
}
