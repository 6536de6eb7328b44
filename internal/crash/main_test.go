package crash_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
)

// childVar describes, as JSON, the part that a child process plays.
const childVar = "PARLEY_CRASH_CHILD"

// TestMain is also the main function of the children.
func TestMain(m *testing.M) {
	text := os.Getenv(childVar)
	if text == "" {
		os.Exit(m.Run())
	}
	var p part
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = p.play()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// part is what a child process plays.
type part struct {
	Role   string // asker or answerer
	Folder string // of the files and sockets of both
	Base   int64  // when time begins to run Pace times as fast, in ms since 1970
	Pace   int
	Point  string // where it kills itself, "" for nowhere
	Ask    string // the one thing that the asker asks for, "" for order after order
}

func (p part) db() string                { return filepath.Join(p.Folder, p.Role+".db") }
func (p part) socket(role string) string { return filepath.Join(p.Folder, role+".sock") }

// child is a part that is played.
type child struct {
	part
	clock  agent.Clock
	host   *agent.Host
	agents map[string]*agent.Agent
	fatal  point
	mu     sync.Mutex
	seen   map[string]int // how often it came to each place
}

// say tells the driver something.
func (c *child) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

// play lives until the driver closes standard input, or until it is killed.
func (p part) play() error {
	ctx := context.Background()
	c := &child{part: p, clock: fast{time.UnixMilli(p.Base), time.Duration(p.Pace)}, agents: map[string]*agent.Agent{}, fatal: pointOf(p.Point), seen: map[string]int{}}
	if p.Ask != "" {
		return c.alone(ctx)
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	c.say("ready")
	finish, finished := make(chan struct{}), make(chan error, 1)
	go func() { finished <- c.work(ctx, finish) }()
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		close(finish)
		if err := <-finished; err != nil {
			return err
		}
		if err := c.rest(ctx); err != nil {
			return err
		}
		c.say("idle")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return c.host.Stop(ctx)
}
