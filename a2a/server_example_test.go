package a2a_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/memory"
)

type City struct {
	Name string `json:"name"`
}

type Weather struct {
	Sky string `json:"sky"`
}

var Look = protocol.Query[City, Weather]("acme.weather.look/v1")

// clerks is a host of one agent that knows the weather.
func clerks(ctx context.Context) (h *agent.Host, stop func()) {
	clerk := agent.New("clerk", agent.Handle(Look, func(context.Context, City) (Weather, error) { return Weather{"clear"}, nil }))
	h = agent.NewHost(agent.Config{Store: memory.New()}, clerk)
	if err := h.Start(ctx); err != nil {
		log.Fatal(err)
	}
	return h, func() {
		if err := h.Stop(ctx); err != nil {
			log.Fatal(err)
		}
	}
}

// fetch reads what is at a URL.
func fetch(url string, headers ...string) string {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		log.Fatal(err)
	}
	r.Header.Set(wire.VersionHeader, wire.Version)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}

func ExampleHandler() {
	h, stop := clerks(context.Background())
	defer stop()
	site := httptest.NewServer(a2a.Handler(h))
	defer site.Close()

	card := fetch(site.URL + "/.well-known/agent-card.json")
	fmt.Println(card[:3], strings.Contains(card, "acme.weather.look/v1"))
	fmt.Println(fetch(site.URL + "/clerk/tasks"))
	// Output:
	// 200 true
	// 200 {"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}
}

// A server with authentication may listen where other machines reach it.
func ExampleNewServer() {
	h, stop := clerks(context.Background())
	defer stop()
	srv, err := a2a.NewServer(h, a2a.Config{
		BaseURL:      "https://agents.example",
		Hosts:        []string{"127.0.0.1"},
		Authenticate: []a2a.Authenticator{a2a.BearerTokens(a2a.Secrets(map[string]string{"s3cret": "ann"})), a2a.PeerTokens(h)},
		About:        map[string]a2a.About{"clerk": {Description: "Knows the weather."}},
	})
	if err != nil {
		log.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- srv.Serve(ctx, ln) }()

	url := "http://" + ln.Addr().String()
	fmt.Println(strings.Contains(fetch(url+"/.well-known/agent-card.json"), `"url":"https://agents.example"`))
	fmt.Println(fetch(url + "/tasks")[:3])
	fmt.Println(fetch(url+"/tasks", "Authorization", "Bearer s3cret")[:3])
	cancel()
	fmt.Println(<-ended)
	// Output:
	// true
	// 401
	// 200
	// <nil>
}

// A server can be a part of an application on echo, behind its middleware.
func ExampleServer_Mount() {
	h, stop := clerks(context.Background())
	defer stop()
	srv, err := a2a.NewServer(h, a2a.Config{BaseURL: "https://shop.example/agents"})
	if err != nil {
		log.Fatal(err)
	}
	app := echo.New()
	app.GET("/", func(c echo.Context) error { return c.String(http.StatusOK, "the shop") })
	srv.Mount(app.Group("/agents"))
	site := httptest.NewServer(app)
	defer site.Close()

	fmt.Println(fetch(site.URL + "/"))
	fmt.Println(fetch(site.URL + "/agents/tasks/none")[:3])
	// Output:
	// 200 the shop
	// 404
}

// A server can be a part of an application on net/http.
func ExampleServer_Handler() {
	h, stop := clerks(context.Background())
	defer stop()
	srv, err := a2a.NewServer(h, a2a.Config{BaseURL: "https://shop.example/agents"})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	handler := http.StripPrefix("/agents", srv.Handler())
	mux.Handle("/agents", handler)
	mux.Handle("/agents/", handler)
	site := httptest.NewServer(mux)
	defer site.Close()
	site.Config.RegisterOnShutdown(srv.Close)

	fmt.Println(fetch(site.URL + "/agents/clerk/tasks/none")[:3])
	// Output: 404
}

func ExampleServer_Serve() {
	h, stop := clerks(context.Background())
	defer stop()
	srv, err := a2a.NewServer(h, a2a.Config{})
	if err != nil {
		log.Fatal(err)
	}
	err = srv.ListenAndServe(context.Background(), "0.0.0.0:0")
	_, exposed := errors.AsType[*a2a.ExposedError](err)
	fmt.Println(exposed)
	// Output: true
}

func ExampleForeignURI() {
	fmt.Println(a2a.ForeignURI("acme", "bearer", "ann"))
	// Output: agent://acme/x-2d95a74a1e78deef
}
