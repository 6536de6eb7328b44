package a2a

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/protocol"
)

// Note is what somebody jots down; its numbers and its tree are free.
type Note struct {
	N    json.Number   `json:"n"`
	Tree schema.Object `json:"tree,omitzero"`
}

type Weight struct {
	Kilograms int `json:"kilograms"`
}

var (
	weigh = protocol.Query[Weight, Booking]("acme.piano.weigh/v1")
	lift  = protocol.Request[Weight, Booking]("acme.piano.lift/v1")
)

func answersWith[In any](c protocol.Contract[In, Booking]) agent.Option {
	return agent.Handle(c, func(context.Context, In) (Booking, error) { return Booking{"R1"}, nil })
}

func TestAForeignMessageOpensTheOneContractThatTakesIt(t *testing.T) {
	kinds := []agent.Option{echoes(), answers(booked), answersWith(weigh)}
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for name, tt := range map[string]struct {
		opts []agent.Option
		m    wire.Message
		// kind and field are of the refusal; without one, result is what is made.
		kind   wire.Kind
		field  string
		says   string
		result string
		state  wire.TaskState
	}{
		"text":                      {opts: kinds, m: uttering("m", "hello"), result: `{"text":"You said hello"}`},
		"several texts":             {opts: kinds, m: wire.Message{MessageID: "m", Role: wire.User, Parts: []wire.Part{text("a"), text("b")}}, result: `{"text":"You said a\nb"}`},
		"the longest text":          {opts: kinds, m: uttering("m", strings.Repeat("x", 65536-9)), result: `{"text":"You said ` + strings.Repeat("x", 65536-9) + `"}`},
		"an empty text":             {opts: kinds, m: uttering("m", ""), result: `{"text":"You said "}`},
		"a text in other letters":   {opts: kinds, m: uttering("m", "<b>&\u2028żółć \U0001F9F3"), result: `{"text":"You said <b>&` + "\u2028" + `żółć ` + "\U0001F9F3" + `"}`},
		"text to who does not talk": {opts: kinds[1:], m: uttering("m", "hello"), kind: wire.ContentTypeNotSupported, says: "acme.flight.book/v1, acme.piano.weigh/v1"},
		"text to who does nothing":  {m: uttering("m", "hello"), kind: wire.ContentTypeNotSupported, says: "none"},
		"too long a text":           {opts: kinds, m: uttering("m", strings.Repeat("x", 65537)), kind: wire.InvalidParams, field: "message.parts", says: "65536"},
		"too many bytes":            {opts: kinds, m: uttering("m", strings.Repeat("é", 40_000)), kind: wire.InvalidParams, field: "message.parts", says: "bytes"},
		"far too long a text":       {opts: kinds, m: uttering("m", strings.Repeat("x", 3<<20)), kind: wire.InvalidParams, field: "message.parts", says: "65536"},
		"control characters":        {opts: kinds, m: uttering("m", "a\x07b"), kind: wire.InvalidParams, field: "message.parts[0].text", says: "control characters"},

		"data":                           {opts: kinds, m: giving("m", seat), result: `{"reference":"R1"}`},
		"data with a text beside it":     {opts: kinds, m: wire.Message{MessageID: "m", Role: wire.User, Parts: []wire.Part{text("please"), {Data: json.RawMessage(seat)}}}, result: `{"reference":"R1"}`},
		"data of another contract":       {opts: kinds, m: giving("m", `{"kilograms":400}`), result: `{"reference":"R1"}`},
		"data that fits none":            {opts: kinds, m: giving("m", `{"colour":"red"}`), kind: wire.InvalidParams, field: "message.parts", says: "acme.flight.book/v1, acme.piano.weigh/v1"},
		"data that fits several":         {opts: append(kinds, answersWith(lift)), m: giving("m", `{"kilograms":400}`), kind: wire.InvalidParams, field: "message.parts", says: "acme.piano.lift/v1, acme.piano.weigh/v1"},
		"data of null":                   {opts: kinds, m: giving("m", `null`), kind: wire.InvalidParams, field: "message.parts"},
		"data that looks like a chat":    {opts: kinds, m: giving("m", `{"text":"hello"}`), result: `{"text":"You said hello"}`},
		"data that answers a question":   {opts: append(kinds, answering("aisle")), m: giving("m", `{"text":"Which?"}`), result: `{"text":"You said Which?"}`},
		"two data parts":                 {opts: kinds, m: wire.Message{MessageID: "m", Role: wire.User, Parts: []wire.Part{{Data: json.RawMessage(seat)}, {Data: json.RawMessage(seat)}}}, kind: wire.InvalidParams, field: "message.parts"},
		"a number beyond what JSON has":  {opts: append(kinds, answersWith(noting)), m: giving("m", `{"n":9007199254740993}`), kind: wire.InvalidParams, field: "message.parts[0].data.n", says: "number"},
		"the greatest number":            {opts: append(kinds, answersWith(noting)), m: giving("m", `{"n":9007199254740991}`), result: `{"reference":"R1"}`},
		"data too deep for an envelope":  {opts: append(kinds, answersWith(noting)), m: giving("m", `{"n":1,"tree":`+nested(40)+`}`), kind: wire.InvalidParams, field: "message.parts.data.tree" + strings.Repeat(".a", 31), says: "levels"},
		"data deeper than anybody reads": {opts: append(kinds, answersWith(noting)), m: giving("m", `{"n":1,"tree":`+nested(80)+`}`), kind: wire.ParseError, says: "levels"},
		"more data than an envelope has": {opts: append(kinds, answersWith(noting)), m: giving("m", `{"n":1,"tree":{"a":"`+strings.Repeat("x", 300<<10)+`"}}`), kind: wire.InvalidParams, field: "message.parts.data", says: "at most"},
		"data of control characters":     {opts: append(kinds, answersWith(noting)), m: giving("m", `{"n":1,"tree":{"a":"\u0007"}}`), kind: wire.InvalidParams, field: "message.parts[0].data.tree.a", says: "control"},
		"very many members":              {opts: append(kinds, answersWith(noting)), m: giving("m", `{"n":1,"tree":{"a":[0`+strings.Repeat(",0", 20_000)+`]}}`), kind: wire.InvalidParams, field: "message.parts.data.tree.a[9996]", says: "at most 10000"},

		"a file":              {opts: kinds, m: wire.Message{MessageID: "m", Role: wire.User, Parts: []wire.Part{text("see"), {Raw: []byte("x")}}}, kind: wire.ContentTypeNotSupported},
		"a link":              {opts: kinds, m: wire.Message{MessageID: "m", Role: wire.User, Parts: []wire.Part{{URL: new("file:///etc/passwd")}}}, kind: wire.ContentTypeNotSupported},
		"the role of agents":  {opts: kinds, m: wire.Message{MessageID: "m", Role: wire.Agent, Parts: []wire.Part{text("hello")}}, kind: wire.InvalidParams, field: "message.role"},
		"a task of nobody's":  {opts: kinds, m: on(uttering("m", "hello"), "nobody"), kind: wire.TaskNotFound},
		"a context":           {opts: kinds, m: inContext("trip-7", uttering("m", "hello")), result: `{"text":"You said hello"}`},
		"too long a context":  {opts: kinds, m: inContext(strings.Repeat("x", 129), uttering("m", "hello")), kind: wire.InvalidParams, field: "message.contextId", says: "128"},
		"an odd context":      {opts: kinds, m: inContext("żółć", uttering("m", "hello")), kind: wire.InvalidParams, field: "message.contextId", says: "ASCII"},
		"a very long id":      {opts: kinds, m: uttering(strings.Repeat("i", 30<<10), "hello"), result: `{"text":"You said hello"}`},
		"too long an id":      {opts: kinds, m: uttering(strings.Repeat("i", 50<<10), "hello"), kind: wire.InvalidParams, field: "message", says: "beside its parts"},
		"metadata that is it": {opts: kinds, m: wire.Message{MessageID: "m", Role: wire.User, Parts: []wire.Part{text("hello")}, Metadata: wire.Metadata{"a": json.RawMessage(`"` + strings.Repeat("x", 50<<10) + `"`)}}, kind: wire.InvalidParams, field: "message", says: "beside its parts"},
	} {
		t.Run(name, func(t *testing.T) {
			bindings(t, func(t *testing.T, binding string) {
				synctest.Test(t, func(t *testing.T) {
					d := newDesk(t, agent.Config{}, Config{}, tt.opts...)
					c := d.as(stranger, binding)
					task, err := c.tries(tt.m)
					if tt.kind != "" {
						if e := is(t, err, tt.kind, tt.field); !strings.Contains(e.Message, tt.says) || len(e.Message) > 500 {
							t.Errorf("it says %.600q, want %q in it", e.Message, tt.says)
						}
						if got := c.exchanges(); len(got) != 0 {
							t.Errorf("it left %+v", got)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					task = c.reads(task.ID)
					if tt.m.ContextID != "" && task.ContextID != tt.m.ContextID || task.ContextID == "" {
						t.Errorf("the context is %q", task.ContextID)
					}
					if first := task.History[0]; first.MessageID != tt.m.MessageID || first.Role != wire.User || len(first.Parts) == 0 {
						t.Errorf("the history begins with %s", wire.Encode(&first))
					}
					if task.Status.State != wire.Completed || len(task.Artifacts) != 1 || result(task) != tt.result {
						t.Errorf("it came to %.300s", wire.Encode(task))
					}
				})
			})
		})
	}
}

var noting = protocol.Query[Note, Booking]("acme.note.take/v1")

func inContext(context string, m wire.Message) wire.Message {
	m.ContextID = context
	return m
}

// result is what a task made: the data, or the text as that of a chat.
func result(task *wire.Task) string {
	p := task.Artifacts[0].Parts[0]
	if p.Text != nil {
		return string(must(strictjson.Marshal(protocol.Said{Text: protocol.Text(*p.Text)})))
	}
	return string(p.Data)
}
