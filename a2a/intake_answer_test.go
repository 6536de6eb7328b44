package a2a

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/memory"
)

func TestAnAnswerToAQuestionIsReadAsTheQuestionWantsIt(t *testing.T) {
	choice, free := which, protocol.QuestionAsked{Text: "Where to?"}
	number := protocol.QuestionAsked{Text: "How many?", Schema: `{"type":"integer","minimum":1}`}
	trip := protocol.QuestionAsked{Text: "Which trip?", Schema: `{"type":"object","properties":{"to":{"type":"string"}},"required":["to"],"additionalProperties":false}`}
	two := func(parts ...wire.Part) wire.Message {
		return wire.Message{MessageID: "m-2", Role: wire.User, Parts: parts}
	}
	for name, tt := range map[string]struct {
		q    protocol.QuestionAsked
		with wire.Message
		// heard is what the agent hears; without it the answer is none, and says
		// is in what the client is told.
		heard string
		kind  wire.Kind
		says  string
	}{
		"a choice":                     {q: choice, with: uttering("m-2", "aisle"), heard: "aisle"},
		"a choice in other letters":    {q: choice, with: uttering("m-2", "  Aisle \n"), heard: "aisle"},
		"a choice as data":             {q: choice, with: giving("m-2", `"window"`), heard: "window"},
		"a choice as the member":       {q: choice, with: giving("m-2", `{"choice":"window"}`), heard: "window"},
		"no choice":                    {q: choice, with: uttering("m-2", "the middle"), kind: wire.InvalidParams, says: "window, aisle"},
		"data that is no choice":       {q: choice, with: giving("m-2", `7`), kind: wire.InvalidParams, says: "window, aisle"},
		"text":                         {q: free, with: uttering("m-2", "Helsinki\nor so"), heard: "Helsinki\nor so"},
		"several texts":                {q: free, with: two(text("Helsinki"), text("or so")), heard: "Helsinki\nor so"},
		"text in any letters":          {q: free, with: uttering("m-2", "<żółć>&\u2028"), heard: "<żółć>&\u2028"},
		"the longest text":             {q: free, with: uttering("m-2", strings.Repeat("x", 16384)), heard: strings.Repeat("x", 16384)},
		"too long a text":              {q: free, with: uttering("m-2", strings.Repeat("x", 16385)), kind: wire.InvalidParams, says: "16384"},
		"far too long a text":          {q: free, with: uttering("m-2", strings.Repeat("x", 2<<20)), kind: wire.InvalidParams, says: "16384"},
		"nothing":                      {q: free, with: uttering("m-2", ""), kind: wire.InvalidParams, says: "text"},
		"data for text":                {q: free, with: giving("m-2", `{"to":"Helsinki"}`), kind: wire.InvalidParams, says: "text"},
		"data beside text":             {q: free, with: two(text("Helsinki"), dataPart(`{"to":"Oslo"}`)), kind: wire.InvalidParams, says: "text"},
		"a value as data":              {q: number, with: giving("m-2", `7`), heard: "7"},
		"a value as text":              {q: number, with: uttering("m-2", "7"), heard: "7"},
		"a value that does not fit":    {q: number, with: uttering("m-2", "0"), kind: wire.InvalidParams, says: "schema"},
		"a value that is none":         {q: number, with: uttering("m-2", "seven"), kind: wire.InvalidParams, says: "schema"},
		"an object":                    {q: trip, with: giving("m-2", `{"to":"Oslo"}`), heard: `{"to":"Oslo"}`},
		"an object with more":          {q: trip, with: giving("m-2", `{"to":"Oslo","n":1}`), kind: wire.InvalidParams, says: "schema"},
		"too large an object":          {q: trip, with: giving("m-2", `{"to":"`+strings.Repeat("x", 70_000)+`"}`), kind: wire.InvalidParams, says: "65536"},
		"a file":                       {q: free, with: two(wire.Part{Raw: []byte("x")}), kind: wire.ContentTypeNotSupported},
		"two data parts":               {q: number, with: two(dataPart("7"), dataPart("8")), kind: wire.ContentTypeNotSupported},
		"another context":              {q: free, with: inContext("elsewhere", uttering("m-2", "Helsinki")), kind: wire.InvalidParams, says: "context"},
		"characters that control":      {q: free, with: uttering("m-2", "\x1b[2J"), kind: wire.InvalidParams, says: "control"},
		"the id of the first with it":  {q: free, with: uttering("m-1", "Helsinki"), kind: wire.InvalidParams, says: "another message"},
		"a number that no double has":  {q: number, with: giving("m-2", `9007199254740993`), kind: wire.InvalidParams, says: "number"},
		"a text of a number of no one": {q: number, with: uttering("m-2", `9007199254740993`), kind: wire.InvalidParams, says: "schema"},
	} {
		t.Run(name, func(t *testing.T) {
			bindings(t, func(t *testing.T, binding string) {
				synctest.Test(t, func(t *testing.T) {
					d := newDesk(t, agent.Config{}, Config{}, asks(tt.q))
					c := d.as(stranger, binding)
					task := c.sends(uttering("m-1", "hello"))
					synctest.Wait()
					if got := c.reads(task.ID).Status; got.State != wire.InputRequired || *got.Message.Parts[0].Text != string(tt.q.Text) {
						t.Fatalf("it stands at %s", wire.Encode(&got))
					}
					answer := on(tt.with, task.ID)
					if tt.kind != "" {
						_, err := c.tries(answer)
						if kindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.says) || len(err.Error()) > 300 {
							t.Errorf("told %.400v, want %s and %q in it", err, tt.kind, tt.says)
						}
						synctest.Wait()
						if got := c.reads(task.ID); got.Status.State != wire.InputRequired || len(got.History) != 2 {
							t.Fatalf("then it is %.400s", wire.Encode(got))
						}
						good := map[string]string{string(choice.Text): "aisle", string(free.Text): "Helsinki", string(number.Text): "7", string(trip.Text): `{"to":"Oslo"}`}[string(tt.q.Text)]
						answer, tt.heard = on(uttering("m-9", good), task.ID), good
					}
					if got := c.sends(answer); got.ID != task.ID {
						t.Errorf("the answer is under %s, the task is %s", got.ID, task.ID)
					}
					synctest.Wait()
					got := c.reads(task.ID)
					if got.Status.State != wire.Completed || *got.Artifacts[0].Parts[0].Text != "["+tt.heard+"]" {
						t.Errorf("it came to %.400s", wire.Encode(got))
					}
					if n := len(got.History); n != 3 || got.History[2].MessageID != answer.MessageID || d.quarantined() != 0 {
						t.Errorf("the history has %d messages, %d are in quarantine", n, d.quarantined())
					}
				})
			})
		})
	}
}

func TestQuestionsAreAnsweredOneAfterTheOtherAndEachAnswerCountsOnce(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := onDisk(t, Config{}, asks(which, protocol.QuestionAsked{Text: "Where to?"}))
			c := d.as(stranger, binding)
			task := c.sends(uttering("m-1", "hello"))
			synctest.Wait()
			first := on(uttering("m-2", "aisle"), task.ID)
			c.sends(first)
			synctest.Wait()
			if got := c.reads(task.ID).Status; got.State != wire.InputRequired || *got.Message.Parts[0].Text != "Where to?" {
				t.Fatalf("it stands at %s", wire.Encode(&got))
			}
			c.sends(first) // which answers the first question, not the second
			synctest.Wait()
			if got := c.reads(task.ID).Status.State; got != wire.InputRequired {
				t.Errorf("after the first answer again it is %s", got)
			}
			d.restart()
			synctest.Wait()
			c.sends(first)
			second := on(uttering("m-3", "Oslo"), task.ID)
			c.sends(second)
			synctest.Wait()
			again := c.sends(second)
			if got := again; got.Status.State != wire.Completed || *got.Artifacts[0].Parts[0].Text != "[aisle][Oslo]" || d.quarantined() != 0 {
				t.Errorf("it came to %s", wire.Encode(got))
			}
		})
	})
}

func TestOfTwoAnswersAtOnceOneIsTheAnswer(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			d := newDesk(t, agent.Config{Store: yielding{memory.New()}}, Config{}, agent.Handle(protocol.Chat(), func(ctx context.Context, _ protocol.Said) (protocol.Said, error) {
				a, err := agent.AskBack(ctx, which)
				<-gate
				return protocol.Said{Text: protocol.Text(a.Choice)}, err
			}))
			c := d.as(stranger, binding)
			task := c.sends(uttering("m-1", "hello"))
			synctest.Wait()
			var wg sync.WaitGroup
			for id, words := range map[string]string{"m-2": "aisle", "m-3": "window"} {
				wg.Go(func() { c.sends(on(uttering(id, words), task.ID)) })
			}
			wg.Wait()
			close(gate)
			synctest.Wait()
			got := c.reads(task.ID)
			if answer := *got.Artifacts[0].Parts[0].Text; answer != "aisle" && answer != "window" || got.Status.State != wire.Completed || len(got.History) != 4 || d.quarantined() != 0 {
				t.Errorf("it came to %s", wire.Encode(got))
			}
		})
	})
}

func TestAMessageToATaskThatWorksStandsInItsHistoryOnce(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate, runs := make(chan struct{}), atomic.Int64{}
			d := onDisk(t, Config{}, gated(gate, &runs))
			c := d.as(stranger, binding)
			task := c.sends(uttering("m-1", "hello"))
			synctest.Wait()
			more := on(uttering("m-2", "<and> more"), task.ID)
			for range 2 {
				if got := c.sends(more); got.ID != task.ID || got.Status.State != wire.Working && got.Status.State != wire.Submitted {
					t.Errorf("it is %s", wire.Encode(got))
				}
			}
			d.restart()
			c.sends(more)
			if _, err := c.tries(on(uttering("m-2", "another"), task.ID)); kindOf(err) != wire.InvalidParams {
				t.Errorf("another message under its id: %v", err)
			}
			if _, err := c.tries(on(uttering("m-3", strings.Repeat("x", 60_000)), task.ID)); kindOf(err) != wire.InvalidParams {
				t.Errorf("more than is kept of a message: %v", err)
			}
			c.sends(on(giving("m-6", "null"), task.ID))
			_, err := c.tries(on(wire.Message{MessageID: "m-5", Role: wire.User, Parts: []wire.Part{{Raw: []byte("x")}}}, task.ID))
			is(t, err, wire.ContentTypeNotSupported, "")
			close(gate)
			synctest.Wait()
			got := c.sends(more) // still the same after the end
			if got.Status.State != wire.Completed || len(got.History) != 3 || got.History[1].MessageID != "m-2" || *got.History[1].Parts[0].Text != "<and> more" ||
				string(got.History[2].Parts[0].Data) != "null" {
				t.Errorf("it came to %s", wire.Encode(got))
			}
			_, err = c.tries(on(uttering("m-4", "too late"), task.ID))
			is(t, err, wire.UnsupportedOperation, "")
			audited(t, d.Host, task.ID)
		})
	})
}

func TestATaskTakesSoManyMessagesAndNoMore(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate, runs := make(chan struct{}), atomic.Int64{}
			d := newDesk(t, agent.Config{}, Config{}, gated(gate, &runs), agent.Spend(agent.Budget{Messages: 8}))
			c := d.as(stranger, binding)
			task := c.sends(uttering("m-1", "hello"))
			synctest.Wait()
			var err error
			for i := 0; err == nil && i < 20; i++ {
				_, err = c.tries(on(uttering("more-"+strings.Repeat("i", i), "more"), task.ID))
			}
			is(t, err, wire.Overloaded, "")
			close(gate)
			synctest.Wait()
			if got := c.reads(task.ID).Status.State; got != wire.Completed {
				t.Errorf("it is %s", got)
			}
		})
	})
}
