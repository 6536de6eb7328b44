package a2a

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// keyed is a key that follows from a number.
func keyed(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// aCard is the card of an agent at flights.example, as change has it, signed
// afterwards with the key.
func aCard(t testing.TB, uri string, key ed25519.PrivateKey, change func(c *wire.AgentCard)) []byte {
	t.Helper()
	c := &wire.AgentCard{Name: "flights", Description: "sells flights", Version: "1",
		SupportedInterfaces: []wire.AgentInterface{{URL: "http://flights.example/flights", ProtocolBinding: wire.JSONRPC, ProtocolVersion: "1.0"}},
		DefaultInputModes:   []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"}}
	if key != nil {
		c.Capabilities.Extensions = []wire.AgentExtension{{URI: ExtensionURI, Params: wire.Metadata{
			"agent": raw(uri), "key": raw(base64.RawURLEncoding.EncodeToString(public(key))),
			"advertisement": raw(protocol.Advertisement{Agent: uri})}}}
	}
	if change != nil {
		change(c)
	}
	if key != nil {
		if err := wire.SignCard(c, key, uri); err != nil {
			t.Fatal(err)
		}
	}
	return wire.Encode(c)
}

// showing serves a text as card.
func showing(text func() []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(text())
	})
}

func TestACardIsUsedOnlyIfItIsOfTheAgentAndSignedByItAndStaysWhereItIs(t *testing.T) {
	const url = "http://flights.example/flights"
	at := func(u, binding, version string) func(*wire.AgentCard) {
		return func(c *wire.AgentCard) {
			c.SupportedInterfaces = append([]wire.AgentInterface{{URL: u, ProtocolBinding: binding, ProtocolVersion: version}}, c.SupportedInterfaces[1:]...)
		}
	}
	param := func(name string, value any) func(*wire.AgentCard) {
		return func(c *wire.AgentCard) { c.Capabilities.Extensions[0].Params[name] = raw(value) }
	}
	tampered := func(old, fresh string) func([]byte) []byte {
		return func(card []byte) []byte { return bytes.Replace(card, []byte(old), []byte(fresh), 1) }
	}
	extended := func(required bool) func(*wire.AgentCard) {
		return func(c *wire.AgentCard) {
			c.Capabilities.Extensions = append(c.Capabilities.Extensions, wire.AgentExtension{URI: "urn:needed", Required: required})
		}
	}
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	says := func(text string) func(error) bool {
		return func(err error) bool {
			_, ok := errors.AsType[*CardError](err)
			return ok && strings.Contains(err.Error(), text)
		}
	}
	elsewhere := func(err error) bool {
		e, ok := errors.AsType[*OriginError](err)
		return ok && strings.Contains(e.URL, "evil.example") && e.Origin == "http://flights.example:80"
	}
	for name, tt := range map[string]struct {
		change func(*wire.AgentCard)
		after  func([]byte) []byte
		cfg    DialConfig
		want   func(error) bool // nil if it is used
	}{
		"a good one":                    {},
		"a good one over HTTP+JSON":     {change: at(url, wire.HTTPJSON, "1.0.1")},
		"what it was changed in since":  {after: tampered("sells flights", "sells planes!"), want: is(wire.ErrSignature)},
		"a member that was added since": {after: tampered(`{"name"`, `{"x":1,"name"`), want: is(wire.ErrSignature)},
		"none who signed it": {after: func(c []byte) []byte {
			before, rest, _ := bytes.Cut(c, []byte(`,"signatures":[`))
			_, rest, _ = bytes.Cut(rest, []byte("]"))
			return append(before, rest...)
		}, want: is(wire.ErrUnsigned)},
		"a key that is none":  {change: param("key", "AAAA"), want: says("want an Ed25519 public key")},
		"another's key":       {change: param("key", base64.RawURLEncoding.EncodeToString(public(keyed(2)))), want: is(wire.ErrSignature)},
		"a name that is none": {change: param("agent", "flights"), want: says("agent uri")},
		"another agent": {cfg: DialConfig{Agent: planner}, want: func(err error) bool {
			e, ok := errors.AsType[*WrongAgentError](err)
			return ok && e.Asked == planner && e.Found == flights
		}},
		"an advertisement of another":   {change: param("advertisement", protocol.Advertisement{Agent: planner}), want: says("it is of " + planner)},
		"an advertisement that is none": {change: param("advertisement", 7), want: says("advertisement")},
		"a pinned key":                  {cfg: DialConfig{Pins: map[string]ed25519.PublicKey{flights: public(keyed(1))}}},
		"another key than the pinned": {cfg: DialConfig{Pins: map[string]ed25519.PublicKey{flights: public(keyed(2))}}, want: func(err error) bool {
			e, ok := errors.AsType[*KeyChangedError](err)
			return ok && e.Known == Fingerprint(public(keyed(2))) && e.Shown == Fingerprint(public(keyed(1)))
		}},
		"an interface elsewhere":           {change: at("http://evil.example/", wire.JSONRPC, "1.0"), want: elsewhere},
		"an interface at another port":     {change: at("http://flights.example:81/", wire.JSONRPC, "1.0"), want: func(err error) bool { _, ok := errors.AsType[*OriginError](err); return ok }},
		"an interface of another scheme":   {change: at("https://flights.example/", wire.JSONRPC, "1.0"), want: func(err error) bool { _, ok := errors.AsType[*OriginError](err); return ok }},
		"an allowed interface elsewhere":   {change: at("http://evil.example/", wire.JSONRPC, "1.0"), cfg: DialConfig{Origins: []string{"http://EVIL.example"}}},
		"an interface of an older version": {change: at(url, wire.JSONRPC, "0.3"), want: says("no interface")},
		"an interface that is not spoken":  {change: at(url, "GRPC", "1.0"), want: says("no interface")},
		"an interface with a password":     {change: at("http://me:pw@flights.example/", wire.JSONRPC, "1.0"), want: says("no interface")},
		"the second of two interfaces": {change: func(c *wire.AgentCard) {
			c.SupportedInterfaces = append([]wire.AgentInterface{{URL: "http://evil.example/", ProtocolBinding: wire.JSONRPC, ProtocolVersion: "1.0"}}, c.SupportedInterfaces...)
		}},
		"Parley's own that it requires": {change: func(c *wire.AgentCard) { c.Capabilities.Extensions[0].Required = true }},
		"an extension that it likes":    {change: extended(false)},
		"an extension that it requires": {change: extended(true), want: func(err error) bool {
			e, ok := errors.AsType[*ExtensionError](err)
			return ok && e.URI == "urn:needed" && says("urn:needed")(err)
		}},
		"a required one that is offered": {change: extended(true), cfg: DialConfig{Client: ClientConfig{Extensions: []string{"urn:needed"}}}},
		"no card at all":                 {after: func([]byte) []byte { return []byte("hello") }, want: says("")},
	} {
		t.Run(name, func(t *testing.T) {
			card := aCard(t, flights, keyed(1), tt.change)
			if tt.after != nil {
				card = tt.after(card)
			}
			w := newWires()
			w.serve("flights.example", showing(func() []byte { return card }))
			p, err := Dial(t.Context(), url, w.dialling(tt.cfg))
			if tt.want == nil {
				if err != nil || p.URI() != flights || p.Card().Name != "flights" {
					t.Errorf("Dial = %v, %v", p, err)
				}
				return
			}
			if err == nil || !tt.want(err) {
				t.Errorf("Dial = %v", err)
			}
		})
	}
}

func TestAForeignAgentIsDialledOnlyIfThatIsAllowedAndItHasAName(t *testing.T) {
	w := newWires()
	w.serve("flights.example", showing(func() []byte { return aCard(t, "", nil, nil) }))
	dial := func(cfg DialConfig) error {
		_, err := Dial(t.Context(), "http://flights.example", w.dialling(cfg))
		return err
	}
	if err := dial(DialConfig{Agent: flights}); !errors.Is(err, ErrForeign) {
		t.Errorf("not allowed: %v", err)
	}
	if err := dial(DialConfig{Foreign: true}); !errors.Is(err, errNameless) {
		t.Errorf("without a name: %v", err)
	}
	if err := dial(DialConfig{Foreign: true, Agent: flights}); err != nil {
		t.Error(err)
	}
	pins := map[string]ed25519.PublicKey{flights: public(keyed(1))}
	if e, ok := errors.AsType[*KeyChangedError](dial(DialConfig{Foreign: true, Agent: flights, Pins: pins})); !ok || e.Agent != flights || e.Shown != "" {
		t.Errorf("one that should have a key and shows none: %v", e)
	}
}

func TestWhatIsNoAddressIsNotDialled(t *testing.T) {
	const secret = "xyzzy-4711"
	for _, url := range []string{"", "flights.example", "ftp://flights.example", "http://", "http://me@flights.example", "http://flights.example?x=1", "http://flights.example#x", "http://\x00",
		"http://me:" + secret + "@flights.example", "http://me:" + secret + "/@flights.example", "http://me:" + secret + "@flights.example:x", "http://me:%" + secret + "@flights.example"} {
		_, err := Dial(t.Context(), url, DialConfig{})
		if _, ok := errors.AsType[*AddressError](err); !ok {
			t.Errorf("%q: %v", url, err)
		}
		if strings.Contains(fmt.Sprint(err), secret[:2]) {
			t.Errorf("it tells a password: %v", err)
		}
		if _, err := Dialer(DialConfig{})(t.Context(), flights, url); err == nil {
			t.Errorf("%q has a link", url)
		}
	}
	if _, err := Dialer(DialConfig{})(t.Context(), "flights", "http://flights.example"); err == nil {
		t.Error("a bare name has a link")
	}
}

// pinnedAt is a store in which the flights have a key.
func pinnedAt(t *testing.T, key ed25519.PublicKey) store.Store {
	t.Helper()
	st := memory.New()
	if _, err := st.Pin(t.Context(), store.Pin{URI: flights, Key: key, From: "http://elsewhere", At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}); err != nil {
		t.Fatal(err)
	}
	return st
}

func TestAnAgentWhoseKeyHasChangedIsNotSpokenToUntilTheOldOneIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		calls := 0
		w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(func(ctx context.Context) (Booking, error) {
			calls++
			return booked(ctx)
		})))
		st := pinnedAt(t, public(keyed(9)))
		host, planner := w.asking(t, st, w.dialling(DialConfig{}))
		_, err := agent.Ask(t.Context(), planner, "flights", book, Seat{"AY121"}, within(20*time.Second))
		if err == nil || calls > 0 {
			t.Errorf("it was asked: %v", err)
		}
		letters, err := st.DeadLetters(t.Context(), host.Agents()[0], 1)
		if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason+letters[0].LastError, Fingerprint(public(keyed(9)))) || !strings.Contains(letters[0].LastError, "forget the known key") {
			t.Errorf("the operator is told %+v, %v", letters, err)
		}
		if err := st.Unpin(t.Context(), flights); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got, err := agent.Ask(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Minute)); err != nil || got.Reference != "R1" {
			t.Errorf("Ask = %v, %v", got, err)
		}
		if pin, err := st.Pinned(t.Context(), flights); err != nil || pin.From != "http://flights.example/flights" {
			t.Errorf("pinned %+v, %v", pin, err)
		}
	})
}

func TestACardThatLosesOrChangesItsKeyWhileAHostRunsEndsTheAcquaintance(t *testing.T) {
	for name, fresh := range map[string]func(t *testing.T) []byte{
		"another key": func(t *testing.T) []byte { return aCard(t, flights, keyed(2), nil) },
		"no key":      func(t *testing.T) []byte { return aCard(t, flights, nil, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWires()
				card := aCard(t, flights, keyed(1), nil)
				w.serve("flights.example", showing(func() []byte { return card }))
				host := w.start(t, agent.Config{}, "planner.example", agent.New("planner"))
				p, err := Dial(t.Context(), "http://flights.example/flights", w.dialling(DialConfig{Foreign: true, Agent: flights}))
				if err != nil {
					t.Fatal(err)
				}
				host.Connect(p.Link())
				synctest.Wait()
				if got := p.key(flights); !public(keyed(1)).Equal(got) {
					t.Fatalf("the key is %x", got)
				}
				card = fresh(t)
				time.Sleep(6 * time.Minute)
				if got := p.key(flights); got != nil {
					t.Errorf("the key is %x", got)
				}
				_, err = p.ready(t.Context(), host.Host)
				if changed, ok := errors.AsType[*KeyChangedError](err); !ok || changed.Known != Fingerprint(public(keyed(1))) || (changed.Shown == "") != (name == "no key") {
					t.Errorf("it is known: %v", err)
				}
				if err := host.Store().Unpin(t.Context(), flights); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if k := p.now(); k == nil || k.foreign() != (name == "no key") {
					t.Errorf("after the key was forgotten it is %+v", k)
				}
			})
		})
	}
}

func TestACardIsReadAgainFromTimeToTimeAndOnlyIfItHasChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		var mu sync.Mutex
		text, reads, same := aCard(t, flights, keyed(1), nil), 0, 0
		w.serve("flights.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			tag := `"` + string(text[len(text)-20:len(text)-10]) + `"`
			rw.Header().Set("ETag", tag)
			rw.Header().Set("Content-Type", "application/json")
			if r.Header.Get("If-None-Match") == tag {
				same++
				rw.WriteHeader(http.StatusNotModified)
				return
			}
			reads++
			rw.Write(text)
		}))
		host := w.start(t, agent.Config{}, "planner.example", agent.New("planner"))
		link, err := Dialer(w.dialling(DialConfig{}))(t.Context(), flights, "http://flights.example/flights")
		if err != nil {
			t.Fatal(err)
		}
		host.Connect(link)
		time.Sleep(16 * time.Minute)
		mu.Lock()
		if reads != 1 || same != 3 {
			t.Errorf("it was read %d times, and was the same %d times", reads, same)
		}
		text = aCard(t, flights, keyed(1), func(c *wire.AgentCard) { c.Description = "sells more" })
		mu.Unlock()
		time.Sleep(5 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if reads != 2 {
			t.Errorf("the new one was read %d times", reads-1)
		}
	})
}

// The server of the agent waits for them when it is to end.
func TestAHostThatStopsLeavesNoConnectionOpen(t *testing.T) {
	var server *httptest.Server
	server = httptest.NewUnstartedServer(showing(func() []byte {
		return aCard(t, flights, keyed(1), func(c *wire.AgentCard) { c.SupportedInterfaces[0].URL = server.URL })
	}))
	closed := make(chan struct{}, 1)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	host := agent.NewHost(agent.Config{Store: memory.New()}, agent.New("planner"))
	if err := host.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := Dial(t.Context(), server.URL, DialConfig{})
	if err != nil {
		t.Fatal(err)
	}
	host.Connect(p.Link())
	if err := host.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(time.Minute): // the client's own time for it is longer
		t.Error("the connection is still open")
	}
}

func TestTheCardOfAnAgentSaysWhatItAnswersAlwaysInTheSameWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		host := w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(booked), agent.Handle(look, func(context.Context, Seat) (Booking, error) {
			return Booking{}, nil
		}), agent.Handle(protocol.Chat(), func(_ context.Context, s protocol.Said) (protocol.Said, error) { return s, nil })))
		var texts []string
		for range 3 {
			card, err := describe(host.Host, flights, About{})
			if err == nil {
				err = signCard(host.Host, flights, card)
			}
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(wire.Encode(card)))
		}
		if texts[0] != texts[1] || texts[1] != texts[2] {
			t.Error("the cards differ")
		}
		p, err := Dial(t.Context(), "http://flights.example/flights", w.dialling(DialConfig{}))
		if err != nil {
			t.Fatal(err)
		}
		var skills []string
		for _, s := range p.Card().Skills {
			skills = append(skills, s.ID+" "+strings.Join(s.Tags, ",")+" "+strings.Join(s.InputModes, ","))
		}
		equal(t, "skills", skills, []string{"acme.flight.book/v1 request/v1,effects application/json", "acme.flight.look/v1 query/v1 application/json",
			"parley.chat/v1 request/v1,effects text/plain"})
		var schemas map[string]json.RawMessage
		if err := json.Unmarshal(p.Card().Capabilities.Extensions[0].Params["schemas"], &schemas); err != nil || !strings.Contains(string(schemas["acme.flight.book/v1"]), `"flight"`) {
			t.Errorf("schemas %v, %v", schemas, err)
		}
		if ad, ok := p.advertised(flights); !ok || len(ad.Contracts) != 3 || ad.Agent != flights {
			t.Errorf("it advertises %+v", ad)
		}
		if p.key(flights) != nil {
			t.Error("a key counts that no host has compared")
		}
	})
}

func FuzzReadCard(f *testing.F) {
	f.Add(aCard(f, flights, keyed(1), nil))
	f.Add(aCard(f, flights, nil, nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := readCard(text, []string{"http://flights.example:80"})
		if err != nil {
			return
		}
		if _, bad := newClient(r.use, ClientConfig{}, nil); bad != nil {
			t.Errorf("its interface cannot be used: %v", bad)
		}
		if _, bad := envelope.ParseURI(r.agent); r.agent != "" && (bad != nil || len(r.key) != ed25519.PublicKeySize) {
			t.Errorf("it is of %q with the key %x", r.agent, r.key)
		}
	})
}
