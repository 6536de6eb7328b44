package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// ending is what an outcome's error says.
func ending(err error) (kind string, e protocol.Ending) {
	var (
		refused       *protocol.RefusedError
		failed        *protocol.FailedError
		notUnderstood *protocol.NotUnderstoodError
		cancelled     *protocol.CancelledError
		expired       *protocol.ExpiredError
		unknown       *protocol.UnknownError
	)
	switch {
	case errors.As(err, &refused):
		return "refused", refused.Ending
	case errors.As(err, &failed):
		return "failed", failed.Ending
	case errors.As(err, &notUnderstood):
		return "not-understood", notUnderstood.Ending
	case errors.As(err, &cancelled):
		return "cancelled", cancelled.Ending
	case errors.As(err, &expired):
		return "expired", expired.Ending
	case errors.As(err, &unknown):
		return "unknown", unknown.Ending
	}
	return fmt.Sprint(err), protocol.Ending{}
}

// secret must reach nobody but the host's own log.
const secret = "xyzzy-4711"

func TestEachEndingOfAHandlerIsItsOwnOutcomeAndNothingOfItsTextReachesThePeer(t *testing.T) {
	for name, tt := range map[string]struct {
		handler func(context.Context, Seat) (Booking, error)
		kind    string
		code    envelope.Code
		reason  string
	}{
		"refuse": {func(context.Context, Seat) (Booking, error) {
			return Booking{}, agent.Refuse(envelope.CodeCapacity, "sold-out")
		}, "refused", envelope.CodeCapacity, "sold-out"},
		"wrapped refuse": {func(context.Context, Seat) (Booking, error) {
			return Booking{}, fmt.Errorf("%s: %w", secret, agent.Refuse(envelope.CodePermanent, "sold-out"))
		}, "refused", envelope.CodePermanent, "sold-out"},
		"refuse after agree": {func(ctx context.Context, _ Seat) (Booking, error) {
			return Booking{}, errors.Join(agent.Agree(ctx), agent.Refuse(envelope.CodeCapacity, "sold-out"))
		}, "failed", envelope.CodeCapacity, "sold-out"},
		"fail": {func(context.Context, Seat) (Booking, error) {
			return Booking{}, agent.Fail(envelope.CodeTransient, "supplier-down")
		}, "failed", envelope.CodeTransient, "supplier-down"},
		"panic":       {func(context.Context, Seat) (Booking, error) { panic(secret) }, "failed", envelope.CodePermanent, "handler-panic"},
		"panic error": {func(context.Context, Seat) (Booking, error) { panic(errors.New(secret)) }, "failed", envelope.CodePermanent, "handler-panic"},
		"any other error": {func(context.Context, Seat) (Booking, error) {
			return Booking{}, errors.New(secret)
		}, "failed", envelope.CodePermanent, "handler"},
		"a deadline of the handler's own": {func(context.Context, Seat) (Booking, error) {
			return Booking{}, fmt.Errorf("%s: %w", secret, context.DeadlineExceeded)
		}, "failed", envelope.CodeDeadline, "late"},
		"a result that does not fit": {func(context.Context, Seat) (Booking, error) {
			return Booking{}, nil
		}, "failed", envelope.CodePermanent, "handler"},
		"a result too long to send": {func(context.Context, Seat) (Booking, error) {
			return Booking{Reference: strings.Repeat(secret, 40<<10)}, nil
		}, "failed", envelope.CodePermanent, "handler"},
		"a reason that is no word": {func(context.Context, Seat) (Booking, error) {
			return Booking{}, agent.Refuse(envelope.CodePermanent, "No seats for "+secret)
		}, "failed", envelope.CodePermanent, "handler"},
		"a code that does not exist": {func(context.Context, Seat) (Booking, error) {
			return Booking{}, agent.Fail(secret, "sold-out")
		}, "failed", envelope.CodePermanent, "handler"},
	} {
		for _, contract := range []protocol.Contract[Seat, Booking]{book, look} {
			t.Run(name+" "+contract.Protocol(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					flights := answers(tt.handler)
					planner, a, b := pair(t, nil, flights)
					q := ask(t, planner, "flights", contract, seat)
					_, err := q.wait()
					kind, e := ending(err)
					if kind != tt.kind || e.Code != tt.code || e.Reason != tt.reason {
						t.Fatalf("Ask = %v, want %s (%s, %s)", err, tt.kind, tt.code, tt.reason)
					}
					if e.Conversation != q.id || e.Peer != flights.URI() {
						t.Errorf("the outcome names %s with %s", e.Conversation, e.Peer)
					}
					synctest.Wait()
					for _, entry := range append(logOf(t, a, planner, q.id), logOf(t, b, flights, q.id)...) {
						if bytes.Contains(entry.Envelope, []byte(secret)) || bytes.Contains(entry.Envelope, []byte("goroutine")) {
							t.Errorf("the %s %s carries the handler's own text: %s", entry.Kind, entry.Event, entry.Envelope)
						}
					}
				})
			})
		}
	}
}

// notes is a log that can be read back.
type notes struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.buf.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.buf.String()
}

func TestAnIncidentIsFoundInTheHostsLogUnderTheIDThatThePeerWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log notes
		flights := answers(func(context.Context, Seat) (Booking, error) { return Booking{}, errors.New(secret) })
		b := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "b.db")), Log: slog.New(slog.NewTextHandler(&log, nil))}, flights)
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer b.Stop(context.Background())
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		agent.Introduce(a, b)
		q := ask(t, planner, "flights", look, seat)
		if _, err := q.wait(); err == nil {
			t.Fatal("Ask succeeded")
		}
		sent := sentOf(t, b, flights, q.id)
		detail := sent[len(sent)-1].Header().Error.Detail
		if detail == nil || detail.Incident == "" {
			t.Fatalf("the failure carries no incident: %+v", sent[len(sent)-1].Header().Error)
		}
		if !strings.Contains(log.String(), detail.Incident) || !strings.Contains(log.String(), secret) {
			t.Errorf("the log does not explain incident %s: %s", detail.Incident, log.String())
		}
	})
}

func TestInputThatDoesNotFitIsRefusedBeforeAnythingIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, link, a, _ := lossyPair(t, none, none, answers(reference))
		_, err := agent.Ask(t.Context(), planner, "flights", look, Seat{Flight: "nowhere"}, agent.Opened(func(string) { t.Error("it was opened") }))
		if _, ok := errors.AsType[*schema.Invalid](err); !ok {
			t.Fatalf("Ask = %v, want the schema's verdict", err)
		}
		at(0)
		live, err := a.Store().Exchanges(t.Context(), planner.URI(), "")
		if err != nil || len(live) != 0 || len(link.seen) != 0 {
			t.Fatalf("exchanges %v, sent %v, %v; want none", live, link.seen, err)
		}
	})
}

// OtherSeat is what somebody else thinks the contract is about.
type OtherSeat struct {
	Flight int `json:"flight"`
}

type OtherBooking struct {
	Reference string `json:"reference" jsonschema:"minLength=10"`
}

func TestTwoSidesWhoseTypesDifferLearnWhereByAPointer(t *testing.T) {
	for name, tt := range map[string]struct {
		ask     func(t *testing.T, from *agent.Agent) error
		kind    string
		pointer string
		runs    int32
	}{
		"what goes in": {func(t *testing.T, from *agent.Agent) error {
			_, err := agent.Ask(t.Context(), from, "flights", protocol.Query[OtherSeat, Booking]("acme.flight.look/v1"), OtherSeat{121})
			return err
		}, "not-understood", "/content/flight", 0},
		"what goes in, with effects": {func(t *testing.T, from *agent.Agent) error {
			_, err := agent.Ask(t.Context(), from, "flights", protocol.Request[OtherSeat, Booking]("acme.flight.book/v1"), OtherSeat{121})
			return err
		}, "not-understood", "/content/flight", 0},
		"the protocol": {func(t *testing.T, from *agent.Agent) error {
			_, err := agent.Ask(t.Context(), from, "flights", protocol.Request[Seat, Booking]("acme.flight.look/v1"), seat)
			return err
		}, "not-understood", "/protocol", 0},
		"what comes out": {func(t *testing.T, from *agent.Agent) error {
			_, err := agent.Ask(t.Context(), from, "flights", protocol.Query[Seat, OtherBooking]("acme.flight.look/v1"), seat)
			return err
		}, "failed", "/content/reference", 1},
		"a contract that is not answered": {func(t *testing.T, from *agent.Agent) error {
			_, err := agent.Ask(t.Context(), from, "flights", protocol.Query[Seat, Booking]("acme.flight.rebook/v1"), seat)
			return err
		}, "not-understood", "/capability", 0},
		"a major version that is not answered": {func(t *testing.T, from *agent.Agent) error {
			_, err := agent.Ask(t.Context(), from, "flights", protocol.Query[Seat, Booking]("acme.flight.look/v2"), seat)
			return err
		}, "not-understood", "/capability", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				flights := answers(func(ctx context.Context, s Seat) (Booking, error) { runs.Add(1); return reference(ctx, s) })
				planner, _, b := pair(t, nil, flights)
				err := tt.ask(t, planner)
				kind, e := ending(err)
				if kind != tt.kind || e.Code != envelope.CodeValidation || e.Pointer != tt.pointer {
					t.Fatalf("Ask = %v, want %s (validation) at %s", err, tt.kind, tt.pointer)
				}
				synctest.Wait()
				if runs.Load() != tt.runs {
					t.Errorf("the handler ran %d times, want %d", runs.Load(), tt.runs)
				}
				if x := exchangeOf(t, b, flights, e.Conversation); !x.State.Done() {
					t.Errorf("the participant is still in %q", x.State.State)
				}
			})
		})
	}
}

func TestAMinorVersionMoreOrLessIsUnderstoodAndWhatItAddedIsIgnored(t *testing.T) {
	type NewSeat struct {
		Flight string `json:"flight"`
		Aisle  bool   `json:"aisle"`
	}
	synctest.Test(t, func(t *testing.T) {
		planner, _, _ := pair(t, nil, answers(reference))
		b, err := agent.Ask(t.Context(), planner, "flights", protocol.Query[NewSeat, Booking]("acme.flight.look/v1.3"), NewSeat{"AY121", true})
		if err != nil || b.Reference != "R1" {
			t.Fatalf("Ask = %v, %v", b, err)
		}
	})
}

func TestAPeerThatNobodyKnowsIsAnErrorAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, _, _ := pair(t, nil, answers(reference))
		for to, want := range map[string]error{"hotels": agent.ErrUnknownPeer, "agent://elsewhere/flights": agent.ErrUnknownPeer,
			"planner": agent.ErrSelf, "agent://local/planner": agent.ErrSelf} {
			if _, err := agent.Ask(t.Context(), planner, to, look, seat); !errors.Is(err, want) {
				t.Errorf("asking %s: %v, want %v", to, err, want)
			}
		}
		if _, err := agent.Ask(t.Context(), planner, "No Such Name", look, seat); err == nil || !strings.Contains(err.Error(), "No Such Name") {
			t.Errorf("asking a name that is none: %v", err)
		}
	})
}

func TestTwoAgentsOfOneHostTalkAsTwoHostsDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, flights := agent.New("planner"), answers(reference)
		h := begin(t, nil, nil, planner, flights)
		q := ask(t, planner, "flights", book, seat)
		if b, err := q.wait(); err != nil || b.Reference != "R1" {
			t.Fatalf("Ask = %v, %v", b, err)
		}
		mine, theirs := logOf(t, h, planner, q.id), logOf(t, h, flights, q.id)
		if len(mine) != 3 || len(theirs) != 3 {
			t.Fatalf("logs of %d and %d entries, want request, agree, inform in both", len(mine), len(theirs))
		}
		for i := range mine {
			if mine[i].Digest != theirs[i].Digest || mine[i].Kind == theirs[i].Kind {
				t.Errorf("entry %d: %s %s against %s %s", i, mine[i].Kind, mine[i].Event, theirs[i].Kind, theirs[i].Event)
			}
		}
		if _, err := h.Store().Message(t.Context(), store.Key{Owner: planner.URI(), Conversation: q.id, Peer: flights.URI()}, store.Received, theirs[2].MessageID); err != nil {
			t.Error(err)
		}
	})
}
