package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
	"github.com/parley-agents/parley/store/sqlite"
)

// desk is the flights behind a server, called over HTTP by whoever a caller says
// that it is.
type desk struct {
	// late: the host has started, and goes on with its work, before it is served.
	late bool
	*serving
	t    *testing.T
	w    *wires
	file string
	cfg  Config
	opts []agent.Option
}

// byName takes callers for the agents that they say they are.
type byName struct{}

func (byName) Authenticate(r *http.Request, _ string) (*Identity, error) {
	if uri := r.Header.Get("X-Caller"); uri != "" {
		return &Identity{Scheme: "named", Subject: uri, URI: uri}, nil
	}
	return nil, nil
}

func (byName) Describe() (string, wire.SecurityScheme) {
	return "named", wire.SecurityScheme{APIKey: &wire.APIKeyScheme{Location: "header", Name: "X-Caller"}}
}

// newDesk serves the flights on a store in memory, or on one in a file.
func newDesk(t *testing.T, on agent.Config, cfg Config, opts ...agent.Option) *desk {
	t.Helper()
	d := &desk{t: t, w: newWires(), cfg: cfg, opts: opts}
	d.begin(on)
	return d
}

// onDisk is a desk whose store is a file, so that it can be restarted.
func onDisk(t *testing.T, cfg Config, opts ...agent.Option) *desk {
	t.Helper()
	d := &desk{t: t, w: newWires(), cfg: cfg, opts: opts, file: filepath.Join(t.TempDir(), "flights.db")}
	d.begin(agent.Config{})
	return d
}

func (d *desk) begin(on agent.Config) {
	d.t.Helper()
	if d.file != "" {
		st, err := sqlite.Open(d.t.Context(), d.file)
		if err != nil {
			d.t.Fatal(err)
		}
		on.Store = st
	}
	if on.Store == nil {
		on.Store = memory.New()
	}
	on.Log = slog.New(slog.DiscardHandler)
	if on.Drain == 0 {
		on.Drain = -1
	}
	cfg := d.cfg
	preset(&cfg.Log, on.Log)
	cfg.BaseURL, cfg.Authenticate, cfg.Rate = "http://flights.example", []Authenticator{byName{}}, -1
	d.serving = &serving{Host: agent.NewHost(on, agent.New("flights", d.opts...))}
	var err error
	serve := func() {
		if d.server, err = NewServer(d.Host, cfg); err != nil {
			d.t.Fatal(err)
		}
	}
	if !d.late {
		serve()
	}
	if err := d.Start(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	if d.late {
		synctest.Wait()
		serve()
	}
	d.w.serve("flights.example", d.server.Handler())
	d.t.Cleanup(func() { d.serving.end(d.t) })
}

// restart ends the host and begins another one on its file.
func (d *desk) restart() {
	d.t.Helper()
	d.end(d.t)
	d.begin(agent.Config{})
}

// caller calls the flights over one binding.
type caller struct {
	*Client
	t   *testing.T
	d   *desk
	uri string
}

// as is a caller of that name.
func (d *desk) as(uri, binding string) caller {
	d.t.Helper()
	to := wire.AgentInterface{URL: "http://flights.example/", ProtocolBinding: binding, ProtocolVersion: wire.Version}
	c, err := NewClient(to, ClientConfig{Transport: d.w, Timeout: time.Hour, Authorize: APIKey("X-Caller", uri)})
	if err != nil {
		d.t.Fatal(err)
	}
	return caller{Client: c, t: d.t, d: d, uri: uri}
}

// bindings runs a test over both.
func bindings(t *testing.T, run func(t *testing.T, binding string)) {
	t.Helper()
	for _, b := range []string{wire.JSONRPC, wire.HTTPJSON} {
		t.Run(b, func(t *testing.T) { run(t, b) })
	}
}

// call is that of a client of Parley, or of any other.
func (c caller) call(parley bool) wire.Call {
	if parley {
		return wire.Call{Extensions: []string{ExtensionURI}}
	}
	return wire.Call{}
}

// uttering is a message of some text, giving one of some data.
func uttering(id, words string) wire.Message {
	return wire.Message{MessageID: id, Role: wire.User, Parts: []wire.Part{text(words)}}
}

func giving(id, data string) wire.Message {
	return wire.Message{MessageID: id, Role: wire.User, Parts: []wire.Part{{Data: json.RawMessage(data)}}}
}

// on puts a message on a task.
func on(m wire.Message, task string) wire.Message {
	m.TaskID = task
	return m
}

// tries sends a message and asks to be answered at once.
func (c caller) tries(m wire.Message) (*wire.Task, error) {
	r, err := c.SendMessage(c.t.Context(), c.call(carriesEnvelope(m.Metadata)), &wire.SendMessageRequest{Message: m, Configuration: wire.SendConfiguration{ReturnImmediately: true}})
	if err != nil {
		return nil, err
	}
	return r.Task, nil
}

func (c caller) sends(m wire.Message) *wire.Task {
	c.t.Helper()
	task, err := c.tries(m)
	if err != nil {
		c.t.Fatalf("SendMessage: %v", err)
	}
	return task
}

func (c caller) reads(task string) *wire.Task {
	c.t.Helper()
	got, err := c.GetTask(c.t.Context(), c.call(false), &wire.GetTaskRequest{ID: task})
	if err != nil {
		c.t.Fatalf("GetTask: %v", err)
	}
	return got
}

// is fails the test unless the error is of the kind, at the field.
func is(t *testing.T, err error, kind wire.Kind, field string) *wire.Error {
	t.Helper()
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Kind != kind || e.Field != field {
		t.Errorf("got %v, want %s at %q", err, kind, field)
		return &wire.Error{}
	}
	return e
}

// opens is the header of an act of the caller's that opens a task.
func (c caller) opens(contract protocol.Declared, act envelope.Performative) envelope.Header {
	return client{t: c.t, s: &service{host: c.d.Host}, uri: c.uri}.opens(contract, act)
}

// carrying is an envelope as a message.
func carrying(t *testing.T, h envelope.Header, content string) wire.Message {
	t.Helper()
	e, err := envelope.Seal(h, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return *must(messageOf(e.Bytes(), "", wire.User))
}

// exchanges are all that the flights have with the caller.
func (c caller) exchanges() []store.Exchange {
	c.t.Helper()
	list, err := c.d.Store().Mailboxes(context.WithoutCancel(c.t.Context()), store.MailboxQuery{Owner: flights, Peer: c.uri})
	if err != nil {
		c.t.Fatal(err)
	}
	return list
}

// quarantined counts the dead letters of the flights.
func (d *desk) quarantined() int {
	d.t.Helper()
	list, err := d.Store().DeadLetters(context.WithoutCancel(d.t.Context()), flights, 100)
	if err != nil {
		d.t.Fatal(err)
	}
	return len(list)
}

// echoes is a chat that says back what it hears.
func echoes() agent.Option {
	return agent.Handle(protocol.Chat(), func(_ context.Context, said protocol.Said) (protocol.Said, error) {
		return protocol.Said{Text: "You said " + said.Text}, nil
	})
}

// asks is a chat that asks the questions one after the other, and says the
// answers.
func asks(questions ...protocol.QuestionAsked) agent.Option {
	return agent.Handle(protocol.Chat(), func(ctx context.Context, _ protocol.Said) (protocol.Said, error) {
		var all protocol.Text
		for _, q := range questions {
			a, err := agent.AskBack(ctx, q)
			if err != nil {
				return protocol.Said{}, err
			}
			all += "[" + protocol.Text(a.Choice) + a.Text + protocol.Text(a.Value) + "]"
		}
		return protocol.Said{Text: all}, nil
	})
}
