package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

func TestAnEnvelopeIsTakenOnlyAsTheMessageThatItIs(t *testing.T) {
	other := "agent://local/hotels"
	header := func(change func(map[string]any)) func(*wire.Message) {
		return func(m *wire.Message) {
			var h map[string]any
			if err := json.Unmarshal(m.Metadata[ExtensionURI], &h); err != nil {
				t.Fatal(err)
			}
			change(h)
			m.Metadata[ExtensionURI] = raw(h)
		}
	}
	for name, tt := range map[string]struct {
		header func(*envelope.Header)
		change func(*wire.Message)
		kind   wire.Kind
		field  string
		says   string
	}{
		"the role of an agent":                 {change: func(m *wire.Message) { m.Role = wire.Agent }, kind: wire.InvalidParams, field: "message.role"},
		"a task on an opening act":             {change: func(m *wire.Message) { m.TaskID = taskID("c", flights) }, kind: wire.InvalidParams, field: "message.taskId"},
		"another id than the envelope's":       {change: func(m *wire.Message) { m.MessageID = fresh() }, kind: wire.InvalidParams, field: "message.messageId"},
		"another context than the envelope's":  {change: func(m *wire.Message) { m.ContextID = "elsewhere" }, kind: wire.InvalidParams, field: "message.contextId"},
		"another receiver":                     {header: func(h *envelope.Header) { h.Receiver = other }, kind: wire.InvalidParams, field: "message.metadata"},
		"a cancel":                             {header: func(h *envelope.Header) { h.Performative = envelope.Cancel }, kind: wire.InvalidParams, field: "message.metadata", says: "CancelTask"},
		"a receipt":                            {header: func(h *envelope.Header) { h.Performative, h.Receipt = "", envelope.Ack }, kind: wire.InvalidParams, field: "message.metadata"},
		"an answer to nothing that is here":    {header: func(h *envelope.Header) { h.InReplyTo = fresh() }, change: func(m *wire.Message) { m.TaskID = taskID("c", flights) }, kind: wire.TaskNotFound},
		"an answer that names no task":         {header: func(h *envelope.Header) { h.InReplyTo = fresh() }, kind: wire.InvalidParams, field: "message.taskId"},
		"no data part":                         {change: func(m *wire.Message) { m.Parts = []wire.Part{text("hello")} }, kind: wire.InvalidParams, field: "message.parts"},
		"two data parts":                       {change: func(m *wire.Message) { m.Parts = append(m.Parts, m.Parts[0]) }, kind: wire.InvalidParams, field: "message.parts"},
		"a header that is no object":           {change: func(m *wire.Message) { m.Metadata[ExtensionURI] = json.RawMessage(`"x"`) }, kind: wire.InvalidParams, field: "message.metadata"},
		"a header of null":                     {change: func(m *wire.Message) { m.Metadata[ExtensionURI] = json.RawMessage(`null`) }, kind: wire.InvalidParams, field: "message.metadata"},
		"an empty header":                      {change: func(m *wire.Message) { m.Metadata[ExtensionURI] = json.RawMessage(`{}`) }, kind: wire.InvalidParams, field: "message.metadata"},
		"a header without a performative":      {change: header(func(h map[string]any) { delete(h, "performative") }), kind: wire.InvalidParams, field: "message", says: "malformed"},
		"a header with a member of no meaning": {change: header(func(h map[string]any) { h["colour"] = "red" }), kind: wire.InvalidParams, field: "message", says: "/colour"},
		"a header whose sequence is a text":    {change: header(func(h map[string]any) { h["seq"] = "one" }), kind: wire.InvalidParams, field: "message", says: "/seq"},
		"another content than was sealed":      {change: func(m *wire.Message) { m.Parts[0].Data = json.RawMessage(`{"flight":"AY1"}`) }, kind: wire.InvalidParams, field: "message"},
	} {
		t.Run(name, func(t *testing.T) {
			bindings(t, func(t *testing.T, binding string) {
				synctest.Test(t, func(t *testing.T) {
					d := newDesk(t, agent.Config{}, Config{}, answers(booked))
					c := d.as(planner, binding)
					h := c.opens(book, envelope.Request)
					if tt.header != nil {
						tt.header(&h)
					}
					var m wire.Message
					if h.Receipt != "" { // which has no content, so it is written by hand
						whole := carrying(t, c.opens(book, envelope.Request), seat)
						m = *must(messageOf(receiptFor(t, d, whole), "", wire.User))
					} else {
						m = carrying(t, h, map[bool]string{true: "{}", false: seat}[h.Performative == envelope.Cancel])
					}
					if tt.change != nil {
						tt.change(&m)
					}
					_, err := c.tries(m)
					e := is(t, err, tt.kind, tt.field)
					if !strings.Contains(e.Message, tt.says) {
						t.Errorf("it says %q, want %q in it", e.Message, tt.says)
					}
					if got := c.exchanges(); len(got) != 0 || d.quarantined() != 0 {
						t.Errorf("it left %+v, and %d in quarantine", got, d.quarantined())
					}
				})
			})
		})
	}
}

// receiptFor is an ack to a message of the planner's.
func receiptFor(t *testing.T, d *desk, m wire.Message) []byte {
	t.Helper()
	of := must(envelope.Decode(must(envelopeOf(&m)))).Header()
	return must(envelope.Seal(envelope.Header{Receipt: envelope.Ack, Sender: planner, Receiver: flights, SenderGeneration: 1,
		MessageID: fresh(), ConversationID: of.ConversationID, CorrelationID: of.CorrelationID, InReplyTo: of.MessageID, Timestamp: d.Now(),
		Labels: of.Labels, Trace: of.Trace}, nil)).Bytes()
}

func TestAnActThatIsNotOfItsTaskIsNotTaken(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{}, append(ticking(1000, nil), agent.Bid(haul, func(ctx context.Context, _ Seat) (Tick, error) { return Tick{1}, nil },
				func(context.Context, Seat, Tick) (Booking, error) { return Booking{"R1"}, nil }))...)
			c, other := d.as(planner, binding), d.as(stranger, binding)
			mine := c.sends(carrying(t, c.opens(haul, envelope.CFP), seat))
			second := c.sends(carrying(t, c.opens(haul, envelope.CFP), seat))
			synctest.Wait()
			bid := agentsActs(t, must(c.GetTask(t.Context(), c.call(true), &wire.GetTaskRequest{ID: mine.ID})))[0]
			award := client{t, &service{host: d.Host}, planner}.answering(bid, envelope.Agree, 2)
			award.Schema, award.IdempotencyKey, award.ReplyBy = "parley.agree/v1", "k", d.Now().Add(time.Minute)
			m := carrying(t, award, `{}`)
			_, err := c.tries(on(m, second.ID))
			is(t, err, wire.TaskNotFound, "")
			_, err = other.tries(on(m, mine.ID))
			is(t, err, wire.Unauthenticated, "")
			if got := c.sends(on(m, mine.ID)); got.ID != mine.ID {
				t.Errorf("the award is under %s, the call under %s", got.ID, mine.ID)
			}
			synctest.Wait()
			if got := c.reads(mine.ID).Status.State; got != wire.Completed {
				t.Errorf("the task is %s", got)
			}
		})
	})
}

// agentsActs are the acts of the agent in the history of a task.
func agentsActs(t *testing.T, task *wire.Task) []*envelope.Envelope {
	t.Helper()
	return client{t: t}.acts(task)
}

func TestARefusalOfAnEnvelopeIsAnErrorThatCarriesItsReceipt(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg    agent.Config
		opts   []agent.Option
		header func(*envelope.Header)
		caller string
		kind   wire.Kind
		status int
		code   envelope.Code
	}{
		"a sender that the caller is not": {caller: stranger, kind: wire.Unauthenticated, status: http.StatusUnauthorized, code: envelope.CodeAuth},
		"a gap":                           {header: func(h *envelope.Header) { h.Seq = 3 }, kind: wire.Unavailable, status: http.StatusServiceUnavailable, code: envelope.CodeTransient},
		"no room":                         {cfg: agent.Config{Workers: 1, Backlog: 1}, kind: wire.Overloaded, status: http.StatusTooManyRequests, code: envelope.CodeCapacity},
	} {
		t.Run(name, func(t *testing.T) {
			bindings(t, func(t *testing.T, binding string) {
				synctest.Test(t, func(t *testing.T) {
					gate := make(chan struct{})
					defer close(gate)
					d := newDesk(t, tt.cfg, Config{}, answers(func(ctx context.Context) (Booking, error) {
						select {
						case <-gate:
						case <-ctx.Done():
						}
						return Booking{"R1"}, nil
					}))
					c := d.as(planner, binding)
					if tt.cfg.Backlog > 0 {
						for range 6 {
							_, _ = c.tries(carrying(t, c.opens(book, envelope.Request), seat))
						}
					}
					if tt.caller != "" {
						c = d.as(tt.caller, binding)
						c.uri = planner
					}
					h := c.opens(book, envelope.Request)
					if tt.header != nil {
						tt.header(&h)
					}
					var status int
					var after string
					d.w.spoil(func(_ *http.Request, _ string, done func() *http.Response) (*http.Response, error) {
						r := done()
						status, after = r.StatusCode, r.Header.Get("Retry-After")
						return r, nil
					})
					m := carrying(t, h, seat)
					_, err := c.tries(m)
					e := is(t, err, tt.kind, "")
					if status != tt.status || (tt.kind == wire.Unauthenticated) != (after == "") {
						t.Errorf("the status is %d, to come back after %q", status, after)
					}
					if len(e.Details) != 1 || string(e.Details[0]["@type"]) != `"type.googleapis.com/google.protobuf.Struct"` {
						t.Fatalf("the details are %v", e.Details)
					}
					receipt := must(envelope.Decode(e.Details[0]["value"]))
					if receipt.ReceiptKind() != envelope.Nack || receipt.InReplyTo() != m.MessageID || receipt.Header().Error.Code != tt.code {
						t.Errorf("the receipt is %s", e.Details[0]["value"])
					}
				})
			})
		})
	}
}

func TestALaterActThatIsRefusedIsAFaultOfTheMessage(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{}, answers(booked))
			c := d.as(planner, binding)
			opening := c.opens(book, envelope.Request)
			task := c.sends(carrying(t, opening, seat))
			synctest.Wait()
			late := opening
			late.Performative, late.Schema, late.InReplyTo, late.MessageID, late.Seq = envelope.Agree, "parley.agree/v1", opening.MessageID, fresh(), 2
			late.IdempotencyKey, late.ReplyBy, late.ContentDigest = "", time.Time{}, ""
			_, err := c.tries(on(carrying(t, late, `{}`), task.ID))
			if e := is(t, err, wire.InvalidParams, "message"); len(e.Details) != 1 {
				t.Errorf("the details are %v", e.Details)
			}
			if got := c.reads(task.ID).Status.State; got != wire.Completed {
				t.Errorf("the task is %s", got)
			}
		})
	})
}

func TestAnEnvelopeThatIsSentAgainHasTheSameAnswerAndOneExchange(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate, runs := make(chan struct{}), 0
			d := onDisk(t, Config{}, answers(func(ctx context.Context) (Booking, error) {
				runs++
				select {
				case <-gate:
					return Booking{"R1"}, nil
				case <-ctx.Done():
					return Booking{}, ctx.Err()
				}
			}))
			c := d.as(planner, binding)
			m := carrying(t, c.opens(book, envelope.Request), seat)
			first := c.sends(m)
			if again := c.sends(m); again.ID != first.ID || again.Status.State.Terminal() {
				t.Errorf("in progress it is %s under %s, not %s", again.Status.State, again.ID, first.ID)
			}
			synctest.Wait() // the answer may come before the handler begins
			d.restart()
			close(gate)
			synctest.Wait()
			again := c.sends(m)
			if again.ID != first.ID || again.Status.State != wire.Completed || len(again.Artifacts) != 1 {
				t.Errorf("after the end it is %s under %s, not %s", again.Status.State, again.ID, first.ID)
			}
			if third := c.sends(m); !bytes.Equal(withoutTokens(t, third), withoutTokens(t, again)) {
				t.Errorf("again is %s, not %s", wire.Encode(third), wire.Encode(again))
			}
			if n := len(c.exchanges()); n != 1 || runs != 2 || d.quarantined() != 0 {
				t.Errorf("%d exchanges, %d runs, %d in quarantine", n, runs, d.quarantined())
			}
		})
	})
}

// withoutTokens is a task as text, without what differs from reading to reading.
func withoutTokens(t *testing.T, task *wire.Task) []byte {
	t.Helper()
	var all []byte
	for _, e := range agentsActs(t, task) {
		digest := e.Digest()
		all = append(all, digest[:]...)
	}
	return append(all, task.Status.State...)
}

func TestAStoreThatIsFullIsNoFaultOfTheClients(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			st := &fullStore{Store: memory.New()}
			var log bytes.Buffer
			d := newDesk(t, agent.Config{Store: st}, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, echoes(), answers(booked))
			c := d.as(planner, binding)
			st.full.Store(true)
			_, err := c.tries(carrying(t, c.opens(book, envelope.Request), seat))
			is(t, err, wire.Unavailable, "")
			_, err = c.tries(uttering("m", "hello"))
			is(t, err, wire.Unavailable, "")
			if n := strings.Count(log.String(), store.ErrFull.Error()); n != 2 || strings.Contains(err.Error(), store.ErrFull.Error()) {
				t.Errorf("the operator is told %q, the client %v", &log, err)
			}
			st.full.Store(false)
			c.sends(uttering("m", "hello"))
			if n := len(c.exchanges()); n != 1 {
				t.Errorf("there are %d exchanges", n)
			}
		})
	})
}

// fullStore has no room while it is full.
type fullStore struct {
	store.Store
	full atomic.Bool
}

func (s *fullStore) Commit(ctx context.Context, w store.WriteSet) error {
	if s.full.Load() {
		return store.ErrFull
	}
	return s.Store.Commit(ctx, w)
}
