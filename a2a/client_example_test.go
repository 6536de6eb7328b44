package a2a_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/memory"
)

type Visit struct {
	City string `json:"city"`
}

type Forecast struct {
	Sky string `json:"sky"`
}

var Sky = protocol.Query[Visit, Forecast]("cafe.weather.sky/v1")

// onlineClerk serves a clerk, as another process would.
func onlineClerk() (url string, stop func()) {
	clerk := agent.New("clerk",
		agent.Handle(Sky, func(_ context.Context, v Visit) (Forecast, error) { return Forecast{Sky: "clear over " + v.City}, nil }),
		agent.Handle(protocol.Chat(), func(_ context.Context, s protocol.Said) (protocol.Said, error) {
			return protocol.Said{Text: "You said: " + s.Text}, nil
		}))
	host := agent.NewHost(agent.Config{Store: memory.New(), Log: slog.New(slog.DiscardHandler)}, clerk)
	if err := host.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	srv := httptest.NewServer(a2a.Handler(host))
	return srv.URL + "/clerk", func() {
		if err := host.Stop(context.Background()); err != nil {
			log.Fatal(err)
		}
		srv.Close()
	}
}

// A host's configuration says where the agents are that its own ask.
func ExampleDialer() {
	url, stop := onlineClerk()
	defer stop()
	desk := agent.New("desk", agent.Peer("clerk", url))
	host := agent.NewHost(agent.Config{Store: memory.New(), Dial: a2a.Dialer(a2a.DialConfig{})}, desk)
	if err := host.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	defer host.Stop(context.Background())
	forecast, err := agent.Ask(context.Background(), desk, "clerk", Sky, Visit{City: "Turku"})
	fmt.Println(forecast.Sky, err)
	// Output: clear over Turku <nil>
}

// What an agent says about itself is known as soon as it was dialled.
func ExampleDial() {
	url, stop := onlineClerk()
	defer stop()
	clerk, err := a2a.Dial(context.Background(), url, a2a.DialConfig{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(clerk.URI())
	for _, skill := range clerk.Card().Skills {
		fmt.Println(skill.ID, skill.Tags)
	}
	desk := agent.New("desk")
	host := agent.NewHost(agent.Config{Store: memory.New()}, desk)
	host.Connect(clerk.Link())
	if err := host.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	defer host.Stop(context.Background())
	said, err := agent.Ask(context.Background(), desk, "clerk", protocol.Chat(), protocol.Said{Text: "hello"})
	fmt.Println(said.Text, err)
	// Output:
	// agent://local/clerk
	// cafe.weather.sky/v1 [query/v1]
	// parley.chat/v1 [request/v1 effects]
	// You said: hello <nil>
}

// A client of the operations needs no host, and speaks to any agent of A2A.
func ExampleNewClient() {
	url, stop := onlineClerk()
	defer stop()
	c, err := a2a.NewClient(wire.AgentInterface{URL: url, ProtocolBinding: wire.HTTPJSON, ProtocolVersion: wire.Version}, a2a.ClientConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	hello := "hello"
	resp, err := c.SendMessage(context.Background(), wire.Call{}, &wire.SendMessageRequest{
		Message: wire.Message{MessageID: "m-1", Role: wire.User, Parts: []wire.Part{{Text: &hello}}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.Task.Status.State, *resp.Task.Artifacts[0].Parts[0].Text)
	// Output: TASK_STATE_COMPLETED You said: hello
}

// Credentials go into every request, that for the card included.
func ExampleBearer() {
	cfg := a2a.DialConfig{Client: a2a.ClientConfig{Authorize: a2a.Bearer("a-secret")}}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println(r.URL.Path, r.Header.Get("Authorization"))
	}))
	defer srv.Close()
	_, err := a2a.Dial(context.Background(), srv.URL, cfg)
	fmt.Println(err != nil)
	// Output:
	// /.well-known/agent-card.json Bearer a-secret
	// true
}

func ExampleAPIKey() {
	r := httptest.NewRequest("GET", "/", nil)
	fmt.Println(a2a.APIKey("X-API-Key", "a-secret")(r), r.Header.Get("X-API-Key"))
	// Output: <nil> a-secret
}

// With a webhook no stream is held open: the clerk tells when there is something
// to read.
func ExampleNewWebhook() {
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	defer srv.Close()
	hook := a2a.NewWebhook(srv.URL + "/told") // as agents elsewhere reach it
	mux.Handle("POST /told", hook)
	cfg := agent.Config{Store: memory.New(), Dial: a2a.Dialer(a2a.DialConfig{Webhook: hook})}
	fmt.Println(cfg.Dial != nil)
	// Output: true
}

func ExampleFingerprint() {
	fmt.Println(a2a.Fingerprint(make([]byte, 32)))
	// Output: SHA256:Zmh6rfhivXdsj8GLjp+OIAiXFIVu4jOzkCpZHQ1fKSU
}
