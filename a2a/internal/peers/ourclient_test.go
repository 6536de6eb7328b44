package peers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/sqlite"
)

// caller is an agent of ours that asks a stranger, on a host that can be
// started again.
type caller struct {
	*testing.T
	ctx      context.Context
	file     string
	reads    a2a.DialConfig
	stranger foreign

	agent *agent.Agent
	host  *agent.Host
}

// up starts the host.
func (c *caller) up() {
	c.Helper()
	s, err := sqlite.Open(c.ctx, c.file)
	if err != nil {
		c.Fatal(err)
	}
	c.agent = agent.New("caller", agent.Peer("stranger", c.stranger.url),
		agent.Handle(protocol.Question, func(_ context.Context, q protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			if q.Text != "which city?" {
				return protocol.QuestionAnswered{}, fmt.Errorf("the question is %q", q.Text)
			}
			return protocol.QuestionAnswered{Text: "Oulu"}, nil
		}))
	c.host = agent.NewHost(agent.Config{Store: s, Log: slog.New(slog.DiscardHandler), Dial: a2a.Dialer(c.reads), Drain: -1}, c.agent)
	if err := c.host.Start(c.ctx); err != nil {
		c.Fatal(err)
	}
}

func (c *caller) down() {
	c.Helper()
	if err := c.host.Stop(context.WithoutCancel(c.ctx)); err != nil {
		c.Error(err)
	}
}

// says asks the stranger and wants an answer.
func (c *caller) says(text, want string) error {
	got, err := agent.Ask(c.ctx, c.agent, "stranger", protocol.Chat(), protocol.Said{Text: protocol.Text(text)}, agent.Within(patience))
	if err == nil && string(got.Text) != want {
		err = fmt.Errorf("got %q, want %q", got.Text, want)
	}
	return err
}

// wantError is an error that must be of a type.
func wantError[E error](err error) error {
	if _, ok := errors.AsType[E](err); !ok {
		var e E
		return fmt.Errorf("got %v, want %T", err, e)
	}
	return nil
}

// asking are the scenarios of our client.
func asking() []struct {
	operation, variant string
	run                func(c *caller) error
} {
	start := func(c *caller) (*agent.Exchange[protocol.Said], error) {
		return agent.Start(c.ctx, c.agent, "stranger", protocol.Chat(), protocol.Said{Text: "wait"}, agent.Within(patience))
	}
	return []struct {
		operation, variant string
		run                func(c *caller) error
	}{
		{"ask", "plain", func(c *caller) error { return c.says("hello", "hello to you") }},
		{"ask", "data", func(c *caller) error {
			got, err := agent.Ask(c.ctx, c.agent, "stranger", add(), Addition{2, 3}, agent.Within(patience))
			if err == nil && got.Sum != 5 {
				err = fmt.Errorf("the sum is %d", got.Sum)
			}
			return err
		}},
		{"ask", "follow-up to a question", func(c *caller) error { return c.says("ask", "you said Oulu") }},
		{"ask", "failing", func(c *caller) error { return wantError[*protocol.FailedError](c.says("fail", "")) }},
		{"ask", "refused", func(c *caller) error { return wantError[*protocol.RefusedError](c.says("refuse", "")) }},
		{"start", "wait", func(c *caller) error {
			x, err := start(c)
			if err != nil {
				return err
			}
			if err := c.stranger.lift(); err != nil {
				return err
			}
			got, err := x.Wait(c.ctx)
			if err == nil && got.Text != "it was lifted" {
				err = fmt.Errorf("got %q", got.Text)
			}
			return err
		}},
		{"start", "cancel", func(c *caller) error {
			x, err := start(c)
			if err != nil {
				return err
			}
			if err := x.Cancel(c.ctx); err != nil {
				return err
			}
			_, err = x.Wait(c.ctx)
			return wantError[*protocol.CancelledError](err)
		}},
		{"start", "restart", func(c *caller) error {
			x, err := start(c)
			if err != nil {
				return err
			}
			c.down()
			if err := c.stranger.lift(); err != nil {
				return err
			}
			c.up()
			x, err = agent.Resume(c.ctx, c.agent, "stranger", x.ID(), protocol.Chat())
			if err != nil {
				return err
			}
			got, err := x.Wait(c.ctx)
			if err == nil && got.Text != "it was lifted" {
				err = fmt.Errorf("got %q", got.Text)
			}
			return err
		}},
	}
}

func TestOurClientUnderstandsForeignServers(t *testing.T) {
	servers := []struct {
		name  string
		start func(*testing.T) foreign
	}{{"a2a-go", startGo}}
	if haveNode(t) {
		servers = append(servers, servers[0])
		servers[1].name, servers[1].start = "a2a-js", startJS
	}
	matrix := [][]string{{"operation", "variant"}}
	for _, s := range asking() {
		row := []string{s.operation, s.variant}
		for _, server := range servers {
			for _, reads := range []a2a.DialConfig{{Foreign: true}, {Foreign: true, Poll: 50 * time.Millisecond}} {
				how := "stream"
				if reads.Poll > 0 {
					how = "poll"
				}
				if len(matrix) == 1 {
					matrix[0] = append(matrix[0], server.name+", "+how)
				}
				ok := t.Run(fmt.Sprintf("%s/%s/%s/%s", s.operation, s.variant, server.name, how), func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					reads.Log = slog.New(slog.DiscardHandler)
					c := &caller{T: t, ctx: ctx, file: filepath.Join(t.TempDir(), "caller.db"), reads: reads, stranger: server.start(t)}
					c.up()
					defer func() { c.down() }()
					if err := s.run(c); err != nil {
						t.Error(err)
					}
				})
				row = append(row, map[bool]string{true: "yes", false: "NO"}[ok])
			}
		}
		matrix = append(matrix, row)
	}
	t.Log("\n" + table(matrix))
}
