package a2a

import (
	"crypto/ed25519"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
)

func TestTheNamesThatAServerGivesAreThoseOfItsOwnAuthority(t *testing.T) {
	for uri, want := range map[string]bool{
		stranger:                                 true,
		"agent://local/anonymous":                true,
		ForeignURI("local", "bearer", "ann"):     true,
		planner:                                  false,
		"agent://local/x-ray":                    false,
		"agent://local/x-0123456789abcdeg":       false,
		"agent://local/x-0123456789abcdef0":      false,
		"agent://acme/x-0123456789abcdef":        false,
		"agent://localx/anonymous":               false,
		"agent://local/anonymous.and.some.other": false,
	} {
		if got := isGiven(uri, flights); got != want {
			t.Errorf("%s: %v", uri, got)
		}
	}
}

func TestNobodyProvesByATokenToBeACallerWhomTheServerHasNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s := begin(t, nil, answers(booked))
		ann := client{t, s, ForeignURI("local", "bearer", "ann")}
		x := ann.open(book, envelope.Request)
		key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // whose ever it is
		forge := func(sender string) string {
			return must(guard.Mint(key, guard.Claims{Sender: sender, Receiver: flights, Tenant: "local", Expires: s.host.Now().Add(time.Minute)}))
		}
		for _, name := range []string{ann.uri, "agent://local/anonymous"} {
			call := wire.Call{Caller: ForeignURI("local", "bearer", "bob"), Loopback: true, Token: forge(name)}
			if _, err := s.GetTask(ctx, call, &wire.GetTaskRequest{ID: x.Task}); kindOf(err) != wire.Unauthenticated {
				t.Errorf("reading as %s: %v", name, err)
			}
			if _, err := PeerTokens(s.host).Authenticate(&http.Request{Header: http.Header{headerToken: {forge(name)}}, RemoteAddr: "127.0.0.1:9"}, flights); err == nil {
				t.Errorf("%s was let in by a token", name)
			}
			h := client{t, s, name}.opens(book, envelope.Request)
			h.Auth = forge(name)
			m := must(messageOf(must(envelope.Seal(h, []byte(seat))).Bytes(), "", wire.User))
			if _, err := s.SendMessage(ctx, call, &wire.SendMessageRequest{Message: *m}); kindOf(err) != wire.Unauthenticated {
				t.Errorf("sending as %s: %v", name, err)
			}
			h.Performative, h.Schema, h.InReplyTo, h.ConversationID = envelope.Cancel, "parley.cancel/v1", x.State.Opening, x.Conversation
			h.IdempotencyKey, h.ReplyBy, h.Seq = "", time.Time{}, 2
			header := must(parted(must(envelope.Seal(h, []byte("{}"))).Bytes(), "")).metadata()
			if _, err := s.CancelTask(ctx, call, &wire.CancelTaskRequest{ID: x.Task, Metadata: header}); kindOf(err) != wire.Unauthenticated {
				t.Errorf("cancelling as %s: %v", name, err)
			}
		}
		if sender, err := s.caller(ctx, wire.Call{Loopback: true, Token: forge(planner)}); err != nil || sender != planner {
			t.Errorf("a peer that was never met is taken at its word on loopback: %q, %v", sender, err)
		}
	})
}

func TestAnAgentThatIsCalledLikeACallerIsNotServed(t *testing.T) {
	for _, name := range []string{"anonymous", "x-0123456789abcdef"} {
		_, err := newServer(Config{}, time.Now, func() string { return "" }, &served{name: name, uri: "agent://local/" + name})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatAProxyPassesOnIsNotFromThisMachine(t *testing.T) {
	var c wire.Call
	s := newSite(t, Config{}, keepCaller(&c))
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"} {
		s.ask("GET", "/tasks", "", header, "203.0.113.7").expect(t, http.StatusForbidden, wire.PermissionDenied)
	}
	open := newSite(t, Config{AllowAnonymous: true}, keepCaller(&c))
	if r := open.ask("GET", "/tasks", "", "X-Forwarded-For", "127.0.0.1"); r.StatusCode != http.StatusOK || c.Loopback {
		t.Errorf("got %d, %+v", r.StatusCode, c)
	}
}

func TestBehindAProxyNobodyIsFromThisMachine(t *testing.T) {
	var c wire.Call
	s := newSite(t, Config{Proxied: true}, keepCaller(&c))
	s.ask("GET", "/tasks", "").expect(t, http.StatusForbidden, wire.PermissionDenied)
	open := newSite(t, Config{Proxied: true, AllowAnonymous: true}, keepCaller(&c))
	if r := open.ask("GET", "/tasks", ""); r.StatusCode != http.StatusOK || c.Loopback {
		t.Errorf("got %d, %+v", r.StatusCode, c)
	}
}
