package envelope

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/internal/strictjson"
	"pgregory.net/rapid"
)

func TestSealedBytesDecodeToTheSameEnvelope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHeader().Draw(t, "header")
		e, err := Seal(h, contentFor(h))
		if err != nil {
			t.Fatalf("seal: %v", err)
		}
		again, err := Decode(e.Bytes())
		if err != nil {
			t.Fatalf("decode: %v", err)
		}
		if !reflect.DeepEqual(e, again) {
			t.Fatalf("decoded %+v, sealed %+v", again, e)
		}
		resealed, err := Seal(again.Header(), again.Content())
		if err != nil || string(resealed.Bytes()) != string(e.Bytes()) {
			t.Fatalf("sealed again: %s (%v), first %s", resealed.Bytes(), err, e.Bytes())
		}
	})
}

func TestEveryMemberSurvivesTheWire(t *testing.T) {
	for _, h := range []Header{full(), refusal(), fenced(), receipt(NotUnderstood)} {
		e := seal(t, h)
		h.fill()
		h.V, h.ContentDigest = Version, e.Header().ContentDigest
		if got := e.Header(); !reflect.DeepEqual(got, h) {
			t.Errorf("got  %+v\nwant %+v", got, h)
		}
	}
}

func TestSealFillsWhatFollowsFromTheRest(t *testing.T) {
	h := act(Request)
	h.Protocol = ""
	h.ContentDigest = "stale"
	got := seal(t, h).Header()
	if got.V != "1.0" || got.Protocol != "request/v1" || got.Actor != planner || got.Tenant != "acme" || got.Attempt != 1 {
		t.Errorf("filled %+v", got)
	}
	if want := contentDigest(h.Salt, []byte(`{"from":"LHR","to":"HEL"}`)); got.ContentDigest != want {
		t.Errorf("content digest %s; want %s", got.ContentDigest, want)
	}
}

func TestWaitsAreRoundedUpToMilliseconds(t *testing.T) {
	h := refusal()
	h.Error.RetryAfter = time.Microsecond
	if got := seal(t, h).Header().Error.RetryAfter; got != time.Millisecond {
		t.Errorf("retry after %v", got)
	}
}

func TestTimesAreWrittenInUTC(t *testing.T) {
	h := act(Request)
	h.Timestamp = noon.In(time.FixedZone("", 3600))
	if got := seal(t, h).Header().Timestamp; got != noon {
		t.Errorf("timestamp %v", got)
	}
}

func TestSealRefusesWhatDecodeWould(t *testing.T) {
	for name, change := range map[string]func(*Header){
		"/timestamp":            func(h *Header) { h.Timestamp = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"/seq":                  func(h *Header) { h.Seq = -1 },
		"/attempt":              func(h *Header) { h.Attempt = -1 },
		"/hop":                  func(h *Header) { h.Hop = -1 },
		"/salt":                 func(h *Header) { h.Salt = h.Salt[:15] },
		"/priority":             func(h *Header) { h.Priority = "urgent" },
		"/provenance/model":     func(h *Header) { h.Provenance = &Provenance{Model: "\xff"} },
		"/provenance/prompt":    func(h *Header) { h.Provenance = &Provenance{Prompt: "a\x00b"} },
		"/retry_policy/backoff": func(h *Header) { h.RetryPolicy = &RetryPolicy{MaxAttempts: 1, Backoff: -time.Second, Jitter: "none"} },
		"/retry_policy/jitter":  func(h *Header) { h.RetryPolicy = &RetryPolicy{MaxAttempts: 1} },
		"/signatures/0/header": func(h *Header) {
			h.Signatures = []Signature{{Protected: "e30", Signature: "c2ln", Header: json.RawMessage(`[]`)}}
		},
		"/extensions/urn:x:y/value": func(h *Header) {
			h.Extensions = map[string]Extension{"urn:x:y": {}}
		},
		"/extensions/urn:x:y/value/a": func(h *Header) {
			h.Extensions = map[string]Extension{"urn:x:y": {Value: json.RawMessage(`{"a":1,"a":2}`)}}
		},
		"/extensions/urn:x:y": func(h *Header) {
			h.Extensions = map[string]Extension{"urn:x:y": {Mandatory: true, Value: json.RawMessage(`1`)}}
		},
	} {
		h := act(Request)
		change(&h)
		_, err := Seal(h, []byte(`{}`))
		var shape *ShapeError
		if !errors.As(err, &shape) || shape.Pointer != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSealRefusesContentThatIsNoStrictObject(t *testing.T) {
	for _, content := range []string{``, `[]`, `null`, `{"a":1,"A":2}`, `{"a":9007199254740992}`, `{`} {
		_, err := Seal(act(Request), []byte(content))
		var shape *ShapeError
		if !errors.As(err, &shape) || !strings.HasPrefix(shape.Pointer, "/content") {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := Seal(act(Request), nil); err == nil {
		t.Error("an act without content was sealed")
	}
	if _, err := Seal(receipt(Ack), []byte(`{}`)); err == nil {
		t.Error("a receipt with content was sealed")
	}
}

func TestContentMayFillItsOwnLimits(t *testing.T) {
	deep := `{"a":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`
	wide := `{"a":["` + strings.Repeat("x", 64<<10) + `"` + strings.Repeat(`,"`+strings.Repeat("y", 60<<10)+`"`, 3) + `]}`
	for _, content := range []string{deep, wide} {
		e, err := Seal(full(), []byte(content))
		if err != nil {
			t.Fatalf("%.20s: %v", content, err)
		}
		if string(e.Content()) != content {
			t.Errorf("%.20s changed", content)
		}
	}
	var strict *strictjson.Error
	if _, err := Decode(slices.Concat([]byte(`{`), make([]byte, 400<<10))); !errors.As(err, &strict) || strict.Rule != strictjson.RuleBytes {
		t.Errorf("a long document: %v", err)
	}
}

func TestNothingHandedOutReachesTheEnvelope(t *testing.T) {
	for _, h := range []Header{full(), refusal(), fenced()} {
		content := []byte(`{"to":"HEL"}`)
		given := h.clone()
		e, err := Seal(given, content)
		if err != nil {
			t.Fatal(err)
		}
		before := string(e.Bytes())
		twin, err := Decode(e.Bytes()) // shares nothing with e
		if err != nil {
			t.Fatal(err)
		}
		scribble(reflect.ValueOf(&given).Elem())
		clear(content)
		out := e.Header()
		scribble(reflect.ValueOf(&out).Elem())
		clear(e.Content())
		clear(e.Bytes())
		resent := e.Resend(9, token).Header()
		scribble(reflect.ValueOf(&resent).Elem())
		if string(e.Bytes()) != before || string(e.Content()) != `{"to":"HEL"}` || !reflect.DeepEqual(e, twin) {
			t.Errorf("envelope changed to %s", e.Bytes())
		}
	}
}

// scribble overwrites everything that can be reached from v without replacing pointers, slices or maps.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if x, ok := v.MapIndex(key).Interface().(Extension); ok {
				clear(x.Value)
			}
			v.SetMapIndex(key, reflect.Value{})
		}
	default:
		v.SetZero()
	}
}
