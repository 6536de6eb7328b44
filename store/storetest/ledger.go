package storetest

import (
	"errors"
	"testing"

	"github.com/parley-agents/parley/store"
)

func effects(t *testing.T, fresh func() Place) {
	s := fresh()()
	e := store.Effect{EffectKey: store.EffectKey{Recipient: alice, Sender: bob, Capability: "urn:cap:x/v1", Key: "k"},
		Fingerprint: []byte{1}, Conversation: "c", Status: store.Begun, At: at(1), ExpiresAt: at(9)}
	other := e
	other.Sender = carol
	commit(t, s, store.WriteSet{Claim: []store.Effect{e}})
	refused(t, s, store.WriteSet{Claim: []store.Effect{other, e}}, store.ErrDuplicate)
	if _, err := s.Effect(t.Context(), other.EffectKey); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("effect of a refused set: got %v, want not found", err)
	}
	commit(t, s, store.WriteSet{Effects: []store.Effect{e, other}})
	equal(t, "effect", must(s.Effect(t.Context(), e.EffectKey))(t), e)
	e.Status, e.Conversation, e.Fingerprint = store.Ended, "d", []byte{2}
	commit(t, s, store.WriteSet{Effects: []store.Effect{e}})
	equal(t, "effect written over", must(s.Effect(t.Context(), e.EffectKey))(t), e)

	commit(t, s, store.WriteSet{Release: []store.EffectKey{e.EffectKey}})
	if _, err := s.Effect(t.Context(), e.EffectKey); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("released effect: got %v, want not found", err)
	}
	equal(t, "another sender's effect", must(s.Effect(t.Context(), other.EffectKey))(t), other)
	commit(t, s, store.WriteSet{Release: []store.EffectKey{e.EffectKey}}) // releasing twice is harmless
}

func turns(t *testing.T, fresh func() Place) {
	s := fresh()()
	turn := func(owner string, ordinal int, data string) store.Turn {
		return store.Turn{Key: key(owner, "c", bob), Ordinal: ordinal, Kind: store.Called, Name: "call-1", Data: []byte(data), At: at(1)}
	}
	commit(t, s, store.WriteSet{Turns: []store.Turn{turn(alice, 2, "two"), turn(alice, 1, "one"), turn(carol, 1, "carol")}})
	refused(t, s, store.WriteSet{Turns: []store.Turn{turn(alice, 2, "again")}}, store.ErrDuplicate)
	last := turn(alice, 10, "")
	last.Kind, last.Data = store.Result, nil
	commit(t, s, store.WriteSet{Turns: []store.Turn{last}})
	equal(t, "turns", must(s.Turns(t.Context(), key(alice, "c", bob)))(t), []store.Turn{turn(alice, 1, "one"), turn(alice, 2, "two"), last})
	equal(t, "turns of another exchange", len(must(s.Turns(t.Context(), key(alice, "c", carol)))(t)), 0)
}
