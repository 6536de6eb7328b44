package agent_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// key is the n-th of some keys.
func key(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	return ed25519.NewKeyFromSeed(seed)
}

// minted is a token for the time, of whoever has the key.
func minted(t *testing.T, k ed25519.PrivateKey, from, to string, life time.Duration) string {
	t.Helper()
	token, err := guard.Mint(k, guard.Claims{Sender: from, Receiver: to, Tenant: "local", Expires: time.Now().Add(life)})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// linked knows the planner by the n-th key.
func linked(h *agent.Host, n byte) {
	h.Connect(agent.PeerAt(post(nil), map[string]ed25519.PublicKey{uri("planner"): key(n).Public().(ed25519.PublicKey)}))
}

// pin is the key that the host has kept of the planner, nil if none.
func pin(t *testing.T, h *agent.Host) ed25519.PublicKey {
	t.Helper()
	p, err := h.Store().Pinned(t.Context(), uri("planner"))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return p.Key
}

func TestATokenProvesItsSenderUnderTheKeyThatIsKnown(t *testing.T) {
	public := func(n byte) ed25519.PublicKey { return key(n).Public().(ed25519.PublicKey) }
	for name, tt := range map[string]struct {
		linked, pinned byte // the number of the key, 0 for none
		signed         byte
		loopback       bool
		ok             bool
		kept           byte
	}{
		"a link knows it":                   {1, 0, 1, false, true, 0},
		"a link knows another":              {1, 0, 2, false, false, 0},
		"a link knows it, on loopback":      {1, 0, 1, true, true, 0},
		"a link knows another, on loopback": {1, 0, 2, true, false, 0},
		"the link's key goes over the kept": {1, 2, 1, true, true, 2},
		"the kept one does not help then":   {1, 2, 2, true, false, 2},
		"it was met with that key":          {0, 2, 2, false, true, 2},
		"it was met with another":           {0, 2, 1, false, false, 2},
		"it was met with another, loopback": {0, 2, 1, true, false, 2},
		"nobody knows it":                   {0, 0, 1, false, false, 0},
		"nobody knows it, on loopback":      {0, 0, 1, true, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := begin(t, nil, memory.New(), answers(reference))
				if tt.linked != 0 {
					linked(h, tt.linked)
				}
				if tt.pinned != 0 {
					if _, err := h.Store().Pin(t.Context(), store.Pin{URI: uri("planner"), Key: public(tt.pinned), From: "loopback", At: time.Now()}); err != nil {
						t.Fatal(err)
					}
				}
				token := minted(t, key(tt.signed), uri("planner"), uri("flights"), time.Minute)
				for range 2 { // the second time it was seen before
					sender, err := h.Identify(t.Context(), token, uri("flights"), tt.loopback)
					if (err == nil) != tt.ok || tt.ok != (sender == uri("planner")) {
						t.Errorf("Identify = %q, %v", sender, err)
					}
				}
				switch kept := pin(t, h); {
				case tt.kept == 0 && kept != nil, tt.kept != 0 && !public(tt.kept).Equal(kept):
					t.Errorf("the key %x is kept", kept)
				}
			})
		})
	}
}

func TestATokenProvesItsSenderUnderTheKeyThatTheConfigurationGives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := agent.NewHost(agent.Config{Store: memory.New(), Log: quiet(nil).Log,
			Keys: map[string]ed25519.PublicKey{uri("planner"): key(1).Public().(ed25519.PublicKey)}}, answers(reference))
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		endsWell(t, h)
		for n, want := range map[byte]bool{1: true, 2: false} {
			for _, loopback := range []bool{false, true} {
				sender, err := h.Identify(t.Context(), minted(t, key(n), uri("planner"), uri("flights"), time.Minute), uri("flights"), loopback)
				if (err == nil && sender == uri("planner")) != want {
					t.Errorf("key %d, loopback %t: %q, %v", n, loopback, sender, err)
				}
			}
		}
		if kept := pin(t, h); kept != nil {
			t.Errorf("the key %x is kept", kept)
		}
	})
}

// Whoever names somebody in a token without having signed it must not be able to
// have a key kept for that name.
func TestABadTokenProvesNothingAndKeepsNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := begin(t, nil, memory.New(), answers(reference))
		good := minted(t, key(1), uri("planner"), uri("flights"), time.Minute)
		parts := strings.Split(good, ".")
		other := strings.Split(minted(t, key(2), uri("planner"), uri("flights"), time.Minute), ".")
		for name, token := range map[string]string{
			"none":                        "",
			"garbage":                     "x.y.z",
			"one that has run out":        minted(t, key(1), uri("planner"), uri("flights"), -time.Minute),
			"one for somebody else":       minted(t, key(1), uri("planner"), uri("hotels"), time.Minute),
			"one that another key signed": parts[0] + "." + parts[1] + "." + other[2],
			"a changed claim":             parts[0] + "." + other[1] + "x." + parts[2],
			"one in the name of ours":     minted(t, key(1), uri("flights"), uri("flights"), time.Minute),
			"one of nobody":               minted(t, key(1), "planner", uri("flights"), time.Minute),
		} {
			if sender, err := h.Identify(t.Context(), token, uri("flights"), true); err == nil || sender != "" {
				t.Errorf("%s: Identify = %q, %v", name, sender, err)
			}
		}
		if kept := pin(t, h); kept != nil {
			t.Errorf("the key %x is kept", kept)
		}
		if _, err := h.Store().Pinned(t.Context(), uri("flights")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a key of an agent of ours is kept: %v", err)
		}
	})
}

func TestATokenThatWasVerifiedIsGoodOnlyForWhatItWasVerifiedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := begin(t, nil, memory.New(), answers(reference), agent.New("hotels"))
		linked(h, 1)
		token := minted(t, key(1), uri("planner"), uri("flights"), time.Minute)
		identify := func(receiver string) error {
			_, err := h.Identify(t.Context(), token, receiver, false)
			return err
		}
		if err := identify(uri("flights")); err != nil {
			t.Fatal(err)
		}
		if err := identify(uri("hotels")); err == nil {
			t.Error("it is good for another receiver")
		}
		linked(h, 2)
		if err := identify(uri("flights")); err == nil {
			t.Error("it is good under another key")
		}
		linked(h, 1)
		if err := identify(uri("flights")); err != nil {
			t.Error(err)
		}
		at(time.Minute + guard.Skew + time.Second)
		if err := identify(uri("flights")); err == nil {
			t.Error("it is good after its time")
		}
	})
}

func TestTwoWhoAreFirstMetUnderOneNameAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := begin(t, nil, memory.New(), answers(reference))
		var group sync.WaitGroup
		proved := make([]bool, 20)
		for i := range proved {
			token := minted(t, key(byte(i+1)), uri("planner"), uri("flights"), time.Minute)
			group.Go(func() {
				_, err := h.Identify(context.WithoutCancel(t.Context()), token, uri("flights"), true)
				proved[i] = err == nil
			})
		}
		group.Wait()
		kept := pin(t, h)
		for i, ok := range proved {
			if ok != key(byte(i+1)).Public().(ed25519.PublicKey).Equal(kept) {
				t.Errorf("number %d is believed: %v", i+1, ok)
			}
		}
	})
}

func TestATokenOfOursIsMadeForOneOfOurAgentsAndLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := begin(t, nil, memory.New(), answers(reference))
		if _, err := h.Token(uri("planner"), uri("hotels")); !errors.Is(err, agent.ErrUnknownPeer) {
			t.Errorf("a token of an agent that is not here: %v", err)
		}
		first, err := h.Token(uri("flights"), uri("planner"))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			after time.Duration
			same  bool
		}{{0, true}, {2*time.Minute + 29*time.Second, true}, {2 * time.Second, false}} {
			at(step.after)
			token, err := h.Token(uri("flights"), uri("planner"))
			if err != nil || (token == first) != step.same {
				t.Errorf("after %v more it is the same: %v, %v", step.after, token == first, err)
			}
			claims, err := guard.Verify(token, h.Key(uri("flights")), uri("planner"), time.Now().Add(2*time.Minute))
			if err != nil || claims.Sender != uri("flights") || claims.Tenant != "local" {
				t.Errorf("it claims %+v, %v", claims, err)
			}
		}
		if other, err := h.Token(uri("flights"), uri("hotels")); err != nil || other == first {
			t.Errorf("the token for somebody else is %q, %v", other, err)
		}
	})
}

func TestACarriersCallerCountsWhereThereIsNoToken(t *testing.T) {
	for name, tt := range map[string]struct {
		caller, token string
		ok            bool
	}{
		"a caller":                        {uri("planner"), "", true},
		"another caller":                  {uri("mallory"), "", false},
		"nobody":                          {"", "", false},
		"a token":                         {"", "good", true},
		"a token, and another caller":     {uri("mallory"), "good", true},
		"the caller, but a bad token":     {uri("planner"), "bad", false},
		"the caller, but another's token": {uri("planner"), "another's", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				flights := answers(reference)
				h := begin(t, nil, memory.New(), flights)
				linked(h, 1)
				if _, err := h.Store().Pin(t.Context(), store.Pin{URI: uri("mallory"), Key: key(2).Public().(ed25519.PublicKey), From: "loopback", At: time.Now()}); err != nil {
					t.Fatal(err)
				}
				tokens := map[string]string{"": "", "good": minted(t, key(1), uri("planner"), flights.URI(), time.Minute),
					"bad": minted(t, key(2), uri("planner"), flights.URI(), time.Minute), "another's": minted(t, key(2), uri("mallory"), flights.URI(), time.Minute)}
				head := opening(flights, flights, look.Name(), look.Protocol())
				head.Sender = uri("planner")
				e := seal(t, head, seatJSON)
				replies := takes(t, h, agent.Mail{Envelope: e.Resend(1, tokens[tt.token]).Bytes(), Caller: tt.caller, Task: "T", Mailbox: true})
				if !tt.ok {
					wantNack(t, replies, envelope.CodeAuth, "")
					if replies[0].Header().Auth != "" {
						t.Error("who proved nothing gets a token of ours")
					}
					return
				}
				wantAck(t, replies)
				if _, err := guard.Verify(replies[0].Header().Auth, h.Key(flights.URI()), uri("planner"), time.Now()); err != nil {
					t.Errorf("the answer comes with the token %q: %v", replies[0].Header().Auth, err)
				}
			})
		})
	}
}
