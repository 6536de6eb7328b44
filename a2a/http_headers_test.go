package a2a

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
)

func TestExtensionsThatTheAgentKnowsAreActivatedAndEchoed(t *testing.T) {
	var c wire.Call
	s := newSite(t, Config{}, keepCaller(&c))
	for asked, want := range map[string]string{"": "", "urn:known": "urn:known", "urn:other": "", "urn:other, urn:known ,urn:third": "urn:known"} {
		for _, r := range []reply{
			s.ask("GET", "/tasks", "", wire.ExtensionsHeader, asked),
			s.rpc("/", wire.ListTasks, `{}`, wire.ExtensionsHeader, asked),
			s.ask("GET", "/tasks/t:subscribe", "", wire.ExtensionsHeader, asked),
		} {
			if got := r.Header.Get(wire.ExtensionsHeader); got != want || strings.Join(c.Extensions, ",") != want {
				t.Errorf("asked for %q: echoed %q, called with %q", asked, got, c.Extensions)
			}
		}
	}
}

// changed is a scripted server whose first agent's card is changed first.
func changed(t *testing.T, cfg Config, change func(*wire.AgentCard)) *site {
	t.Helper()
	s := newSite(t, cfg, &scripted{})
	first := s.server.agents[0]
	describe := first.describe
	first.describe = func() (*wire.AgentCard, error) {
		card, err := describe()
		change(card)
		return card, err
	}
	return s
}

func TestAnExtensionThatTheAgentRequiresMustBeAskedFor(t *testing.T) {
	s := changed(t, Config{}, func(c *wire.AgentCard) { c.Capabilities.Extensions[0].Required = true })
	s.ask("GET", "/tasks", "").expect(t, http.StatusBadRequest, wire.ExtensionSupportRequired)
	if e := s.rpc("/", wire.ListTasks, `{}`, wire.ExtensionsHeader, "urn:other").expect(t, http.StatusOK, wire.ExtensionSupportRequired); e.Info["extension"] != "urn:known" {
		t.Errorf("got %+v", e)
	}
	if r := s.ask("GET", "/tasks", "", wire.ExtensionsHeader, "urn:known"); r.StatusCode != http.StatusOK {
		t.Errorf("got %d", r.StatusCode)
	}
}

func TestTheCardSaysWhatElseTheAgentsKnowAndRequire(t *testing.T) {
	s := newSite(t, Config{Extensions: []wire.AgentExtension{{URI: "urn:liked"}, {URI: "urn:needed", Required: true}}}, &scripted{})
	var card struct {
		Capabilities struct{ Extensions []wire.AgentExtension }
	}
	r := s.ask("GET", wire.CardPath, "")
	if err := json.Unmarshal([]byte(r.body), &card); err != nil {
		t.Fatal(err)
	}
	if x := card.Capabilities.Extensions; len(x) != 3 || x[0].URI != "urn:known" || x[1].URI != "urn:liked" || x[1].Required || x[2].URI != "urn:needed" || !x[2].Required {
		t.Errorf("the card has %+v", x)
	}
	if e := s.ask("GET", "/tasks", "", wire.ExtensionsHeader, "urn:liked,urn:known").expect(t, http.StatusBadRequest, wire.ExtensionSupportRequired); e.Info["extension"] != "urn:needed" {
		t.Errorf("got %+v", e)
	}
	if r := s.ask("GET", "/tasks", "", wire.ExtensionsHeader, "urn:needed, urn:other, urn:liked"); r.StatusCode != http.StatusOK || r.Header.Get(wire.ExtensionsHeader) != "urn:liked,urn:needed" {
		t.Errorf("got %d, activated %q", r.StatusCode, r.Header.Get(wire.ExtensionsHeader))
	}
}

func TestAnExtensionHasAURIOfItsOwn(t *testing.T) {
	h := agent.NewHost(agent.Config{}, agent.New("clerk"))
	for _, uris := range [][]string{{""}, {ExtensionURI}, {"urn:a", "urn:b", "urn:a"}, {"urn:a,b"}, {" urn:a"}, {"urn:\x01"}} {
		var cfg Config
		for _, uri := range uris {
			cfg.Extensions = append(cfg.Extensions, wire.AgentExtension{URI: uri})
		}
		if _, err := NewServer(h, cfg); err == nil || !strings.Contains(err.Error(), strconv.Quote(uris[len(uris)-1])) {
			t.Errorf("%q: got %v", uris, err)
		}
	}
}

func TestWhatTheCardDoesNotOfferIsRefused(t *testing.T) {
	s := newSite(t, Config{NoPush: true, NoStreams: true}, &scripted{called: func(m wire.Method, _ wire.Call, _ wire.Object) { t.Errorf("%s was called", m) }})
	refused := map[wire.Method]wire.Kind{
		wire.CreatePushConfig: wire.PushNotificationNotSupported, wire.GetPushConfig: wire.PushNotificationNotSupported,
		wire.ListPushConfigs: wire.PushNotificationNotSupported, wire.DeletePushConfig: wire.PushNotificationNotSupported,
		wire.GetExtendedAgentCard: wire.UnsupportedOperation, wire.SendStreamingMessage: wire.UnsupportedOperation,
		wire.SubscribeToTask: wire.UnsupportedOperation,
	}
	if r := s.ask("GET", wire.CardPath, ""); strings.Contains(r.body, `"streaming":true`) {
		t.Errorf("its card is %s", r.body)
	}
	for _, op := range operations {
		if kind := refused[op.method]; kind != "" {
			s.rpc("/", op.method, op.params).expect(t, http.StatusOK, kind)
			s.ask(op.verb, op.path, op.restBody).expect(t, http.StatusBadRequest, kind)
		}
	}
	withPush := strings.TrimSuffix(aMessage, "}") + `,"configuration":{"taskPushNotificationConfig":{"url":"https://hook.example"}}}`
	s = newSite(t, Config{NoPush: true}, &scripted{})
	for _, path := range []string{"/message:send", "/message:stream"} {
		s.ask("POST", path, withPush).expect(t, http.StatusBadRequest, wire.PushNotificationNotSupported)
	}
	if r := newSite(t, Config{}, &scripted{}).ask("POST", "/message:send", withPush); r.StatusCode != http.StatusOK {
		t.Errorf("with push: %d %s", r.StatusCode, r.body)
	}
}

func TestAnExtendedCardThatThereIsNotIsNotConfigured(t *testing.T) {
	cfg := Config{ExtendedCard: func(_ context.Context, agent, caller string, public *wire.AgentCard) (*wire.AgentCard, error) {
		if agent == "agent://local/hotels" && caller == "agent://local/anonymous" {
			public.Description = "for you"
			return public, nil
		}
		return nil, nil
	}}
	s := newSite(t, cfg, &scripted{})
	s.ask("GET", "/extendedAgentCard", "").expect(t, http.StatusBadRequest, wire.ExtendedCardNotConfigured)
	if r := s.ask("GET", "/hotels/extendedAgentCard", ""); !strings.Contains(r.body, "for you") {
		t.Errorf("got %s", r.body)
	}
	if r := s.ask("GET", "/hotels"+wire.CardPath, ""); strings.Contains(r.body, "for you") {
		t.Errorf("everybody sees %s", r.body)
	}
}

func TestATraceContextThatIsOneReachesTheAgent(t *testing.T) {
	var c wire.Call
	s := newSite(t, Config{}, keepCaller(&c))
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for given, want := range map[string]string{
		good: good, "": "", "garbage": "", strings.ToUpper(good): "", good + "-00": "", "ff" + good[2:]: "",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": "", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01": "",
	} {
		s.ask("GET", "/tasks", "", "Traceparent", given, "Tracestate", "a=1", "Tracestate", "b=2")
		state := ""
		if want != "" {
			state = "a=1,b=2"
		}
		if c.Traceparent != want || c.Tracestate != state {
			t.Errorf("%q: %q, %q", given, c.Traceparent, c.Tracestate)
		}
	}
	s.ask("GET", "/tasks", "", "Traceparent", good, "Tracestate", strings.Repeat("x", 513))
	if c.Traceparent != good || c.Tracestate != "" {
		t.Errorf("a long state: %q, %q", c.Traceparent, c.Tracestate)
	}
}

func TestAPeersTokenReachesTheAgent(t *testing.T) {
	var c wire.Call
	s := newSite(t, Config{}, keepCaller(&c))
	s.rpc("/", wire.ListTasks, `{}`, "Parley-Token", "tok")
	if c.Token != "tok" {
		t.Errorf("got %+v", c)
	}
}

func TestEveryAnswerIsHardened(t *testing.T) {
	s := newSite(t, Config{}, &scripted{})
	seen := []string{}
	for _, r := range []reply{
		s.ask("GET", "/tasks", ""), s.ask("GET", "/nowhere", ""), s.rpc("/", "Dance", `{}`),
		s.ask("GET", "/tasks/t:subscribe", ""), s.ask("GET", "/tasks", "", "Host", "evil.example"),
	} {
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Referrer-Policy": "no-referrer"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", r.Request.URL, name, got)
			}
		}
		id := r.Header.Get("X-Request-Id")
		if id == "" || slices.Contains(seen, id) {
			t.Errorf("%s has the id %q", r.Request.URL, id)
		}
		seen = append(seen, id)
	}
}

func TestHeadersAreLookedUpAsNetHTTPHasThem(t *testing.T) {
	for key, name := range map[string]string{keyVersion: wire.VersionHeader, keyExtensions: wire.ExtensionsHeader, keyLastEvent: headerLastEvent,
		headerToken: headerToken, headerRequestID: headerRequestID} {
		if want := http.CanonicalHeaderKey(name); key != want {
			t.Errorf("%s is looked up as %s, want %s", name, key, want)
		}
	}
	h := http.Header{"Server": {"x"}}
	putHeaders(h, "A", "1", "B", "2")
	h.Add("A", "3")
	if got := strings.Join(slices.Concat(h["A"], h["B"], h["Server"]), ","); got != "1,3,2,x" {
		t.Errorf("got %s", got)
	}
}
