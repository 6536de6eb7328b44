package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// slowly is reference after the time.
func slowly(d time.Duration) func(context.Context, Seat) (Booking, error) {
	return func(ctx context.Context, s Seat) (Booking, error) {
		return after(d, func(ctx context.Context) (Booking, error) { return reference(ctx, s) })(ctx)
	}
}

func TestUnderEveryProtocolWhatIsSaidToAMailboxIsReadAndNeverSent(t *testing.T) {
	asks := func(c protocol.Contract[Seat, Booking]) func(context.Context, *agent.Agent, agent.AskOption) error {
		return func(ctx context.Context, planner *agent.Agent, opened agent.AskOption) error {
			_, err := agent.Ask(ctx, planner, "flights", c, seat, opened)
			return err
		}
	}
	for name, tt := range map[string]struct {
		there []*agent.Agent
		run   func(ctx context.Context, planner *agent.Agent, opened agent.AskOption) error
		// said are the events of what each of them says.
		said [][]protocol.Event
	}{
		"a request": {[]*agent.Agent{answers(slowly(time.Second))}, asks(book), [][]protocol.Event{{"!agree", "!inform"}}},
		"a query":   {[]*agent.Agent{answers(reference)}, asks(look), [][]protocol.Event{{"!inform"}}},
		"an offer": {[]*agent.Agent{buyer(accept)}, func(ctx context.Context, planner *agent.Agent, opened agent.AskOption) error {
			return agent.Propose(ctx, planner, "buyer", promise, Price{90}, opened)
		}, [][]protocol.Event{{"!agree"}}},
		"a subscription": {[]*agent.Agent{source(counting(3, time.Second))}, func(ctx context.Context, planner *agent.Agent, opened agent.AskOption) error {
			n := 0
			for tick, err := range agent.Subscribe(ctx, planner, "source", ticks, piano, opened) {
				if n++; err != nil || tick.N != n {
					return errors.Join(err, errors.New("an item is missing"))
				}
			}
			return nil
		}, [][]protocol.Event{{"!agree", "!inform~", "!inform~", "!inform~", "!inform"}}},
		"an auction with an award and a loser": {[]*agent.Agent{bidder("ann", euros(70), never), bidder("bob", euros(50), by("bob"))},
			func(ctx context.Context, planner *agent.Agent, opened agent.AskOption) error {
				out, err := agent.CallForProposals(ctx, planner, []string{"ann", "bob"}, haul, piano, best, opened)
				if err == nil && !slices.Equal(delivered(out), []string{"bob"}) {
					return errors.New("the award went to somebody else")
				}
				return err
			}, [][]protocol.Event{{"!propose"}, {"!propose", "!inform"}}},
		"a gather with its fence": {[]*agent.Agent{juror("ann", euros(70)), juror("bob", after(time.Second, euros(50)))},
			func(ctx context.Context, planner *agent.Agent, opened agent.AskOption) error {
				out, err := agent.Gather(ctx, planner, []string{"ann", "bob"}, opinion, piano, agent.GatherTerms{}, opened)
				if err == nil && out.Terminal != protocol.TerminalCompleted {
					return errors.New("the gather ended " + string(out.Terminal))
				}
				return err
			}, [][]protocol.Event{{"!inform~", "!ack"}, {"!inform~", "!ack"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner := agent.New("planner")
				r, _, b := reader(t, nil, planner, tt.there...)
				var id string
				if err := tt.run(t.Context(), planner, agent.Opened(func(conversation string) { id = conversation })); err != nil {
					t.Fatal(err)
				}
				at(20 * time.Second)
				r.readOnly(t, id, b.Agents()...)
				for i, who := range tt.there {
					var said []protocol.Event
					for _, e := range logOf(t, b, who, id) {
						if e.Kind == store.Sent {
							said = append(said, e.Event)
						}
					}
					if !slices.Equal(said, tt.said[i]) {
						t.Errorf("%s said %v, want %v", who.URI(), said, tt.said[i])
					}
					if x := exchangeOf(t, b, who, id); !x.State.Done() {
						t.Errorf("the exchange of %s is in %q", who.URI(), x.State.State)
					}
				}
			})
		})
	}
}

// box is a host whose agent works for a planner that is made here: it sends with
// mail to a mailbox, and nobody knows a way back to it.
type box struct {
	host    *agent.Host
	who     *agent.Agent
	planner *agent.Agent
	seq     int64
	opening *envelope.Envelope
}

// boxed opens an exchange of the contract.
func boxed(t *testing.T, s store.Store, who *agent.Agent, name protocol.Name, proto, content string, change func(*envelope.Header)) *box {
	t.Helper()
	b := &box{who: who, planner: agent.New("planner")}
	agent.NewHost(agent.Config{}, b.planner) // which gives it its name
	if s == nil {
		s = memory.New()
	}
	b.host = begin(t, nil, s, who)
	h := opening(b.planner, who, name, proto)
	h.Sender = uri("planner")
	if change != nil {
		change(&h)
	}
	b.opening = seal(t, h, content)
	b.seq = 1
	wantAck(t, b.take(t, b.opening))
	return b
}

func (b *box) task() string { return taskOf(b.opening.Conversation()) }

// take is what comes back for mail of the planner.
func (b *box) take(t *testing.T, e *envelope.Envelope) []*envelope.Envelope {
	t.Helper()
	return takes(t, b.host, agent.Mail{Envelope: e.Bytes(), Caller: uri("planner"), Task: b.task(), Mailbox: true})
}

func takes(t *testing.T, h *agent.Host, m agent.Mail) []*envelope.Envelope {
	t.Helper()
	replies, err := h.Take(context.WithoutCancel(t.Context()), m)
	if err != nil {
		t.Fatalf("Take: %v", err)
	}
	var list []*envelope.Envelope
	for _, r := range replies {
		e, err := envelope.Decode(r)
		if err != nil {
			t.Fatalf("an answer does not decode: %v", err)
		}
		list = append(list, e)
	}
	return list
}

// says is an act of the planner that answers e, under the next number of its
// conversation.
func (b *box) says(t *testing.T, e *envelope.Envelope, act envelope.Performative, seq int64, content string) *envelope.Envelope {
	t.Helper()
	h := answering(b.host, t, e, act, seq)
	h.Sender, h.Receiver, h.SenderGeneration = uri("planner"), b.who.URI(), 1
	h.Tenant, h.Actor = "", ""
	if act == envelope.Cancel {
		h.InReplyTo = b.opening.ID()
	}
	return seal(t, h, content)
}

// cancel is the planner's cancel of the exchange.
func (b *box) cancel(t *testing.T) *envelope.Envelope {
	t.Helper()
	return b.says(t, b.opening, envelope.Cancel, 2, "{}")
}

// tasks are the exchanges under the task.
func (b *box) tasks(t *testing.T) []store.Exchange {
	t.Helper()
	list, err := b.host.Store().Tasks(context.WithoutCancel(t.Context()), b.who.URI(), b.task())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// said are the acts of the agent in the exchange that the planner opened.
func (b *box) said(t *testing.T) []*envelope.Envelope {
	t.Helper()
	return sentOf(t, b.host, b.who, b.opening.Conversation())
}

func (b *box) state(t *testing.T) protocol.State {
	t.Helper()
	return state(t, b.host, b.who, b.opening.Conversation())
}

func (b *box) unsent(t *testing.T) {
	t.Helper()
	for _, x := range b.tasks(t) {
		if rows, err := b.host.Store().Outbox(context.WithoutCancel(t.Context()), x.Key); err != nil || len(rows) != 0 {
			t.Errorf("it has to send %v, %v", rows, err)
		}
	}
}

func TestADuplicateIsAnsweredFromTheMailbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := boxed(t, nil, held(release), book.Name(), book.Protocol(), seatJSON, nil)
		if told := wantNack(t, b.take(t, b.opening.Resend(2, "")), envelope.CodeTransient, guard.ReasonInProgress); told.RetryAfter == 0 {
			t.Errorf("told %+v, want when to ask again", told)
		}
		for _, step := range []struct {
			then func()
			want envelope.Performative
		}{
			{func() { at(200 * time.Millisecond) }, envelope.Agree},
			{func() { close(release); synctest.Wait() }, envelope.Inform},
			{func() { at(time.Hour) }, envelope.Inform},
		} {
			step.then()
			again := b.take(t, b.opening.Resend(3, ""))
			said := b.said(t)
			if last := said[len(said)-1]; len(again) != 1 || again[0].Act() != step.want || again[0].Digest() != last.Digest() {
				t.Errorf("a duplicate is answered with %v, want the %s that was said", again, step.want)
			}
		}
		b.unsent(t)
	})
}

func TestAMailboxIsOneOfATaskFromItsOpeningOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boxed(t, nil, answers(slowly(time.Second)), book.Name(), book.Protocol(), seatJSON, nil)
		wantAck(t, takes(t, b.host, agent.Mail{Envelope: b.cancel(t).Bytes(), Caller: uri("planner"), Task: "another"}))
		at(time.Second)
		if list := b.tasks(t); len(list) != 1 || !list[0].Mailbox {
			t.Errorf("under the task are %+v", list)
		}
		other := opening(b.planner, b.who, look.Name(), look.Protocol())
		other.Sender = uri("planner")
		e := seal(t, other, seatJSON)
		if _, err := b.host.Take(t.Context(), agent.Mail{Envelope: e.Bytes(), Caller: uri("planner"), Mailbox: true}); err == nil {
			t.Error("a mailbox without a task was opened")
		}
		if log := logOf(t, b.host, b.who, e.Conversation()); len(log) != 0 {
			t.Errorf("it left %v", log)
		}
		b.unsent(t)
	})
}

func TestAnExchangeInAMailboxEndsAsAnyOther(t *testing.T) {
	stops := func(ctx context.Context, _ Seat) (Booking, error) {
		<-ctx.Done()
		return Booking{}, ctx.Err()
	}
	for name, tt := range map[string]struct {
		fn   func(context.Context, Seat) (Booking, error)
		then func(t *testing.T, b *box)
		end  protocol.State
		last protocol.Event
		code envelope.Code
	}{
		"by a result":  {slowly(time.Second), func(t *testing.T, b *box) {}, "done:ok", "!inform", ""},
		"by a cancel":  {stops, func(t *testing.T, b *box) { wantAck(t, b.take(t, b.cancel(t))) }, "done:cancelled", "!inform.c", ""},
		"by a failure": {func(context.Context, Seat) (Booking, error) { return Booking{}, errors.New(secret) }, func(t *testing.T, b *box) {}, "done:failed", "!failure", envelope.CodePermanent},
		"by a refusal": {func(context.Context, Seat) (Booking, error) {
			return Booking{}, agent.Refuse(envelope.CodeCapacity, "sold-out")
		}, func(t *testing.T, b *box) {}, "done:refused", "!refuse", envelope.CodeCapacity},
		"by its deadline": {stops, func(t *testing.T, b *box) { at(2 * time.Minute) }, "done:failed", "!failure", envelope.CodeDeadline},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := boxed(t, nil, answers(tt.fn), book.Name(), book.Protocol(), seatJSON, nil)
				at(time.Second)
				tt.then(t, b)
				at(time.Second)
				log := logOf(t, b.host, b.who, b.opening.Conversation())
				last := log[len(log)-1]
				if got := b.state(t); got != tt.end || last.Event != tt.last {
					t.Errorf("it ends in %q with %s, want %q with %s", got, last.Event, tt.end, tt.last)
				}
				said := b.said(t)
				if told := said[len(said)-1].Header().Error; (told == nil) != (tt.code == "") || told != nil && told.Code != tt.code {
					t.Errorf("it ends with the error %+v, want %q", told, tt.code)
				}
				b.unsent(t)
			})
		})
	}
}

func TestACancelThatOvertakesItsRequestOpensTheMailboxThatEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &box{who: answers(func(context.Context, Seat) (Booking, error) { t.Error("the handler ran"); return Booking{}, nil }), planner: agent.New("planner")}
		b.host = begin(t, nil, memory.New(), b.who)
		h := opening(b.who, b.who, book.Name(), book.Protocol())
		h.Sender = uri("planner")
		b.opening = seal(t, h, seatJSON)
		wantAck(t, b.take(t, b.cancel(t)))
		wantNack(t, b.take(t, b.opening), envelope.CodeCancelled, guard.ReasonPostTerminal)
		if list := b.tasks(t); len(list) != 1 || !list[0].Mailbox || !list[0].State.Done() {
			t.Errorf("under the task are %+v", list)
		}
		b.unsent(t)
	})
}

func TestABudgetOfMessagesHoldsInAMailbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 1)
		publisher := agent.New("source", agent.Spend(agent.Budget{Messages: 6}), agent.Publish(ticks, func(_ context.Context, _ Job, emit func(Tick) error) error {
			for n := 1; ; n++ {
				if err := emit(Tick{n}); err != nil {
					told <- err
					return err
				}
			}
		}))
		b := boxed(t, nil, publisher, ticks.Name(), ticks.Protocol(), `{"task":"move the piano"}`, nil)
		err := <-told
		d, ok := errors.AsType[*agent.Decision](err)
		if !ok || d.Reason != guard.ReasonBudget {
			t.Errorf("the publisher was told %v, want that its budget is spent", err)
		}
		synctest.Wait()
		if got := b.state(t); got != "done:failed" {
			t.Errorf("it ends in %q", got)
		}
		b.unsent(t)
	})
}

func TestStopWaitsForNobodyToReadAMailbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		b := boxed(t, open(t, path), answers(reference), book.Name(), book.Protocol(), seatJSON, nil)
		synctest.Wait()
		began := time.Now()
		if err := b.host.Stop(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("Stop = %v after %v", err, time.Since(began))
		}
		b.who = answers(reference)
		b.host = begin(t, nil, open(t, path), b.who)
		if got := b.state(t); got != "done:ok" {
			t.Errorf("what was said is gone: %q", got)
		}
	})
}

func TestAHostGoesOnWithItsMailboxesAfterARestart(t *testing.T) {
	for name, when := range map[string]struct {
		when  func(store.WriteSet) bool
		after bool
	}{
		"when it accepts":              {accepts, true},
		"before its result is written": {completes, false},
		"after its result was written": {completes, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "b.db")
				planner := agent.New("planner")
				disk := &crashing{Store: open(t, path), when: when.when, after: when.after}
				r, a, b := reader(t, disk, planner, answers(slowly(time.Second)))
				reopened := make(chan struct{})
				disk.crash = func() {
					if err := b.Kill(); err != nil {
						t.Error(err)
					}
					go func() {
						defer close(reopened)
						r.moveTo(begin(t, nil, open(t, path), answers(slowly(time.Second))))
					}()
				}
				disk.armed.Store(true)
				q := ask(t, planner, "flights", book, seat, agent.Within(10*time.Minute))
				if out, err := q.wait(); err != nil || out.Reference != "R1" {
					t.Errorf("Ask = %v, %v", out, err)
				}
				<-reopened
				at(time.Second)
				r.readOnly(t, q.id, uri("flights"))
				if got := side(t, a, planner.URI(), q.id, uri("flights")); got.State != "done:ok" {
					t.Errorf("the planner is in %q", got.State)
				}
			})
		})
	}
}

func TestAMessageThatIsSaidToOpenANewConversationIsKnownAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		b := &box{who: answers(func(context.Context, Seat) (Booking, error) { runs++; return Booking{}, nil }), planner: agent.New("planner")}
		agent.NewHost(agent.Config{}, b.planner)
		b.host = begin(t, nil, memory.New(), b.who)
		header := opening(b.planner, b.who, book.Name(), book.Protocol())
		header.Sender = uri("planner")
		accept := func(h envelope.Header) ([]*envelope.Envelope, error) {
			return b.host.Accept(t.Context(), seal(t, h, seatJSON), agent.Mail{Caller: uri("planner"), Task: taskOf(h.ConversationID), Mailbox: true, New: true})
		}
		if replies, err := accept(header); err != nil || len(replies) != 0 {
			t.Fatalf("it is answered with %v, %v", replies, err)
		}
		synctest.Wait()
		for name, change := range map[string]func(*envelope.Header){
			"in another conversation":     func(h *envelope.Header) { h.ConversationID = fresh() },
			"in another, under a new key": func(h *envelope.Header) { h.ConversationID, h.IdempotencyKey = fresh(), fresh() },
			"as it was":                   func(*envelope.Header) {},
		} {
			again := header
			change(&again)
			if replies, err := accept(again); !errors.Is(err, agent.ErrKnown) || len(replies) != 0 {
				t.Errorf("%s: it is answered with %v, %v", name, replies, err)
			}
			if log := logOf(t, b.host, b.who, again.ConversationID); again.ConversationID != header.ConversationID && len(log) != 0 {
				t.Errorf("%s: it left %v", name, log)
			}
		}
		row, err := b.host.Store().Inbox(t.Context(), store.InboxKey{Recipient: b.who.URI(), Sender: uri("planner"), MessageID: header.MessageID})
		if err != nil || !row.ExpiresAt.IsZero() || row.Conversation != header.ConversationID || row.Status != store.Settled || runs != 1 {
			t.Errorf("after %d runs its row is %+v, %v", runs, row, err)
		}
		// A key of its own is in the ledger, but not the id of the conversation.
		entered := func(h envelope.Header) error {
			_, err := b.host.Store().Effect(t.Context(), store.EffectKey{Recipient: b.who.URI(), Sender: uri("planner"), Capability: h.Capability, Key: h.IdempotencyKey})
			return err
		}
		if err := entered(header); header.IdempotencyKey == header.ConversationID || err != nil {
			t.Errorf("under %s is %v", header.IdempotencyKey, err)
		}
		header.MessageID, header.ConversationID = fresh(), fresh()
		header.IdempotencyKey = header.ConversationID
		if _, err := accept(header); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := entered(header); !errors.Is(err, store.ErrNotFound) || runs != 2 {
			t.Errorf("after %d runs, under the conversation's id is %v", runs, err)
		}
	})
}
