package parley_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/memory"
)

// What stands between the marks is README.md's.

// readme: serve

type City struct {
	Name string `json:"name"`
}

type Sky struct {
	Sky string `json:"sky"`
}

var Weather = protocol.Query[City, Sky]("acme.weather.now/v1")

func look(_ context.Context, c City) (Sky, error) { return Sky{"clear over " + c.Name}, nil }

func serve(ctx context.Context, addr string) error {
	clerk := agent.New("clerk", agent.Handle(Weather, look))
	return parley.Serve(ctx, addr, clerk) // addr is such as "localhost:8080"; until ctx ends
}

// readme: ask

func ask(ctx context.Context, url string) (Sky, error) {
	planner := agent.New("planner", agent.Peer("clerk", url))
	host, err := parley.Start(ctx, planner)
	if err != nil {
		return Sky{}, err
	}
	defer host.Stop(ctx)
	return agent.Ask(ctx, planner, "clerk", Weather, City{"Oulu"})
}

// readme: mount

func mount(host *agent.Host, mux *http.ServeMux, app *echo.Echo) error {
	server, err := a2a.NewServer(host, a2a.Config{
		BaseURL: "https://shop.example/agents",
		Authenticate: []a2a.Authenticator{
			a2a.PeerTokens(host), // agents of other Parley hosts
			a2a.BearerTokens(a2a.Secrets(map[string]string{"s3cret": "ann"})),
		},
	})
	if err != nil {
		return err
	}
	handler := http.StripPrefix("/agents", server.Handler())
	mux.Handle("/agents", handler) // in net/http: the first agent's JSON-RPC, without this a redirect
	mux.Handle("/agents/", handler)
	server.Mount(app.Group("/agents")) // in echo
	return nil
}

// readme: reach

func reach(ctx context.Context, host *agent.Host, url string) error {
	clerk, err := a2a.Dial(ctx, url, a2a.DialConfig{Client: a2a.ClientConfig{Authorize: a2a.Bearer("s3cret")}})
	if err != nil {
		return err
	}
	host.Connect(clerk.Link()) // before the host starts
	return nil
}

// readme: stream

func stream(ctx context.Context, url, text string) error {
	seen, err := a2a.Look(ctx, url, a2a.DialConfig{})
	if err != nil {
		return err
	}
	client, err := a2a.NewClient(seen.Interface, a2a.ClientConfig{})
	if err != nil {
		return err
	}
	events, err := client.SendStreamingMessage(ctx, wire.Call{}, &wire.SendMessageRequest{
		Message: wire.Message{MessageID: "1", Role: wire.User, Parts: []wire.Part{{Text: &text}}},
	})
	if err != nil {
		return err
	}
	for e, err := range events {
		if err != nil {
			return err
		}
		if task := e.Response.Task; task != nil { // what was there when the stream began
			for _, made := range task.Artifacts {
				fmt.Println(*made.Parts[0].Text)
			}
		}
		if made := e.Response.ArtifactUpdate; made != nil {
			fmt.Println(*made.Artifact.Parts[0].Text)
		}
	}
	return nil
}

// readme: end

func TestTheREADMEsServerIsAskedByItsAgent(t *testing.T) {
	addr := freeAddr(t)
	t.Setenv("PARLEY_PEERS", "")
	t.Setenv("PARLEY_DB", filepath.Join(t.TempDir(), "clerk.db"))
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, addr) }()
	waitFor(t, addr)
	t.Setenv("PARLEY_DB", filepath.Join(t.TempDir(), "planner.db"))
	if sky, err := ask(t.Context(), "http://"+addr); err != nil || sky.Sky != "clear over Oulu" {
		t.Errorf("%+v, %v", sky, err)
	}
	traveller := agent.New("traveller")
	host := agent.NewHost(agent.Config{Store: memory.New(), Log: slog.New(slog.DiscardHandler)}, traveller)
	if err := reach(t.Context(), host, "http://"+addr); err != nil {
		t.Fatal(err)
	}
	if err := host.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sky, err := agent.Ask(t.Context(), traveller, "clerk", Weather, City{"Turku"}); err != nil || sky.Sky != "clear over Turku" {
		t.Errorf("dialled: %+v, %v", sky, err)
	}
	if err := host.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// waitFor returns when somebody listens at the address.
func waitFor(t *testing.T, addr string) {
	t.Helper()
	for try := time.NewTicker(10 * time.Millisecond); ; <-try.C {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
			return
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

func TestTheREADMEsServerIsMountedTwiceAndAsksForCredentials(t *testing.T) {
	host := agent.NewHost(agent.Config{Store: memory.New(), Log: slog.New(slog.DiscardHandler)}, agent.New("clerk", agent.Handle(Weather, look)))
	if err := host.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer host.Stop(context.WithoutCancel(t.Context()))
	mux, app := http.NewServeMux(), echo.New()
	if err := mount(host, mux, app); err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]http.Handler{"net/http": mux, "echo": app} {
		for token, want := range map[string]int{"": http.StatusUnauthorized, "Bearer guess": http.StatusUnauthorized, "Bearer s3cret": http.StatusOK} {
			r := httptest.NewRequest(http.MethodGet, "https://shop.example/agents/clerk/tasks", nil)
			r.Header.Set(wire.VersionHeader, wire.Version)
			r.Header.Set("Authorization", token)
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != want {
				t.Errorf("in %s with %q: %d, want %d: %s", name, token, w.Code, want, w.Body)
			}
		}
	}
}

// Any A2A agent can be followed; this one repeats what it is told.
func Example_stream() {
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Setenv("PARLEY_DB", filepath.Join(dir, "parley.db"))
	ctx := context.Background()
	host, err := parley.Start(ctx, agent.New("parrot", agent.Handle(protocol.Chat(), func(_ context.Context, s protocol.Said) (protocol.Said, error) {
		return s, nil
	})))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer host.Stop(ctx)
	site := httptest.NewServer(a2a.Handler(host))
	defer site.Close()
	fmt.Println(stream(ctx, site.URL, "Hello!"))
	// Output:
	// Hello!
	// <nil>
}
