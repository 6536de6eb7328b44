package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/sqlite"
)

// listener passes on the names of what a host reports.
type listener chan string

func (l listener) Observe(_ context.Context, o agent.Observation) {
	if o.Name == agent.MessageDead {
		l <- o.Name
	}
}

// asked runs a verb that asks the host, in a process of its own, and returns
// what it printed.
func asked(t *testing.T, want int, line string) order {
	t.Helper()
	got := inProcess(t, append(strings.Fields(line), "-o", "json", "--timeout", "1m")...)
	if got.code != want || (got.stderr == "") != (want == exitOK) {
		t.Fatalf("%s: %+v", line, got)
	}
	var o order
	must(t, json.Unmarshal([]byte(got.stdout), &o))
	return o
}

func TestARunningHostCarriesOutWhatAnotherProcessAsksFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	t.Setenv("PARLEY_DB", path)
	weather := protocol.Query[question, reply]("acme.weather.now/v1")
	s, err := sqlite.Open(t.Context(), path)
	must(t, err)
	dead := make(listener, 16)
	caller := agent.New("caller")
	host := agent.NewHost(agent.Config{Store: s, Observer: dead, Log: slog.New(slog.DiscardHandler)}, caller)
	gone := newHost(t, filepath.Join(t.TempDir(), "gone.db"), agent.New("clerk", agent.Handle(weather, func(context.Context, question) (reply, error) {
		return reply{}, nil
	})))
	host.Connect(agent.PeerHost(gone))
	must(t, host.Start(t.Context()))
	defer func() { must(t, host.Stop(context.WithoutCancel(t.Context()))) }()
	must(t, gone.Start(t.Context()))
	must(t, gone.Stop(t.Context()))

	once := envelope.RetryPolicy{MaxAttempts: 1, Jitter: "none"}
	x, err := agent.Start(t.Context(), caller, "clerk", weather, question{"Oulu"}, agent.Resend(once), agent.Within(time.Hour))
	must(t, err)
	<-dead
	var listed struct {
		Letters []deadLetter `json:"dead_letters"`
	}
	must(t, json.Unmarshal([]byte(inProcess(t, "dlq", "ls", "-o", "json").stdout), &listed))
	if len(listed.Letters) != 1 || listed.Letters[0].Reason != "exhausted" || listed.Letters[0].Conversation != x.ID() {
		t.Fatalf("%+v", listed)
	}
	id := listed.Letters[0].MessageID

	if o := asked(t, exitOK, "dlq requeue --yes "+id); o.Status != orderDone || o.Answer == "" || o.DoneAt == "" || !strings.HasPrefix(o.By, "user:") {
		t.Errorf("%+v", o)
	}
	<-dead // in vain, for the clerk is still gone
	if o := asked(t, exitOK, "outbox retry "+id); o.Status != orderDone {
		t.Errorf("%+v", o)
	}
	<-dead
	if o := asked(t, exitOK, "dlq drop --yes "+id); o.Status != orderDone {
		t.Errorf("%+v", o)
	}
	if got := inProcess(t, "dlq", "drop", "--yes", id); got.code != exitNotFound {
		t.Errorf("%+v", got)
	}
	if o := asked(t, exitOK, "conversation cancel "+x.ID()); o.Status != orderDone {
		t.Errorf("%+v", o)
	}
}

func TestWhatAHostCannotDoExitsWithOne(t *testing.T) {
	path := workStore(t)
	t.Setenv("PARLEY_DB", path)
	if got := runCommand(t, "", "outbox", "retry", "--no-wait", messagePending); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	s, err := sqlite.Open(t.Context(), path)
	must(t, err)
	planner := agent.New("planner")
	host := agent.NewHost(agent.Config{Store: s, Log: slog.New(slog.DiscardHandler)}, planner, agent.New("flights"))
	must(t, host.Start(t.Context()))
	defer func() { must(t, host.Stop(context.WithoutCancel(t.Context()))) }()
	o := asked(t, exitFailed, "dlq requeue --yes "+messageForged)
	if o.Status != orderFailed || o.Error == "" || o.Answer != "" {
		t.Errorf("%+v", o)
	}
	got := inProcess(t, "command", "show", "-o", "json", o.ID)
	var again order
	must(t, json.Unmarshal([]byte(got.stdout), &again))
	if got.code != exitFailed || again != o {
		t.Errorf("%+v", got)
	}
	if got := inProcess(t, "command", "show", "-o", "json", command1); !strings.Contains(got.stdout, `"done_at"`) {
		t.Errorf("what was asked before the host ran was not carried out: %+v", got)
	}
}
