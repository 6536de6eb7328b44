package agent_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// question is the question that the box's agent has asked, and the exchange that it
// is.
func (b *box) question(t *testing.T) (store.Exchange, *envelope.Envelope) {
	t.Helper()
	list := b.tasks(t)
	if len(list) != 2 || list[0].Conversation != b.opening.Conversation() {
		t.Fatalf("under the task are %+v, want what was asked for and the question", list)
	}
	return list[1], sentOf(t, b.host, b.who, list[1].Conversation)[0]
}

// answer is the planner's answer to a question.
func (b *box) answer(t *testing.T, question *envelope.Envelope, content string) *envelope.Envelope {
	t.Helper()
	return b.says(t, question, envelope.Inform, 1, content)
}

func TestAQuestionAboutAMailboxIsReadThereAndAnsweredByMail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boxed(t, nil, curious(which), book.Name(), book.Protocol(), seatJSON, nil)
		at(time.Second)
		x, question := b.question(t)
		if !x.Mailbox || x.Task != b.task() || x.Parent != b.tasks(t)[0].Key || question.Header().CausationID != b.opening.ID() {
			t.Errorf("the question is %+v", x)
		}
		answer := b.answer(t, question, `{"choice":"aisle"}`)
		wantAck(t, b.take(t, answer))
		wantAck(t, b.take(t, answer.Resend(2, "")))
		at(time.Second)
		said := b.said(t)
		if last := said[len(said)-1]; string(last.Content()) != `{"reference":"aisle"}` || b.state(t) != "done:ok" {
			t.Errorf("it ends in %q with %s", b.state(t), last.Content())
		}
		b.unsent(t)
	})
}

func TestAQuestionAboutAMailboxOutlivesItsHost(t *testing.T) {
	for name, answeredBefore := range map[string]bool{"and is answered afterwards": false, "and its answer too": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "b.db")
				paused := func() *agent.Agent {
					return answers(func(ctx context.Context, _ Seat) (Booking, error) {
						a, err := agent.AskBack(ctx, which)
						if err == nil {
							err = agent.Sleep(ctx, 5*time.Second)
						}
						return Booking{Reference: a.Choice}, err
					})
				}
				b := boxed(t, open(t, path), paused(), book.Name(), book.Protocol(), seatJSON, nil)
				at(time.Second)
				_, question := b.question(t)
				answer := b.answer(t, question, `{"choice":"aisle"}`)
				if answeredBefore {
					wantAck(t, b.take(t, answer))
					at(time.Second)
				}
				if err := b.host.Kill(); err != nil {
					t.Fatal(err)
				}
				b.who = paused()
				b.host = begin(t, nil, open(t, path), b.who)
				at(time.Second)
				if _, again := b.question(t); again.ID() != question.ID() {
					t.Errorf("the question is asked again as %s", again.ID())
				}
				wantAck(t, b.take(t, answer))
				at(10 * time.Second)
				if got := b.state(t); got != "done:ok" {
					t.Errorf("it is in %q", got)
				}
				b.unsent(t)
			})
		})
	}
}

func TestAQuestionAboutAMailboxIsWithdrawnThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boxed(t, nil, curious(which, agent.Within(5*time.Second)), book.Name(), book.Protocol(), seatJSON, nil)
		at(5500 * time.Millisecond)
		x, question := b.question(t)
		if x.State.Cancel == "" {
			t.Fatalf("the question is in %q and was not cancelled", x.State.State)
		}
		log := sentOf(t, b.host, b.who, x.Conversation)
		if cancel := log[len(log)-1]; cancel.Act() != envelope.Cancel || cancel.InReplyTo() != question.ID() {
			t.Errorf("the last that was said is %s", cancel.Act())
		}
		h := answering(b.host, t, question, envelope.Inform, 1)
		h.Sender, h.Receiver, h.SenderGeneration, h.Tenant, h.Actor = uri("planner"), b.who.URI(), 1, "", ""
		h.Status, h.Schema = envelope.Cancelled, protocol.CancelSchema
		wantAck(t, b.take(t, seal(t, h, "{}")))
		at(time.Second)
		if x, _ := b.question(t); x.State.State != "done:cancelled" || b.state(t) != "done:ok" {
			t.Errorf("the question is in %q, what it is about in %q", x.State.State, b.state(t))
		}
		b.unsent(t)
	})
}

func TestTheEndOfAMailboxEndsItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boxed(t, nil, curious(which), book.Name(), book.Protocol(), seatJSON, nil)
		at(time.Second)
		wantAck(t, b.take(t, b.cancel(t)))
		at(time.Second)
		x, _ := b.question(t)
		if x.State.Cancel == "" || !b.state(t).Done() {
			t.Errorf("the question is in %q, what it was about in %q", x.State.State, b.state(t))
		}
		at(time.Minute)
		if x, _ := b.question(t); !x.State.Done() {
			t.Errorf("the question that nobody answers is in %q", x.State.State)
		}
		b.unsent(t)
	})
}

// Whoever is asked back in a mailbox may have a question about that.
func TestAQuestionInAMailboxMayItselfBeAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := forthcoming(func(ctx context.Context, _ protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			a, err := agent.AskBack(ctx, protocol.QuestionAsked{Text: "Does it matter?"})
			if err != nil {
				return protocol.QuestionAnswered{}, err
			}
			return protocol.QuestionAnswered{Choice: string(a.Text)}, nil
		})
		flights := agent.New("flights", agent.Handle(protocol.Question, func(ctx context.Context, _ protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			if w, _ := agent.Current(ctx); w.About == "" {
				t.Error("the question is about nothing")
			}
			return protocol.QuestionAnswered{Text: "aisle"}, nil
		}), agent.Handle(book, func(ctx context.Context, _ Seat) (Booking, error) {
			a, err := agent.AskBack(ctx, which)
			return Booking{Reference: a.Choice}, err
		}))
		r, _, _ := reader(t, nil, planner, flights)
		q := ask(t, planner, "flights", book, seat)
		if out, err := q.wait(); err != nil || out.Reference != "aisle" {
			t.Errorf("Ask = %v, %v", out, err)
		}
		at(20 * time.Second)
		r.readOnly(t, q.id, flights.URI())
	})
}

func TestACarrierIsToldOfEachQuestionInAMailboxAlsoByTheRunAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		b := boxed(t, open(t, path), curious(which), book.Name(), book.Protocol(), seatJSON, nil)
		at(time.Second)
		key := b.tasks(t)[0].Key
		if err := b.host.Kill(); err != nil {
			t.Fatal(err)
		}
		b.who = curious(which)
		b.host = agent.NewHost(agent.Config{Store: open(t, path), Log: quiet(nil).Log}, b.who)
		var told []store.Key
		b.host.Posed(func(ctx context.Context, about store.Key) {
			told = append(told, about)
			// What is asked is there already, and may be answered at once.
			_, question := b.question(t)
			wantAck(t, b.take(t, b.answer(t, question, `{"choice":"aisle"}`)))
		})
		if err := b.host.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.host.Stop(context.Background()) })
		at(time.Second)
		if len(told) != 1 || told[0] != key || b.state(t) != "done:ok" {
			t.Errorf("told of %v, want %v, and it is in %q", told, key, b.state(t))
		}
	})
}
