package a2a

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// asksLater is a chat that waits for the gate and asks then.
func asksLater(gate <-chan struct{}, questions ...protocol.QuestionAsked) agent.Option {
	return agent.Handle(protocol.Chat(), func(ctx context.Context, _ protocol.Said) (protocol.Said, error) {
		var all protocol.Text
		for _, q := range questions {
			select {
			case <-gate:
			case <-ctx.Done():
				return protocol.Said{}, ctx.Err()
			}
			a, err := agent.AskBack(ctx, q)
			if err != nil {
				return protocol.Said{}, err
			}
			all += "[" + protocol.Text(a.Choice) + a.Text + protocol.Text(a.Value) + "]"
		}
		return protocol.Said{Text: all}, nil
	})
}

func TestWhatWasSaidWhileNothingWasAskedAnswersTheNextQuestions(t *testing.T) {
	free, number := protocol.QuestionAsked{Text: "Where to?"}, protocol.QuestionAsked{Text: "How many?", Schema: `{"type":"integer"}`}
	for name, tt := range map[string]struct {
		asked []protocol.QuestionAsked
		said  []wire.Message
		// comes is what it comes to, "" if it waits for its client.
		comes string
	}{
		"an answer":                      {[]protocol.QuestionAsked{which}, []wire.Message{uttering("n-1", "aisle")}, "[aisle]"},
		"no answer":                      {[]protocol.QuestionAsked{which}, []wire.Message{uttering("n-1", "hurry up")}, ""},
		"the first that is one":          {[]protocol.QuestionAsked{which}, []wire.Message{uttering("n-1", "hurry up"), uttering("n-2", "Aisle"), uttering("n-3", "window")}, "[aisle]"},
		"in order":                       {[]protocol.QuestionAsked{free, free}, []wire.Message{uttering("n-1", "Oslo"), uttering("n-2", "Turku")}, "[Oslo][Turku]"},
		"each once":                      {[]protocol.QuestionAsked{free, free}, []wire.Message{uttering("n-1", "Oslo")}, ""},
		"what was passed over may serve": {[]protocol.QuestionAsked{number, which}, []wire.Message{uttering("n-1", "aisle"), giving("n-2", "7")}, "[7][aisle]"},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restarted %t", name, restarted), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					gate := make(chan struct{})
					d := onDisk(t, Config{}, asksLater(gate, tt.asked...))
					c := d.as(stranger, wire.JSONRPC)
					task := c.sends(uttering("m-1", "hello"))
					synctest.Wait()
					for _, m := range tt.said {
						c.sends(on(m, task.ID))
					}
					if restarted {
						d.restart()
					}
					close(gate)
					synctest.Wait()
					if restarted { // and once more, now that everything that can be is answered
						d.restart()
						synctest.Wait()
					}
					got := c.reads(task.ID)
					if tt.comes == "" {
						if got.Status.State != wire.InputRequired {
							t.Errorf("it came to %s", wire.Encode(got))
						}
						_, err := c.cancels(task.ID)
						if err != nil {
							t.Error(err)
						}
					} else if got.Status.State != wire.Completed || *got.Artifacts[0].Parts[0].Text != tt.comes {
						t.Errorf("it came to %s", wire.Encode(got))
					}
					said := map[string]int{}
					for _, m := range got.History {
						if m.Role == wire.User {
							said[m.MessageID]++
						}
					}
					for _, m := range append(tt.said, uttering("m-1", "")) {
						if said[m.MessageID] != 1 {
							t.Errorf("the history has %v", said)
						}
					}
					for _, m := range tt.said { // known by whatever became of it
						if again, err := c.tries(on(m, task.ID)); err != nil || again.ID != task.ID {
							t.Errorf("%s again: %v", m.MessageID, err)
						}
					}
					if d.quarantined() != 0 {
						t.Errorf("%d are in quarantine", d.quarantined())
					}
					audited(t, d.Host, task.ID)
				})
			})
		}
	}
}

func TestAQuestionThatIsAskedBeforeThereIsAServerIsAnsweredFromBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		d := onDisk(t, Config{}, asksLater(gate, which))
		c := d.as(stranger, wire.JSONRPC)
		task := c.sends(uttering("m-1", "hello"))
		synctest.Wait()
		c.sends(on(uttering("n-1", "aisle"), task.ID))
		close(gate)
		d.end(t)
		d.late = true
		d.begin(agent.Config{})
		synctest.Wait()
		if got := c.reads(task.ID); got.Status.State != wire.Completed {
			t.Errorf("it came to %s", wire.Encode(got))
		}
	})
}

func TestAnAnswerFromBeforeIsTheMessageThatWasSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		d := newDesk(t, agent.Config{}, Config{}, asksLater(gate, which))
		c := d.as(stranger, wire.JSONRPC)
		task := c.sends(uttering("m-1", "hello"))
		synctest.Wait()
		c.sends(on(uttering("n-1", "aisle"), task.ID))
		close(gate)
		synctest.Wait()
		list := must(d.Store().Tasks(t.Context(), flights, task.ID))
		q := list[1]
		var notes, answers []original
		for _, e := range must(d.Store().Log(t.Context(), flights, list[0].Conversation, 0)) {
			if e.Kind == store.Noted {
				notes = append(notes, *must(readOriginal(e.Note)))
			}
		}
		for _, e := range must(d.Store().Log(t.Context(), flights, q.Conversation, 0)) {
			if e.Kind == store.Received && e.Event == "?inform" {
				answers = append(answers, *must(keptIn(must(envelope.Decode(e.Envelope)))))
			}
		}
		if len(notes) != 1 || len(answers) != 1 || !notes[0].same(answers[0]) {
			t.Errorf("noted was %+v, answered %+v", notes, answers)
		}
	})
}

func TestAMessageThatComesAsTheQuestionIsAskedAnswersIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := atomic.Int64{}
		d := newDesk(t, agent.Config{}, Config{}, agent.Handle(protocol.Chat(), func(ctx context.Context, _ protocol.Said) (protocol.Said, error) {
			runs.Add(1)
			a, err := agent.AskBack(ctx, which)
			return protocol.Said{Text: protocol.Text(a.Choice)}, err
		}))
		c := d.as(stranger, wire.JSONRPC)
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				task := c.sends(uttering(fmt.Sprint("m-", i), "hello"))
				c.sends(on(uttering(fmt.Sprint("n-", i), "aisle"), task.ID))
				if got := c.reads(task.ID); got.Status.State == wire.InputRequired {
					time.Sleep(time.Second)
				}
			})
		}
		wg.Wait()
		time.Sleep(time.Second)
		for _, x := range c.exchanges() {
			if got := c.reads(x.Task); got.Status.State != wire.Completed {
				t.Errorf("it is %s", wire.Encode(got))
			}
		}
	})
}
