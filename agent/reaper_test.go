package agent_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// unfinished are the exchanges of an owner that have not ended.
func unfinished(t *testing.T, h *agent.Host, owner string) []store.Exchange {
	t.Helper()
	live, err := h.Store().Exchanges(t.Context(), owner, "")
	if err != nil {
		t.Fatal(err)
	}
	return live
}

// pendingRows are the outbox rows of a conversation's exchanges that may still
// be sent.
func pendingRows(t *testing.T, h *agent.Host, exchanges []store.Exchange) (list []store.Outbox) {
	t.Helper()
	for _, x := range exchanges {
		rows, err := h.Store().Outbox(t.Context(), x.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Status == store.Pending {
				list = append(list, r)
			}
		}
	}
	return list
}

func TestAnExchangeWhosePeerIsDeadEndsInARecordedOutcomeSoonAfterItsDeadline(t *testing.T) {
	for what, v := range verbs {
		for name, tt := range map[string]struct{ reached, restart bool }{
			"the peer was never reached":                      {false, false},
			"the peer died at work":                           {true, false},
			"never reached, and the clock jumped past it all": {false, true},
			"it died, and the clock jumped past it all":       {true, true},
		} {
			t.Run(what+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "a.db")
					planner := agent.New("planner")
					a, b := begin(t, nil, open(t, path), planner), begin(t, nil, nil, helpers(make(chan error, 4))...)
					cut := wire(a, b)
					cut(!tt.reached)
					q := underway(t, func(opened agent.AskOption) (struct{}, error) {
						return struct{}{}, v.do(context.WithoutCancel(t.Context()), planner, agent.Within(20*time.Second), opened)
					})
					at(time.Second)
					if err := b.Kill(); err != nil {
						t.Fatal(err)
					}
					window := protocol.CancelWindow
					if what == "a gather" {
						window = protocol.AckWindow // of its fence
					}
					if tt.restart {
						if err := a.Kill(); err != nil {
							t.Fatal(err)
						}
						at(time.Hour)
						planner, a = reopened(t, path)
						if what == "a gather" {
							at(window) // its members are told now that it is over
						}
					} else {
						at(19*time.Second + window)
					}
					at(time.Second)
					switch {
					case !q.ended():
						t.Error("whoever asked still waits")
					case q.err == nil:
						t.Error("it ended well without an answer")
					}
					if live := unfinished(t, a, planner.URI()); len(live) > 0 {
						t.Errorf("the exchange with %s is in %q", live[0].Peer, live[0].State.State)
					}
					exchanges, err := a.Store().Exchanges(t.Context(), planner.URI(), q.id)
					if err != nil || len(exchanges) != v.peers {
						t.Fatalf("%d exchanges, %v", len(exchanges), err)
					}
					for _, x := range exchanges {
						if got := conclusionOf(t, a, x.Key); got != protocol.TerminalTimedOut {
							t.Errorf("the conversation ended %q, want %s", got, protocol.TerminalTimedOut)
						}
					}
					at(time.Minute)
					if rows := pendingRows(t, a, exchanges); len(rows) > 0 {
						t.Errorf("%d messages are still to be sent", len(rows))
					}
				})
			})
		}
	}
}

func TestTheOtherSideOfADeadInitiatorEndsToo(t *testing.T) {
	for what, v := range verbs {
		for name, tt := range map[string]struct{ restart bool }{"it stays up": {false}, "it was down when its time passed": {true}} {
			t.Run(what+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "b.db")
					planner, ended := agent.New("planner"), make(chan error, 8)
					a, b := begin(t, nil, nil, planner), begin(t, nil, open(t, path), helpers(ended)...)
					agent.Introduce(a, b)
					underway(t, func(opened agent.AskOption) (struct{}, error) {
						return struct{}{}, v.do(context.WithoutCancel(t.Context()), planner, agent.Within(20*time.Second), opened)
					})
					at(time.Second)
					if err := a.Kill(); err != nil {
						t.Fatal(err)
					}
					if tt.restart {
						if err := b.Kill(); err != nil {
							t.Fatal(err)
						}
						at(time.Hour)
						b = begin(t, nil, open(t, path), helpers(ended)...)
						at(time.Second)
					}
					at(20*time.Second + protocol.Lease + protocol.AckWindow)
					for _, owner := range []string{uri("flights"), uri("ann"), uri("bob")} {
						for _, x := range unfinished(t, b, owner) {
							t.Errorf("the exchange of %s is in %q", owner, x.State.State)
						}
					}
				})
			})
		}
	}
}
