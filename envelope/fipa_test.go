package envelope

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFIPAParametersAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHeader().Draw(t, "header")
		e, err := Seal(h, contentFor(h))
		if err != nil {
			t.Fatal(err)
		}
		parameters := e.FIPA()
		got, content, err := FromFIPA(parameters)
		if err != nil {
			t.Fatal(err)
		}
		want := e.Header()
		if got.Sender != want.Sender || got.Receiver != want.Receiver || got.Protocol != want.Protocol || got.Schema != want.Schema ||
			got.ConversationID != want.ConversationID || got.MessageID != want.MessageID || got.InReplyTo != want.InReplyTo ||
			!got.ReplyBy.Equal(want.ReplyBy) || string(content) != string(e.Content()) {
			t.Fatalf("read back %+v %s from %v", got, content, parameters)
		}
		// What FIPA does not have comes from the original; then the parameters are the same again.
		want.Sender, want.Receiver, want.ReplyBy = got.Sender, got.Receiver, got.ReplyBy
		again, err := Seal(want, content)
		if err != nil || !maps.Equal(again.FIPA(), parameters) {
			t.Fatalf("parameters became %v (%v)", again.FIPA(), err)
		}
	})
}

func TestAllTenFIPAParametersHaveACounterpart(t *testing.T) {
	h := full()
	got := slices.Sorted(maps.Keys(seal(t, h).FIPA()))
	want := []string{
		"content", "conversation-id", "in-reply-to", "language", "ontology", "protocol", "receiver", "reply-by", "reply-with", "sender",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestFIPAParametersWithoutACounterpartAreRefused(t *testing.T) {
	for pointer, parameters := range map[string]map[string]string{
		"/encoding": {"encoding": "fipa.acl.rep.string.std"},
		"/language": {"language": "fipa-sl0"},
		"/reply-by": {"reply-by": "20260301T120000000Z"},
	} {
		_, _, err := FromFIPA(parameters)
		var shape *ShapeError
		if !errors.As(err, &shape) || shape.Pointer != pointer {
			t.Errorf("%s: %v", pointer, err)
		}
	}
}
