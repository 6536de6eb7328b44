package a2a

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/memory"
)

func TestWhoeverLooksSeesTheAgentItsKeyAndTheInterfaceThatIsSpoken(t *testing.T) {
	card := aCard(t, flights, keyed(1), nil)
	w := newWires()
	w.serve("flights.example", showing(func() []byte { return card }))
	const url = "http://flights.example/flights"
	s, err := Look(t.Context(), url, w.dialling(DialConfig{}))
	if err != nil || s.URI != flights || !s.Key.Equal(public(keyed(1))) || s.Card.Name != "flights" || s.Interface.URL != url {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Look(t.Context(), url, w.dialling(DialConfig{Agent: planner})); !isA[*WrongAgentError](err) {
		t.Errorf("as another agent: %v", err)
	}
	card = bytes.Replace(card, []byte("sells flights"), []byte("sells planes!"), 1)
	if _, err := Look(t.Context(), url, w.dialling(DialConfig{})); !errors.Is(err, wire.ErrSignature) {
		t.Errorf("a changed card: %v", err)
	}
	card = aCard(t, "", nil, nil)
	if s, err := Look(t.Context(), url, w.dialling(DialConfig{})); err != nil || s.URI != "" || s.Key != nil || s.Card.Name != "flights" {
		t.Errorf("an agent that knows no Parley: %+v, %v", s, err)
	}
	if _, err := Look(t.Context(), "flights", DialConfig{}); err == nil {
		t.Error("no address was looked at")
	}
}

func TestWhatIsAnsweredInsteadOfACardHasAStatus(t *testing.T) {
	w := newWires()
	w.serve("flights.example", http.NotFoundHandler())
	_, err := Look(t.Context(), "http://flights.example", w.dialling(DialConfig{}))
	if e, ok := errors.AsType[*CardError](err); !ok || e.Status != http.StatusNotFound {
		t.Errorf("%v", err)
	}
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func ExampleLook() {
	ctx := context.Background()
	h := agent.NewHost(agent.Config{Store: memory.New()}, agent.New("clerk"))
	if err := h.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer h.Stop(ctx)
	site := httptest.NewServer(Handler(h))
	defer site.Close()

	clerk, err := Look(ctx, site.URL, DialConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(clerk.URI, clerk.Interface.ProtocolBinding, clerk.Key.Equal(h.Key("agent://local/clerk")))
	// Output: agent://local/clerk JSONRPC true
}
