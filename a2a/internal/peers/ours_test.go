package peers

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/sqlite"
)

// Addition is what the desk adds up.
type Addition struct {
	A int `json:"a"`
	B int `json:"b"`
}

// Sum is what comes of it.
type Sum struct {
	Sum int `json:"sum"`
}

// Echo is what the desk gives back as it is.
type Echo struct {
	Echo []string `json:"echo" jsonschema:"maxLength=50000"`
}

func echo() protocol.Contract[Echo, Echo] {
	return protocol.Request[Echo, Echo]("peers.text.echo/v1")
}

func add() protocol.Contract[Addition, Sum] {
	return protocol.Request[Addition, Sum]("peers.sum.add/v1")
}

// ours is Parley's server: an agent on a host whose store is a file. It stays at
// one address when it is started again.
type ours struct {
	t    *testing.T
	file string
	addr string
	url  string
	gate *gate

	host *agent.Host
	stop func()
}

// gate is what the desk waits at when it is told to wait. It outlives the host.
type gate struct {
	once sync.Once
	open chan struct{}
}

func (g *gate) lift() { g.once.Do(func() { close(g.open) }) }

// start starts our server, which ends with the test.
func start(t *testing.T) *ours {
	t.Helper()
	o := &ours{t: t, file: filepath.Join(t.TempDir(), "desk.db"), addr: "127.0.0.1:0", gate: &gate{open: make(chan struct{})}}
	o.up()
	t.Cleanup(o.down)
	return o
}

// restart ends the server and its host, without waiting for work in hand, and
// starts them again on the same file.
func (o *ours) restart() {
	o.t.Helper()
	o.down()
	o.up()
}

func (o *ours) up() {
	o.t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(ctx, o.file)
	if err != nil {
		o.t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	o.host = agent.NewHost(agent.Config{Store: s, Log: quiet, Drain: -1}, o.desk())
	if err := o.host.Start(ctx); err != nil {
		o.t.Fatal(err)
	}
	ln, err := net.Listen("tcp", o.addr)
	if err != nil {
		o.t.Fatal(err)
	}
	o.addr = ln.Addr().String()
	o.url = "http://" + o.addr
	server, err := a2a.NewServer(o.host, a2a.Config{BaseURL: o.url, AllowPrivateWebhooks: true, Rate: -1, Log: quiet, ExtendedCard: extended})
	if err != nil {
		o.t.Fatal(err)
	}
	ended := make(chan error, 1)
	web := &http.Server{Handler: server.Handler()}
	go func() { ended <- web.Serve(ln) }()
	o.stop = sync.OnceFunc(func() {
		web.Close()
		<-ended
		server.Close()
		if err := o.host.Stop(ctx); err != nil {
			o.t.Error(err)
		}
	})
}

func (o *ours) down() { o.stop() }

// extended is what the desk says about itself to those it knows: all the world,
// here.
func extended(_ context.Context, _, _ string, public *wire.AgentCard) (*wire.AgentCard, error) {
	public.Description = "the desk, and more"
	return public, nil
}

// desk is an agent that does what the text says.
func (o *ours) desk() *agent.Agent {
	return agent.New("desk",
		agent.Handle(protocol.Chat(), o.talk),
		agent.Handle(add(), func(_ context.Context, in Addition) (Sum, error) { return Sum{Sum: in.A + in.B}, nil }),
		agent.Handle(echo(), func(_ context.Context, in Echo) (Echo, error) { return in, nil }),
	)
}

func (o *ours) talk(ctx context.Context, in protocol.Said) (protocol.Said, error) {
	switch in.Text {
	case "wait":
		if err := agent.Agree(ctx); err != nil {
			return protocol.Said{}, err
		}
		select {
		case <-o.gate.open:
			return protocol.Said{Text: "it was lifted"}, nil
		case <-ctx.Done():
			return protocol.Said{}, ctx.Err()
		}
	case "ask":
		a, err := agent.AskBack(ctx, protocol.QuestionAsked{Text: "which city?"})
		return protocol.Said{Text: "you said " + a.Text}, err
	case "fail":
		return protocol.Said{}, agent.Fail(envelope.CodePermanent, "no-luck")
	case "refuse":
		return protocol.Said{}, agent.Refuse(envelope.CodePermanent, "not-today")
	}
	return protocol.Said{Text: in.Text + " to you"}, nil
}
