package a2a

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

func TestATaskOfEachProtocolShowsWhatItsLogSays(t *testing.T) {
	for name, tt := range map[string]struct {
		contract  protocol.Declared
		act       envelope.Performative
		agent     agent.Option
		state     wire.TaskState
		standing  string
		said      []string // by the agent, about the task
		artifacts int
	}{
		"a request": {book, envelope.Request, answers(booked), wire.Completed,
			`{"state":"done:ok","outcome":"ok","last_seq":2}`, []string{"agree"}, 1},
		"a request with progress": {book, envelope.Request, answers(func(ctx context.Context) (Booking, error) {
			return Booking{"R1"}, agent.Progress(ctx, Tick{1})
		}), wire.Completed, `{"state":"done:ok","outcome":"ok","last_seq":3}`, []string{"agree"}, 2},
		"a refused request": {book, envelope.Request, answers(func(context.Context) (Booking, error) {
			return Booking{}, agent.Refuse(envelope.CodeCapacity, "sold-out")
		}), wire.Rejected, `{"state":"done:refused","outcome":"refused","last_seq":1}`, []string{"refuse"}, 0},
		"a request whose handler panics": {book, envelope.Request, answers(func(context.Context) (Booking, error) { panic("oh") }),
			wire.Failed, `{"state":"done:failed","outcome":"failed","last_seq":2}`, []string{"agree", "failure"}, 0},
		"a query": {look, envelope.Request, agent.Handle(look, func(ctx context.Context, _ Seat) (Booking, error) { return booked(ctx) }), wire.Completed,
			`{"state":"done:ok","outcome":"ok","last_seq":1}`, nil, 1},
		"an offer that is accepted": {deal, envelope.Propose, agent.Consider(deal, func(context.Context, Seat) error { return nil }),
			wire.Completed, `{"state":"done:accepted","outcome":"accepted","last_seq":1}`, []string{"agree"}, 0},
		"an offer that is rejected": {deal, envelope.Propose, agent.Consider(deal, func(context.Context, Seat) error {
			return agent.Refuse(envelope.CodePermanent, "too-dear")
		}), wire.Rejected, `{"state":"done:rejected","outcome":"rejected","last_seq":1}`, []string{"refuse"}, 0},
		"a stream": {ticks, envelope.Request, agent.Publish(ticks, func(_ context.Context, _ Seat, emit func(Tick) error) error {
			for n := range 3 {
				if err := emit(Tick{n}); err != nil {
					return err
				}
			}
			return nil
		}), wire.Completed, `{"state":"done:ended","outcome":"ended","last_seq":5}`, []string{"agree"}, 4},
		"a call for proposals": {haul, envelope.CFP, bidder(), wire.InputRequired, `{"state":"proposed","last_seq":1}`, []string{"propose"}, 0},
		"a gather": {poll, envelope.Request, agent.Contribute(poll, func(context.Context, Seat) (Tick, error) { return Tick{7}, nil }),
			wire.InputRequired, `{"state":"given","last_seq":1}`, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := client{t, begin(t, nil, tt.agent), planner}
				h := c.opens(tt.contract, tt.act)
				if tt.contract.Protocol() == protocol.GatherV1 {
					h.Gather = &envelope.Gather{ID: "g1"}
				}
				x := c.take(h, seat, "")
				synctest.Wait()
				time.Sleep(time.Second)
				synctest.Wait()
				task := c.task(x, true)
				if task.Status.State != tt.state || string(task.Metadata[ExtensionURI]) != tt.standing {
					t.Errorf("%s with %s, want %s with %s", task.Status.State, task.Metadata[ExtensionURI], tt.state, tt.standing)
				}
				var said []string
				for _, e := range c.acts(task) {
					if e.Act() != envelope.Inform {
						said = append(said, string(e.Act()))
					}
					if claims, err := c.s.host.Identify(t.Context(), e.Auth(), planner, false); err != nil || claims != flights {
						t.Errorf("%s comes without a token for its reader: %v", e.Act(), err)
					}
				}
				equal(t, "said about the task", said, tt.said)
				if len(task.Artifacts) != tt.artifacts {
					t.Errorf("%d artifacts, want %d", len(task.Artifacts), tt.artifacts)
				}
				first := task.History[0]
				if first.Role != wire.User || first.MessageID != h.MessageID || task.ContextID != h.CorrelationID || task.ID != taskID(h.ConversationID, flights) {
					t.Errorf("the task is %s in %s and begins with %s of %s", task.ID, task.ContextID, first.MessageID, first.Role)
				}
				plain := c.task(x, false)
				if plain.Status.State != tt.state || plain.Metadata != nil || len(plain.Artifacts) != tt.artifacts {
					t.Errorf("others see %+v", plain)
				}
				for _, m := range append(plain.History, *statusMessage(plain)) {
					if carriesEnvelope(m.Metadata) {
						t.Errorf("others see the header of %s", m.MessageID)
					}
				}
			})
		})
	}
}

// statusMessage is the message of a task's status, an empty one if it has none.
func statusMessage(task *wire.Task) *wire.Message {
	if task.Status.Message == nil {
		return &wire.Message{}
	}
	return task.Status.Message
}

// bidder bids at once and does what it is awarded.
func bidder() agent.Option {
	return agent.Bid(haul, func(context.Context, Seat) (Tick, error) { return Tick{3}, nil },
		func(context.Context, Seat, Tick) (Booking, error) { return Booking{"R1"}, nil })
}

func TestABidderIsAwardedAndAMemberIsFencedUnderTheirTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, bidder()), planner}
		x := c.open(haul, envelope.CFP)
		synctest.Wait()
		proposal := c.acts(c.task(x, true))[0]
		award := c.answering(proposal, envelope.Agree, 2)
		award.Schema, award.IdempotencyKey, award.ReplyBy = protocol.AgreeSchema, "k", c.s.host.Now().Add(time.Minute)
		f := c.follow(t.Context(), x, "", true)
		synctest.Wait()
		c.take(award, `{}`, x.Task)
		equal(t, "told", states(f.wait(t)), []string{"task TASK_STATE_INPUT_REQUIRED", "TASK_STATE_WORKING", "artifact", "TASK_STATE_COMPLETED"})
	})
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, agent.Contribute(poll, func(context.Context, Seat) (Tick, error) { return Tick{7}, nil })), planner}
		h := c.opens(poll, envelope.Request)
		h.Gather = &envelope.Gather{ID: "g1"}
		x := c.take(h, seat, "")
		synctest.Wait()
		contribution := c.acts(c.task(x, true))[0]
		fence := c.answering(contribution, envelope.Inform, 2)
		fence.Schema, fence.Status, fence.Gather, fence.Fence = protocol.FenceSchema, envelope.Final, &envelope.Gather{ID: "g1"}, &envelope.Fence{ID: "f1", Proposed: "COMPLETED"}
		f := c.follow(t.Context(), x, "", true)
		synctest.Wait()
		c.take(fence, `{"gather":"g1","proposed":"COMPLETED","value_digest":"00","counts":{"members":1,"contributed":1,"dissented":0,"abstained":0,"missing":0},"yours":"accepted"}`, x.Task)
		equal(t, "told", states(f.wait(t)), []string{"task TASK_STATE_INPUT_REQUIRED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"})
		task := c.task(x, true)
		acks := slices.DeleteFunc(c.acts(task), func(e *envelope.Envelope) bool { return e.ReceiptKind() != envelope.Ack })
		if len(acks) != 1 || statusMessage(task).MessageID != acks[0].ID() || string(task.Metadata[ExtensionURI]) != `{"state":"done:closed","outcome":"closed","last_seq":1}` {
			t.Errorf("the fence is acknowledged by %v, the status says %s", acks, task.Metadata[ExtensionURI])
		}
	})
}

func TestAnOpenQuestionIsPartOfItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, nil, answers(func(ctx context.Context) (Booking, error) {
			a, err := agent.AskBack(ctx, which)
			return Booking{a.Choice}, err
		}))
		c := client{t, s, planner}
		x := c.open(book, envelope.Request)
		synctest.Wait()
		task := c.task(x, true)
		question := must(envelope.Decode(must(envelopeOf(task.Status.Message))))
		if task.Status.State != wire.InputRequired || question.Capability() != protocol.Question.Name().Capability() || question.Conversation() == x.Conversation {
			t.Fatalf("%s with %s of conversation %s", task.Status.State, question.Capability(), question.Conversation())
		}
		plain := statusMessage(c.task(x, false))
		if len(plain.Parts) != 2 || *plain.Parts[0].Text != "Which seat?" || string(plain.Parts[1].Data) != `{"choices":["window","aisle"]}` {
			t.Errorf("others see the question as %+v", plain.Parts)
		}
		f, g := c.follow(t.Context(), x, "", true), c.follow(t.Context(), x, "", false)
		synctest.Wait()
		answer := c.answering(question, envelope.Inform, 1)
		answer.Status, answer.Schema = envelope.Final, protocol.Question.Name().Result()
		c.take(answer, `{"choice":"aisle"}`, x.Task)
		want := []string{"task TASK_STATE_INPUT_REQUIRED", "TASK_STATE_WORKING", "artifact", "TASK_STATE_COMPLETED"}
		equal(t, "told", states(f.wait(t)), want)
		equal(t, "told to others", states(g.wait(t)), want)
		task = c.task(x, true)
		var order []string
		for _, m := range task.History {
			e := must(envelope.Decode(must(envelopeOf(&m))))
			order = append(order, string(m.Role)+" "+string(e.Act())+" "+map[bool]string{true: "task", false: "question"}[e.Conversation() == x.Conversation])
		}
		equal(t, "history", order, []string{"ROLE_USER request task", "ROLE_AGENT agree task", "ROLE_AGENT request question", "ROLE_USER inform question"})
	})
}

func TestAHistoryIsAsLongAsTheReaderWantsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(func(context.Context) (Booking, error) {
			return Booking{}, agent.Fail(envelope.CodePermanent, "no-plane")
		})), planner}
		x := c.open(book, envelope.Request)
		synctest.Wait()
		for length, want := range map[int][]string{0: nil, 1: {"ROLE_AGENT"}, 2: {"ROLE_AGENT", "ROLE_AGENT"}, 9: {"ROLE_USER", "ROLE_AGENT", "ROLE_AGENT"}} {
			task, err := c.s.GetTask(t.Context(), c.call(true), &wire.GetTaskRequest{ID: x.Task, HistoryLength: &length})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range task.History {
				got = append(got, string(m.Role))
			}
			equal(t, "history", got, want)
		}
		wrong := -1
		if _, err := c.s.GetTask(t.Context(), c.call(true), &wire.GetTaskRequest{ID: x.Task, HistoryLength: &wrong}); kindOf(err) != wire.InvalidParams {
			t.Errorf("a negative length: %v", err)
		}
	})
}

func TestAFailureSaysWhyAndNothingOfWhatIsBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(func(context.Context) (Booking, error) { panic("the secret") })), planner}
		x := c.open(book, envelope.Request)
		synctest.Wait()
		m := statusMessage(c.task(x, false))
		if len(m.Parts) != 2 || *m.Parts[0].Text != "failed: permanent (handler-panic)" || string(m.Parts[1].Data) != `{"code":"permanent","reason":"handler-panic","retriable":false}` {
			t.Errorf("said %s", wire.Encode(m))
		}
	})
}

func TestAForeignMessageIsShownAsItCame(t *testing.T) {
	const hello = `{"messageId":"their-own-id","role":"ROLE_USER","parts":[{"text":"Hello?"}],"metadata":{"x":1}}`
	synctest.Test(t, func(t *testing.T) {
		chat := protocol.Chat()
		s := begin(t, nil, agent.Handle(chat, func(_ context.Context, said protocol.Said) (protocol.Said, error) {
			return protocol.Said{Text: "You said " + said.Text}, nil
		}))
		c := client{t, s, stranger}
		h := c.opens(chat, envelope.Request)
		h.Extensions = map[string]envelope.Extension{messageExtension: {Value: json.RawMessage(`{"digest":"","message":` + hello + `}`)}}
		x := c.take(h, `{"text":"Hello?"}`, "")
		synctest.Wait()
		task := c.task(x, false)
		if m := task.History[0]; m.MessageID != "their-own-id" || *m.Parts[0].Text != "Hello?" || m.TaskID != task.ID || m.ContextID != task.ContextID || string(m.Metadata["x"]) != "1" {
			t.Errorf("the message reads %s", wire.Encode(&m))
		}
		if a := task.Artifacts[0]; len(a.Parts) != 1 || a.Parts[0].Text == nil || *a.Parts[0].Text != "You said Hello?" || a.Metadata != nil {
			t.Errorf("the answer reads %s", wire.Encode(&a))
		}
	})
}

func TestWhatWasSaidBesideTheExchangeStandsInTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c := client{t, begin(t, nil, answers(func(context.Context) (Booking, error) { <-release; return Booking{"R1"}, nil })), stranger}
		x := c.open(book, envelope.Request)
		synctest.Wait()
		note := `{"messageId":"beside","role":"ROLE_USER","parts":[{"text":"Hurry!"}]}`
		if err := c.s.host.Note(t.Context(), x.Key, fresh(), []byte(`{"digest":"","message":`+note+`}`)); err != nil {
			t.Fatal(err)
		}
		task := c.task(x, false)
		if got := task.History[len(task.History)-1]; got.MessageID != "beside" || task.Status.State != wire.Submitted && task.Status.State != wire.Working {
			t.Errorf("%s after %s", task.Status.State, got.MessageID)
		}
		close(release)
	})
}

func TestTheEndOfATaskComesAfterWhatWasAskedBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(func(ctx context.Context) (Booking, error) {
			if _, err := agent.AskBack(ctx, which); err != nil {
				return Booking{}, err
			}
			return Booking{}, agent.Fail(envelope.CodePermanent, "no-such-seat")
		})), planner}
		x := c.open(book, envelope.Request)
		f := c.follow(t.Context(), x, "", true)
		synctest.Wait()
		c.reply(x, `{"choice":"aisle"}`)
		synctest.Wait()
		var order []string
		for _, m := range c.task(x, true).History {
			order = append(order, string(must(envelope.Decode(must(envelopeOf(&m)))).Act()))
		}
		equal(t, "history", order, []string{"request", "agree", "request", "inform", "failure"})
		list := states(f.wait(t))
		equal(t, "told last", list[len(list)-2:], []string{"TASK_STATE_WORKING", "TASK_STATE_FAILED"})
	})
}

func TestAQuestionThatWasWithdrawnNoLongerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, answers(func(ctx context.Context) (Booking, error) {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if _, err := agent.AskBack(short, which); err == nil {
				t.Error("the question was answered")
			}
			time.Sleep(2 * time.Second)
			return booked(ctx)
		})), planner}
		x := c.open(book, envelope.Request)
		f := c.follow(t.Context(), x, "", true)
		synctest.Wait()
		if got := c.task(x, true).Status.State; got != wire.InputRequired {
			t.Errorf("with the question the task is %s", got)
		}
		time.Sleep(1500 * time.Millisecond)
		for _, parley := range []bool{true, false} {
			if got := c.task(x, parley).Status.State; got != wire.Working {
				t.Errorf("without it the task is %s", got)
			}
		}
		acts := c.acts(c.task(x, true))
		if last := acts[len(acts)-1]; last.Act() != envelope.Cancel || last.Conversation() == x.Conversation {
			t.Errorf("the last word is %s of %s", last.Act(), last.Conversation())
		}
		list := states(f.wait(t))
		equal(t, "told last", list[len(list)-3:], []string{"TASK_STATE_WORKING", "artifact", "TASK_STATE_COMPLETED"})
	})
}

func TestAFailureThatMayPassSaysWhenToComeBack(t *testing.T) {
	told := envelope.NewError(envelope.CodeCapacity, "overloaded")
	told.RetryAfter = 1500 * time.Millisecond
	told.Detail = &envelope.Detail{Pointer: "/content/flight", Want: "a flight", Got: "none", Incident: "i-1"}
	parts := must(fault("refused", told))
	if *parts[0].Text != "refused: capacity (overloaded) at /content/flight" ||
		string(parts[1].Data) != `{"code":"capacity","reason":"overloaded","pointer":"/content/flight","retriable":true,"retryAfter":1500}` {
		t.Errorf("said %q and %s", *parts[0].Text, parts[1].Data)
	}
}

func TestWhereThereAreNoStreamsEveryAnswerShowsAllThatWasMade(t *testing.T) {
	for noStreams, want := range map[bool]int{true: 250, false: maxArtifacts} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{NoStreams: noStreams}, agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
				for n := range 250 {
					if err := agent.Progress(ctx, Tick{n}); err != nil {
						return Booking{}, err
					}
				}
				<-ctx.Done()
				return Booking{}, ctx.Err()
			}))
			c := d.as(stranger, wire.JSONRPC)
			task := c.sends(giving("m-1", seat))
			synctest.Wait()
			read := c.reads(task.ID)
			sent := c.sends(giving("m-1", seat))
			page, err := c.ListTasks(t.Context(), wire.Call{}, &wire.ListTasksRequest{IncludeArtifacts: true})
			if err != nil {
				t.Fatal(err)
			}
			cancelled, err := c.CancelTask(t.Context(), wire.Call{}, &wire.CancelTaskRequest{ID: task.ID})
			if err != nil {
				t.Fatal(err)
			}
			for what, got := range map[string]*wire.Task{"read": read, "sent again": sent, "listed": &page.Tasks[0], "cancelled": cancelled} {
				if len(got.Artifacts) != want {
					t.Errorf("without streams %t, a task that is %s shows %d artifacts, want %d", noStreams, what, len(got.Artifacts), want)
				}
			}
		})
	}
}
