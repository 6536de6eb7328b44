package envelope

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

func TestResendKeepsIdentityAndDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHeader().Draw(t, "header")
		e, err := Seal(h, contentFor(h))
		if err != nil {
			t.Fatal(err)
		}
		attempt := rapid.IntRange(1, 99).Draw(t, "attempt")
		again := e.Resend(attempt, token)
		decoded, err := Decode(again.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if again.Digest() != e.Digest() || decoded.Digest() != e.Digest() || again.ID() != e.ID() {
			t.Fatalf("digest %s became %s", e.Digest(), again.Digest())
		}
		want := e.Header()
		want.Attempt, want.Auth = attempt, token
		if got := decoded.Header(); got.Attempt != attempt || got.Auth != token || again.Attempt() != attempt || again.Auth() != token {
			t.Fatalf("resent %+v", got)
		}
		if same, err := Seal(want, e.Content()); err != nil || !bytes.Equal(same.Bytes(), again.Bytes()) {
			t.Fatalf("resent %s; want %s (%v)", again.Bytes(), same.Bytes(), err)
		}
	})
}

func TestWithoutAuthKeepsEverythingElse(t *testing.T) {
	e := seal(t, full())
	got := e.WithoutAuth()
	if bytes.Contains(got.Bytes(), []byte(token)) || got.Auth() != "" || got.Attempt() != 3 || got.Digest() != e.Digest() {
		t.Errorf("left %s", got.Bytes())
	}
	if !bytes.Equal(got.Resend(3, token).Bytes(), e.Bytes()) {
		t.Error("more than auth was lost")
	}
	if got := e.Resend(0, "no\ntoken"); got.Auth() != "" || got.Attempt() != 1 {
		t.Errorf("kept auth %q, attempt %d", got.Auth(), got.Attempt())
	}
}

func TestDigestFollowsEveryMemberButThoseLeftOut(t *testing.T) {
	changes := map[string]any{
		"v": "1.1", "performative": "cfp", "protocol": "other/v1", "schema": "acme.other/v1", "sender": "agent://acme/other",
		"sender_generation": 5, "receiver": "agent://acme/other", "actor": "user:other", "capability": "urn:cap:acme.other/v1",
		"message_id": id(91), "conversation_id": id(92), "in_reply_to": id(93), "causation_id": id(94), "correlation_id": "other",
		"seq": 9, "hop": 9, "timestamp": "2027-01-01T00:00:00Z", "reply_by": "2027-01-01T00:00:00Z", "idempotency_key": "other",
		"priority": "low", "retry_policy": map[string]any{"max_attempts": 1, "backoff": 1, "jitter": "none"},
		"gather": map[string]any{"id": "other"}, "labels": map[string]any{"integrity": "web"}, "provenance": map[string]any{},
		"group":      map[string]any{"id": "other", "size": 1, "members_digest": hex64},
		"extensions": map[string]any{"urn:x:y": map[string]any{"mandatory": false, "value": 1}},
		// These do not count.
		"attempt": 9, "auth": "a.b.c", "trace": map[string]any{"traceparent": strings.Replace(traceparent, "4", "5", 1)},
		"signatures": []any{},
	}
	neutral := []string{"attempt", "auth", "trace", "signatures"}
	e := seal(t, full())
	edit(t, e, func(m map[string]any) {
		for name := range m {
			if name == "tenant" || name == "content" || name == "salt" || name == "content_digest" {
				continue // they change only together with another member, below
			}
			value, ok := changes[name]
			if !ok {
				t.Errorf("no change of %s is tried", name)
				continue
			}
			got, err := Decode(edit(t, e, func(m map[string]any) { m[name] = value }))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if same := got.Digest() == e.Digest(); same != slices.Contains(neutral, name) {
				t.Errorf("digest unchanged by %s: %v", name, same)
			}
		}
	})
	for name, change := range map[string]func(h *Header) []byte{
		"content": func(*Header) []byte { return []byte(`{"to":"OUL"}`) },
		"salt":    func(h *Header) []byte { h.Salt = make([]byte, 16); return contentFor(*h) },
		"tenant":  func(h *Header) []byte { h.Sender, h.Tenant = "agent://other/planner", ""; return contentFor(*h) },
	} {
		h := full()
		content := change(&h)
		got, err := Seal(h, content)
		if err != nil || got.Digest() == e.Digest() {
			t.Errorf("digest unchanged by %s (%v)", name, err)
		}
	}
}

func TestDigestFollowsTheMembersOfOtherKinds(t *testing.T) {
	problem := map[string]any{"code": "auth", "retriable": false}
	for _, c := range []struct {
		from  Header
		name  string
		value any
	}{
		{refusal(), "error", problem},
		{receipt(Nack), "error", problem},
		{receipt(Nack), "receipt", "not-understood"},
		{receipt(Ack), "in_reply_to", id(90)},
		{fenced(), "fence", map[string]any{"id": "f-1", "proposed": "BLOCKED"}},
		{fenced(), "status", "partial"},
	} {
		e := seal(t, c.from)
		got, err := Decode(edit(t, e, func(m map[string]any) { m[c.name] = c.value }))
		if err != nil || got.Digest() == e.Digest() {
			t.Errorf("digest unchanged by %s (%v)", c.name, err)
		}
	}
}

func TestDigestIsOverTheReceivedTreeWhateverItsForm(t *testing.T) {
	e := seal(t, full())
	pretty := edit(t, e, func(map[string]any) {})
	pretty = bytes.ReplaceAll(pretty, []byte(`,"`), []byte(" ,\n\t\""))
	got, err := Decode(pretty)
	if err != nil || got.Digest() != e.Digest() || !bytes.Equal(got.Bytes(), e.Bytes()) {
		t.Errorf("other white space changed the digest (%v)", err)
	}
	kept, err := jcs.Transform(edit(t, e, func(m map[string]any) {
		for _, name := range []string{"attempt", "auth", "trace", "signatures", "content", "salt"} {
			delete(m, name)
		}
	}))
	if err != nil || sha256.Sum256(kept) != e.Digest() {
		t.Errorf("digest %s is not that of %s (%v)", e.Digest(), kept, err)
	}
}

func TestDigestTextIsReadBack(t *testing.T) {
	d := seal(t, act(Request)).Digest()
	if got, err := ParseDigest(d.String()); err != nil || got != d {
		t.Errorf("got %s, %v", got, err)
	}
	for _, s := range []string{"", "00", strings.ToUpper(d.String()), d.String() + "00", strings.Repeat("zz", 32)} {
		if _, err := ParseDigest(s); err == nil && s != d.String() {
			t.Errorf("%q is read", s)
		}
	}
}
