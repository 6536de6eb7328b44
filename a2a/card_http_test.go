package a2a

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
)

func keepCard(_ context.Context, _, _ string, public *wire.AgentCard) (*wire.AgentCard, error) {
	return public, nil
}

func (r reply) card(t testing.TB) wire.AgentCard {
	t.Helper()
	var c wire.AgentCard
	if err := wire.Decode([]byte(r.body), &c); err != nil {
		t.Fatalf("%d %s: %v", r.StatusCode, r.body, err)
	}
	return c
}

func TestACardSaysWhereAndHowItsAgentIsReached(t *testing.T) {
	for name, c := range map[string]struct {
		cfg        Config
		path       string
		agent, url string
	}{
		"the first agent at the root":  {Config{BaseURL: "https://x.example/a2a/"}, "", "flights", "https://x.example/a2a"},
		"the first agent by its name":  {Config{BaseURL: "https://x.example/a2a"}, "/flights", "flights", "https://x.example/a2a/flights"},
		"the second agent by its name": {Config{BaseURL: "https://x.example"}, "/hotels", "hotels", "https://x.example/hotels"},
		"without a configured URL":     {Config{Hosts: []string{"evil.example"}}, "/hotels", "hotels", "/hotels"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, c.cfg, &scripted{})
			if c.cfg.BaseURL == "" {
				c.url = s.http.URL + c.url
			}
			card := s.ask("GET", c.path+wire.CardPath, "", "A2A-Version", "", "Host", "localhost", "X-Forwarded-Host", "evil.example").card(t)
			if card.Name != c.agent || len(card.SupportedInterfaces) != 2 {
				t.Fatalf("got %+v", card)
			}
			for i, b := range []string{wire.JSONRPC, wire.HTTPJSON} {
				if want := (wire.AgentInterface{URL: c.url, ProtocolBinding: b, ProtocolVersion: "1.0"}); card.SupportedInterfaces[i] != want {
					t.Errorf("interface %d is %+v, want %+v", i, card.SupportedInterfaces[i], want)
				}
			}
			if !card.Capabilities.Streaming || !card.Capabilities.PushNotifications || card.Capabilities.ExtendedAgentCard || len(card.Capabilities.Extensions) != 1 {
				t.Errorf("got %+v", card.Capabilities)
			}
		})
	}
}

func TestTheHeaderHostChangesNothingInACard(t *testing.T) {
	s := newSite(t, Config{Hosts: []string{"evil.example"}}, &scripted{})
	if r := s.ask("GET", wire.CardPath, "", "Host", "evil.example"); r.StatusCode != http.StatusOK || strings.Contains(r.body, "evil") {
		t.Errorf("got %d %s", r.StatusCode, r.body)
	}
}

func TestACardIsKeptByItsTag(t *testing.T) {
	s := newSite(t, Config{BaseURL: "https://x.example"}, &scripted{})
	full := s.ask("GET", wire.CardPath, "")
	tag := full.Header.Get("ETag")
	if tag == "" || full.Header.Get("Cache-Control") != "public, max-age=300" || full.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("got %v", full.Header)
	}
	for _, given := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		r := s.ask("GET", wire.CardPath, "", "If-None-Match", given)
		if r.StatusCode != http.StatusNotModified || r.body != "" || r.Header.Get("ETag") != tag {
			t.Errorf("%s: %d %q", given, r.StatusCode, r.body)
		}
	}
	if r := s.ask("GET", wire.CardPath, "", "If-None-Match", `"other"`); r.StatusCode != http.StatusOK || r.body != full.body {
		t.Errorf("got %d", r.StatusCode)
	}
	if r := s.ask("GET", "/hotels"+wire.CardPath, ""); r.Header.Get("ETag") == tag {
		t.Error("two cards have one tag")
	}
	head := s.ask("HEAD", wire.CardPath, "")
	if head.StatusCode != http.StatusOK || head.body != "" || head.Header.Get("ETag") != tag || head.ContentLength != full.ContentLength {
		t.Errorf("HEAD: %d %v", head.StatusCode, head.Header)
	}
}

func TestACardIsSignedOnceForWhatItSays(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, Config{SigningKey: key, SigningKeyID: "ops", ExtendedCard: keepCard}, &scripted{})
	first, second := s.ask("GET", wire.CardPath, ""), s.ask("GET", wire.CardPath, "")
	if first.body != second.body {
		t.Error("the same card was signed anew")
	}
	for _, r := range []reply{first, s.ask("GET", "/extendedAgentCard", "")} {
		hint, err := wire.VerifyCard([]byte(r.body), func(h wire.SignatureHint) crypto.PublicKey { return key.Public() })
		if err != nil || hint.KeyID != "ops" || len(r.card(t).Signatures) != 1 {
			t.Errorf("%+v, %v: %s", hint, err, r.body)
		}
	}
}

func TestACardThatCannotBeMadeIsAnIncident(t *testing.T) {
	s := newSite(t, Config{}, &scripted{})
	s.server.agents[0].describe = func() (*wire.AgentCard, error) { return nil, errors.New("not started") }
	s.ask("GET", wire.CardPath, "").expect(t, http.StatusInternalServerError, wire.Internal)
	s.ask("GET", "/tasks", "").expect(t, http.StatusInternalServerError, wire.Internal)
	if r := s.ask("GET", "/hotels"+wire.CardPath, ""); r.StatusCode != http.StatusOK {
		t.Errorf("another agent: %d", r.StatusCode)
	}
}
