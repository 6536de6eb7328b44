package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// command posts a command as another process would, and returns its id.
func command(t *testing.T, h *agent.Host, c store.Command) string {
	t.Helper()
	c.ID, c.By, c.At = fresh(), "ops@acme", time.Now().UTC().Truncate(time.Millisecond)
	if err := h.Store().Post(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// obeyed gives the host time to carry the command out, and returns its answer.
func obeyed(t *testing.T, h *agent.Host, c store.Command) store.Command {
	t.Helper()
	id := command(t, h, c)
	at(1100 * time.Millisecond)
	return answerTo(t, h, id)
}

func answerTo(t *testing.T, h *agent.Host, id string) store.Command {
	t.Helper()
	c, err := h.Store().Command(context.WithoutCancel(t.Context()), id)
	if err != nil {
		t.Fatal(err)
	}
	if c.DoneAt.IsZero() {
		t.Errorf("the command to %s is not answered", c.Verb)
	}
	return c
}

// declined checks that the command was answered with an error that says so.
func declined(t *testing.T, c store.Command, want string) {
	t.Helper()
	if c.Answer != "" || !strings.Contains(c.Error, want) {
		t.Errorf("the command to %s was answered %q, error %q, want an error about %q", c.Verb, c.Answer, c.Error, want)
	}
}

// granted checks that the command was carried out.
func granted(t *testing.T, c store.Command, want string) {
	t.Helper()
	if c.Error != "" || !strings.Contains(c.Answer, want) {
		t.Errorf("the command to %s was answered %q, error %q, want %q", c.Verb, c.Answer, c.Error, want)
	}
}

func TestAnOperatorCancelsWhatAnAgentOpened(t *testing.T) {
	for what, v := range verbs {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 4)
				planner, a, _ := meet(t, helpers(ended)...)
				q := underway(t, func(opened agent.AskOption) (struct{}, error) {
					return struct{}{}, v.do(context.WithoutCancel(t.Context()), planner, opened)
				})
				at(time.Second)
				granted(t, obeyed(t, a, store.Command{Verb: store.VerbCancel, Owner: planner.URI(), Conversation: q.id}), "called off")
				at(time.Second)
				if len(ended) != v.peers || !q.ended() {
					t.Errorf("%d were told to stop, want %d", len(ended), v.peers)
				}
				exchanges, err := a.Store().Exchanges(t.Context(), planner.URI(), q.id)
				if err != nil {
					t.Fatal(err)
				}
				calledOff(t, a, exchanges, v.peers)
				declined(t, obeyed(t, a, store.Command{Verb: store.VerbCancel, Owner: planner.URI(), Conversation: q.id}), "can be cancelled")
			})
		})
	}
}

func TestAnOperatorStopsWhatAnAgentWorksOn(t *testing.T) {
	for what, v := range verbs {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 4)
				planner, _, b := meet(t, helpers(ended)...)
				q := underway(t, func(opened agent.AskOption) (struct{}, error) {
					return struct{}{}, v.do(context.WithoutCancel(t.Context()), planner, opened)
				})
				at(time.Second)
				n := 0
				for _, owner := range []string{uri("flights"), uri("ann"), uri("bob")} {
					exchanges, err := b.Store().Exchanges(t.Context(), owner, q.id)
					if err != nil {
						t.Fatal(err)
					}
					if len(exchanges) == 0 {
						continue
					}
					n++
					granted(t, obeyed(t, b, store.Command{Verb: store.VerbCancel, Owner: owner, Conversation: q.id, Peer: planner.URI()}), "called off")
					x := side(t, b, owner, q.id, planner.URI())
					if x.Error == nil || x.Error.Code != envelope.CodeCancelled || x.Error.Reason != "operator" || owes(x) {
						t.Errorf("%s is in %q with %v", owner, x.State, x.Error)
					}
				}
				if n != v.peers || len(ended) != n {
					t.Errorf("%d were told to stop, of %d that work", len(ended), n)
				}
				at(time.Minute)
				if !q.ended() || q.err == nil {
					t.Errorf("whoever asked got %v", q.err)
				}
			})
		})
	}
}

// owes reports whether the owner of an exchange has something to say in it.
func owes(x protocol.Exchange) bool { return len(x.Moves()) > 0 }

func TestAnOperatorTakesBackAProposalThatWaitsForItsAward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ann := bidder("ann", euros(50), never)
		planner, _, b := meet(t, ann, bidder("bob", after(20*time.Second, euros(60)), by("bob")))
		q := calling(t.Context(), t, planner, []string{"ann", "bob"}, best)
		at(time.Second)
		granted(t, obeyed(t, b, store.Command{Verb: store.VerbCancel, Owner: ann.URI(), Conversation: q.id}), "1 of")
		if got := side(t, b, ann.URI(), q.id, planner.URI()).State; got != "done:withdrawn" {
			t.Errorf("the bidder is in %q", got)
		}
		if _, err := q.wait(); err != nil {
			t.Errorf("CallForProposals = %v", err)
		}
	})
}

// until loses what is sent until the time.
func until(moment time.Time) func(*envelope.Envelope) loss {
	return func(*envelope.Envelope) loss {
		if time.Now().Before(moment) {
			return theMessage
		}
		return nothing
	}
}

func TestAnOperatorHasAMessageSentNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slowly := envelope.RetryPolicy{MaxAttempts: 10, Backoff: time.Hour, Jitter: "none"}
		planner, _, a, _ := lossyPair(t, until(time.Now().Add(time.Second)), none, answers(reference))
		q := ask(t, planner, "flights", book, seat, agent.Resend(slowly), agent.Within(2*time.Hour))
		at(2 * time.Second)
		request := sentOf(t, a, planner, q.id)[0]
		granted(t, obeyed(t, a, store.Command{Verb: store.VerbRetry, Owner: planner.URI(), MessageID: request.ID()}), "sent")
		at(0)
		if out, err := q.wait(); err != nil || out.Reference != "R1" {
			t.Errorf("Ask = %v, %v", out, err)
		}
		at(time.Second)
		declined(t, obeyed(t, a, store.Command{Verb: store.VerbRetry, Owner: planner.URI(), MessageID: request.ID()}), "delivered")
	})
}

func TestAReceiverThatIsLeftAloneIsTriedWhenAnOperatorSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := agent.Config{Breaker: agent.Breaker{Failures: 1, Wait: time.Hour, MaxWait: time.Hour}}
		wire := &down{left: 1}
		planner, a, _ := wired(t, cfg, wire, answers(reference))
		q := ask(t, planner, "flights", book, seat, agent.Within(2*time.Hour))
		at(time.Minute)
		if q.ended() {
			t.Fatal("the receiver was not left alone")
		}
		request := sentOf(t, a, planner, q.id)[0]
		granted(t, obeyed(t, a, store.Command{Verb: store.VerbRetry, Owner: planner.URI(), MessageID: request.ID()}), "sent")
		at(0)
		if !q.ended() || q.err != nil {
			t.Errorf("Ask = %v, %v", q.out, q.err)
		}
	})
}

func TestAHostThatIsAboutToEndLeavesCommandsToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		flights := answers(func(ctx context.Context, s Seat) (Booking, error) {
			<-time.After(3 * time.Second)
			return reference(ctx, s)
		})
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		b := agent.NewHost(quiet(open(t, path)), flights)
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		agent.Introduce(a, b)
		q := ask(t, planner, "flights", book, seat)
		at(time.Second)
		stopped := make(chan error, 1)
		go func() { stopped <- b.Stop(t.Context()) }()
		synctest.Wait()
		id := command(t, b, store.Command{Verb: store.VerbCancel, Owner: flights.URI(), Conversation: q.id})
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		if out, err := q.wait(); err != nil || out.Reference != "R1" {
			t.Errorf("Ask = %v, %v", out, err)
		}
		c := begin(t, nil, open(t, path), answers(reference))
		synctest.Wait()
		declined(t, answerTo(t, c, id), "has ended")
	})
}

func TestAnOperatorHasAnExhaustedMessageSentAgainWhileItsExchangeIsLive(t *testing.T) {
	for _, verb := range []string{store.VerbRetry, store.VerbRequeue} {
		t.Run(verb, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var came []time.Duration
				cut := atomic.Bool{}
				cut.Store(true)
				lose := func(e *envelope.Envelope) loss {
					if cut.Load() {
						return clocked(began, &came)(e)
					}
					return nothing
				}
				planner, _, a, _ := lossyPair(t, lose, none, answers(reference))
				q := ask(t, planner, "flights", book, seat, agent.Resend(threeTimes), agent.Within(time.Minute))
				at(5 * time.Second)
				request := sentOf(t, a, planner, q.id)[0]
				onlyLetter(t, a, planner)
				c := store.Command{Verb: verb, Owner: planner.URI(), MessageID: request.ID()}
				granted(t, obeyed(t, a, c), "sent")
				at(5 * time.Second)
				if len(came) != 6 || came[5]-came[3] != 600*time.Millisecond {
					t.Errorf("it was sent after %v, want three times more", came)
				}
				if l := onlyLetter(t, a, planner); l.Reason != "exhausted" || l.Attempts != 6 {
					t.Errorf("the dead letter is %s", brief(l))
				}
				cut.Store(false)
				granted(t, obeyed(t, a, c), "sent")
				if out, err := q.wait(); err != nil || out.Reference != "R1" {
					t.Errorf("Ask = %v, %v", out, err)
				}
				at(2 * time.Minute)
				if n := len(lettersOf(t, a, planner)); n > 0 {
					t.Errorf("%d dead letters are left", n)
				}
			})
		})
	}
}

func TestAnOperatorHasADeadRequestAskedAgainInAConversationOfItsOwn(t *testing.T) {
	for name, contract := range map[string]protocol.Contract[Seat, Booking]{"request": book, "query": look} {
		for what, exhausts := range map[string]bool{"exhausted": true, "expired": false} {
			t.Run(name+" that is "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cut := atomic.Bool{}
					cut.Store(true)
					lose := func(*envelope.Envelope) loss {
						if cut.Load() {
							return theMessage
						}
						return nothing
					}
					planner, _, a, b := lossyPair(t, lose, none, answers(reference))
					within, opts := 20*time.Second, []agent.AskOption{agent.Priority("low")}
					if exhausts { // the exchange ends while the message waits for its operator
						within, opts = 5*time.Second, append(opts, agent.Resend(threeTimes))
					}
					opts = append(opts, agent.Within(within))
					q := ask(t, planner, "flights", contract, seat, opts...)
					_, err := q.wait()
					if !isUnknown(err) {
						t.Fatalf("Ask = %v", err)
					}
					if !exhausts {
						at(time.Minute)
					}
					cut.Store(false)
					request := sentOf(t, a, planner, q.id)[0]
					c := obeyed(t, a, store.Command{Verb: store.VerbRequeue, Owner: planner.URI(), MessageID: request.ID(), Source: store.DeadOutbox})
					granted(t, c, "asked again in conversation ")
					id := strings.TrimPrefix(c.Answer, "asked again in conversation ")
					again := sentOf(t, a, planner, id)[0]
					h, first := again.Header(), request.Header()
					if string(again.Content()) != string(request.Content()) || h.Capability != first.Capability || h.CorrelationID != first.CorrelationID ||
						h.IdempotencyKey != first.IdempotencyKey || h.CausationID != request.ID() || h.MessageID == request.ID() || h.Priority != "low" || h.Hop != first.Hop {
						t.Errorf("it was asked again with %+v", h)
					}
					if span := again.ReplyBy().Sub(again.Timestamp()); span != within {
						t.Errorf("it has %v this time", span)
					}
					x, err := agent.Resume(t.Context(), planner, "flights", id, contract)
					if err != nil {
						t.Fatal(err)
					}
					if out, err := x.Wait(t.Context()); err != nil || out.Reference != "R1" {
						t.Errorf("what was asked again = %v, %v", out, err)
					}
					at(2 * time.Minute)
					if n := len(ofMessage(lettersOf(t, a, planner), request.ID())); n > 0 {
						t.Error("the dead letter is still there")
					}
					if b.Counts()["duplicate"] > 0 {
						t.Error("the dead message itself came too")
					}
					declined(t, obeyed(t, a, store.Command{Verb: store.VerbRequeue, Owner: planner.URI(), MessageID: request.ID()}), "among the dead letters")
				})
			})
		}
	}
}

func TestWhatWasDoneAfterAllIsNotDoneTwiceWhenItIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		flights := answers(func(context.Context, Seat) (Booking, error) { runs.Add(1); return Booking{Reference: "R1"}, nil })
		cut := atomic.Bool{}
		cut.Store(true)
		there := func(*envelope.Envelope) loss { // what is sent arrives, but nobody learns of it
			if cut.Load() {
				return theAnswer
			}
			return nothing
		}
		back := func(*envelope.Envelope) loss {
			if cut.Load() {
				return theMessage
			}
			return nothing
		}
		planner, _, a, _ := lossyPair(t, there, back, flights)
		q := ask(t, planner, "flights", book, seat, agent.Within(20*time.Second), agent.Resend(threeTimes))
		if _, err := q.wait(); !isUnknown(err) {
			t.Fatalf("Ask = %v", err)
		}
		at(time.Minute)
		cut.Store(false)
		request := sentOf(t, a, planner, q.id)[0]
		c := obeyed(t, a, store.Command{Verb: store.VerbRequeue, Owner: planner.URI(), MessageID: request.ID()})
		id := strings.TrimPrefix(c.Answer, "asked again in conversation ")
		x, err := agent.Resume(t.Context(), planner, "flights", id, book)
		if err != nil {
			t.Fatalf("%v (%s)", err, c.Error)
		}
		if out, err := x.Wait(t.Context()); err != nil || out.Reference != "R1" || runs.Load() != 1 {
			t.Errorf("what was asked again = %v, %v after %d runs", out, err, runs.Load())
		}
	})
}

func TestWhatCannotBeSentAgainIsDeclinedWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights, ann := answers(reference), juror("ann", euros(1))
		planner, _, a, _ := lossyPair(t, lost, none, flights)
		b := begin(t, nil, nil, ann)
		a.Connect(agent.PeerHost(b).Through(func(next agent.Transport) agent.Transport { return &lossy{Transport: next, lose: lost} }))
		q := ask(t, planner, "flights", book, seat, agent.Within(20*time.Second))
		g := gathering(t.Context(), t, planner, []string{"ann"}, agent.GatherTerms{}, agent.Within(20*time.Second))
		_, _ = q.wait()
		_, _ = g.wait()
		at(time.Minute)
		requeue := func(id string) store.Command {
			return obeyed(t, a, store.Command{Verb: store.VerbRequeue, Owner: planner.URI(), MessageID: id})
		}
		declined(t, requeue(sentOf(t, a, planner, q.id)[1].ID()), "opened none") // the cancel
		declined(t, requeue(logged(t, a, planner.URI(), g.id, "!request")[0].ID()), "several copies")
		declined(t, requeue(fresh()), "among the dead letters")
		for _, verb := range []string{store.VerbRetry, store.VerbRequeue, store.VerbDrop} {
			declined(t, obeyed(t, a, store.Command{Verb: verb, Owner: planner.URI()}), "names no message")
		}
		declined(t, obeyed(t, a, store.Command{Verb: store.VerbCancel, Owner: planner.URI()}), "names no conversation")
		declined(t, obeyed(t, a, store.Command{Verb: store.VerbCancel, Owner: planner.URI(), Conversation: fresh()}), "unknown")
		declined(t, obeyed(t, a, store.Command{Verb: store.VerbRetry, Owner: planner.URI(), MessageID: fresh()}), "outbox")
	})
}

func TestReceivedMessagesAreNotSentAgainByTheirReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, _, b := meet(t, answers(reference))
		flights := uri("flights")
		for _, source := range []store.DeadSource{store.DeadInbox, store.DeadQuarantine} {
			l := store.DeadLetter{DeadKey: store.DeadKey{Owner: flights, Source: source, Peer: planner.URI(), MessageID: fresh()}, At: time.Now()}
			if err := b.Store().Commit(t.Context(), store.WriteSet{Bury: []store.DeadLetter{l}}); err != nil {
				t.Fatal(err)
			}
			declined(t, obeyed(t, b, store.Command{Verb: store.VerbRequeue, Owner: flights, MessageID: l.MessageID}), "who alone can send it again")
			granted(t, obeyed(t, b, store.Command{Verb: store.VerbDrop, Owner: flights, MessageID: l.MessageID, Source: source}), "1 dead letters dropped")
			if _, err := b.Store().DeadLetter(t.Context(), l.DeadKey); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the dropped letter: %v", err)
			}
		}
	})
}

func TestADroppedLetterDoesNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, link, a, _ := lossyPair(t, lost, none, answers(reference))
		q := ask(t, planner, "flights", book, seat, agent.Resend(threeTimes), agent.Within(20*time.Second))
		at(5 * time.Second)
		request := sentOf(t, a, planner, q.id)[0]
		granted(t, obeyed(t, a, store.Command{Verb: store.VerbDrop, Owner: planner.URI(), MessageID: request.ID()}), "1 dead letters dropped")
		at(time.Minute)
		if n := len(ofMessage(lettersOf(t, a, planner), request.ID())); n > 0 || len(link.seen) != 3 {
			t.Errorf("it is %d dead letters and was sent %d times", n, len(link.seen))
		}
		_, _ = q.wait()
	})
}

// strange is a store in which commands of another version wait.
type strange struct{ store.Store }

func (s strange) Commands(ctx context.Context, owners []string, limit int) ([]store.Command, error) {
	list, err := s.Store.Commands(ctx, owners, limit)
	for i := range list {
		if list[i].Verb == store.VerbDrop {
			list[i].Verb = "explode"
		}
	}
	return list, err
}

func TestACommandThatTheHostDoesNotKnowIsAnsweredAndHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		a := begin(t, nil, strange{open(t, filepath.Join(t.TempDir(), "a.db"))}, planner)
		var ids []string
		for range 100 {
			ids = append(ids, command(t, a, store.Command{Verb: store.VerbDrop, Owner: planner.URI(), MessageID: fresh()}))
		}
		last := command(t, a, store.Command{Verb: store.VerbRetry, Owner: planner.URI(), MessageID: fresh()})
		at(5 * time.Second)
		for _, id := range ids {
			declined(t, answerTo(t, a, id), `no command "explode"`)
		}
		declined(t, answerTo(t, a, last), "outbox")
	})
}

func TestACommandIsCarriedOutOnceAlsoWhenTheHostDiesOverIt(t *testing.T) {
	answers1 := func(w store.WriteSet) bool { return len(w.Answers) > 0 }
	for name, after := range map[string]bool{"before it is durable": false, "after it is durable": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.db")
				planner := agent.New("planner")
				disk := &crashing{Store: open(t, path), when: answers1, after: after}
				a := begin(t, nil, disk, planner)
				disk.crash = func() {
					if err := a.Kill(); err != nil {
						t.Error(err)
					}
				}
				b := begin(t, nil, nil, answers(reference))
				wire(a, b)(true)
				q := ask(t, planner, "flights", book, seat, agent.Resend(threeTimes), agent.Within(10*time.Second))
				_, _ = q.wait()
				request := sentOf(t, a, planner, q.id)[0]
				disk.armed.Store(true)
				id := command(t, a, store.Command{Verb: store.VerbRequeue, Owner: planner.URI(), MessageID: request.ID()})
				at(2 * time.Second)
				again, c := reopened(t, path, b)
				at(2 * time.Second)
				granted(t, answerTo(t, c, id), "asked again")
				conversations, err := c.Store().Conversations(t.Context(), again.URI(), 10)
				if err != nil || len(conversations) != 2 {
					t.Errorf("%d conversations, %v, want the first and the one that asks again", len(conversations), err)
				}
				at(time.Minute)
			})
		})
	}
}

func TestACommandIsObeyedSoonAfterTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.db")
		s := open(t, path)
		id := fresh()
		if err := s.Post(t.Context(), store.Command{ID: id, Verb: store.VerbCancel, Owner: uri("planner"), Conversation: fresh(), At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		a := begin(t, nil, s, agent.New("planner"))
		synctest.Wait()
		declined(t, answerTo(t, a, id), "unknown")
	})
}

func TestACommandIsObservedWithWhoAskedForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen sightings
		planner := agent.New("planner")
		cfg := quiet(open(t, filepath.Join(t.TempDir(), "a.db")))
		cfg.Observer = &seen
		a := agent.NewHost(cfg, planner)
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		c := obeyed(t, a, store.Command{Verb: store.VerbCancel, Owner: planner.URI(), Conversation: fresh(), Peer: uri("flights")})
		list := seen.of(agent.CommandObeyed)
		if len(list) != 1 || list[0].Owner != planner.URI() || list[0].Conversation != c.Conversation || list[0].Err == nil {
			t.Fatalf("observed %+v", list)
		}
		got := map[string]string{}
		for _, attr := range list[0].Attrs {
			got[attr.Key] = attr.Value.String()
		}
		if got["by"] != "ops@acme" || got["verb"] != store.VerbCancel || got["command"] != c.ID {
			t.Errorf("observed with %v", got)
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAResultThatComesTooLateIsADeadLetterOfItsAuthor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(reference)
		holding := atomic.Bool{}
		holding.Store(true)
		back := func(e *envelope.Envelope) loss {
			if e.Act() == envelope.Inform && holding.Load() {
				return theMessage
			}
			return nothing
		}
		planner, _, _, b := lossyPair(t, only(envelope.Cancel, theMessage), back, flights)
		q := ask(t, planner, "flights", book, seat, agent.Within(5*time.Second))
		at(6*time.Second + 100*time.Millisecond)
		holding.Store(false)
		sent := sentOf(t, b, flights, q.id)
		command(t, b, store.Command{Verb: store.VerbRetry, Owner: flights.URI(), MessageID: sent[len(sent)-1].ID()})
		at(time.Minute)
		if _, err := q.wait(); !isUnknown(err) {
			t.Errorf("Ask = %v", err)
		}
		l := onlyLetter(t, b, flights)
		if l.Reason != "returned" || l.LastError != "deadline late" {
			t.Errorf("the dead letter is %s", brief(l))
		}
	})
}
