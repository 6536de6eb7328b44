package guard_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
)

// edited is the message's bytes after a change to its members.
func edited(t testing.TB, m message, change func(members map[string]any)) []byte {
	t.Helper()
	members := map[string]any{}
	if err := json.Unmarshal(m.seal(t).Bytes(), &members); err != nil {
		t.Fatal(err)
	}
	change(members)
	data, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func set(name string, value any) func(map[string]any) {
	return func(members map[string]any) { members[name] = value }
}

func without(name string) func(map[string]any) {
	return func(members map[string]any) { delete(members, name) }
}

func TestAFaultOfBytesLeavesNobodyToAnswer(t *testing.T) {
	good := string(say(1, planner, "request").seal(t).Bytes())
	for name, c := range map[string]struct{ data, pointer string }{
		"nothing":               {"", ""},
		"no JSON":               {"hello", ""},
		"an array":              {"[]", ""},
		"cut off":               {good[:len(good)-9], ""},
		"two documents":         {good + good, ""},
		"a byte order mark":     {"\ufeff" + good, ""},
		"no UTF-8":              {strings.Replace(good, "AY121", "\xff", 1), "/content/flight"},
		"a key twice":           {strings.Replace(good, `"hop":`, `"hop":0,"hop":`, 1), "/hop"},
		"a key in another case": {strings.Replace(good, `"hop":`, `"Hop":0,"hop":`, 1), "/hop"},
		"too deep":              {strings.Replace(good, `"AY121"`, strings.Repeat("[", 40)+strings.Repeat("]", 40), 1), ""},
		"a number too large":    {strings.Replace(good, `"hop":0`, `"hop":9007199254740993`, 1), "/hop"},
		"a control character":   {strings.Replace(good, "AY121", "\\u0000", 1), "/content/flight"},
		"half a surrogate pair": {strings.Replace(good, "AY121", "\\ud800", 1), "/content/flight"},
		"too large":             {strings.Replace(good, "AY121", strings.Repeat("A", 400<<10), 1), ""},
	} {
		e, err := guard.Open([]byte(c.data))
		if e != nil {
			t.Fatalf("%s: opened", name)
		}
		got := verdictOf(t, err)
		if c.pointer == "" {
			c.pointer = got.pointer
		}
		if want := (verdict{"bytes", guard.Unreadable, validation, "malformed", c.pointer}); got != want {
			t.Errorf("%s: %+v", name, got)
		}
		if err.(*guard.Violation).Want == "" || err.(*guard.Violation).Err == nil {
			t.Errorf("%s: %v says nothing", name, err)
		}
	}
}

func TestAFaultOfShapeIsToldToTheSender(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(map[string]any)
		pointer string
	}{
		"no version":                {without("v"), "/v"},
		"no kind":                   {without("performative"), "/performative"},
		"two kinds":                 {set("receipt", "ack"), "/receipt"},
		"a ninth performative":      {set("performative", "not-understood"), "/performative"},
		"an unknown member":         {set("mood", "good"), "/mood"},
		"a null":                    {set("capability", nil), "/capability"},
		"no content":                {without("content"), "/content"},
		"content of another type":   {set("content", []any{}), "/content"},
		"content of another digest": {set("content", map[string]any{"flight": "AY122"}), "/content_digest"},
		"no key for an effect":      {without("idempotency_key"), "/idempotency_key"},
		"no deadline":               {without("reply_by"), "/reply_by"},
		"a time in another zone":    {set("reply_by", "2026-03-01T12:00:00+02:00"), "/reply_by"},
		"no number":                 {without("seq"), "/seq"},
		"number zero":               {set("seq", 0), "/seq"},
		"a receiver that is none":   {set("receiver", "flights"), "/receiver"},
		"another tenant":            {set("tenant", "globex"), "/tenant"},
		"an id in upper case":       {set("message_id", strings.ToUpper(id(0xabc))), "/message_id"},
		"a negative depth":          {set("hop", -1), "/hop"},
		"an integrity of its own":   {set("labels", map[string]any{"integrity": "root"}), "/labels/integrity"},
		"a mandatory extension":     {set("extensions", map[string]any{"https://x.example/y": map[string]any{"mandatory": true, "value": 1}}), "/extensions/https:~1~1x.example~1y"},
	} {
		_, err := guard.Open(edited(t, say(1, planner, "request"), c.change))
		if got, want := verdictOf(t, err), (verdict{"shape", guard.Deny, validation, "malformed", c.pointer}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestANewerEnvelopeVersionIsUnsupported(t *testing.T) {
	_, err := guard.Open(edited(t, say(1, planner, "request"), set("v", "2.0")))
	if got, want := verdictOf(t, err), (verdict{"shape", guard.Deny, validation, "unsupported-version", "/v"}); got != want {
		t.Errorf("%+v", got)
	}
}

func TestWithoutASenderThereIsNobodyToAnswer(t *testing.T) {
	for _, change := range []func(map[string]any){without("sender"), set("sender", "planner"), set("sender", 7)} {
		_, err := guard.Open(edited(t, say(1, planner, "request"), change))
		if got, want := verdictOf(t, err), (verdict{"shape", guard.Unreadable, validation, "malformed", "/sender"}); got != want {
			t.Errorf("%+v", got)
		}
	}
}

func TestAGoodEnvelopeIsOpenedAsItWasSealed(t *testing.T) {
	sealed := say(1, planner, "request").seal(t)
	e, err := guard.Open(sealed.Bytes())
	if err != nil || e.Digest() != sealed.Digest() {
		t.Errorf("%v", err)
	}
}

func TestWhatIsToldAboutIdentityHasNoDetail(t *testing.T) {
	v := view(planner, nil)
	v.Caller = hotels
	bad, ok := errors.AsType[*guard.Violation](guard.Admit(v, say(1, planner, "request").seal(t)))
	if !ok {
		t.Fatal("admitted")
	}
	bad.Pointer, bad.Want = "/sender", "somebody else"
	told := bad.Told()
	if told.Code != envelope.CodeAuth || told.Reason != "" || told.Detail != nil || told.Retriable {
		t.Errorf("%+v", told)
	}
	if bad.Unwrap() == nil || !strings.Contains(bad.Error(), "rule identity: auth") {
		t.Errorf("%v", bad)
	}
}

func TestWhatIsToldPointsAtTheFault(t *testing.T) {
	bad := &guard.Violation{Rule: "content", Code: validation, Reason: "schema", Pointer: "/content/a", Want: "b", Got: "c", RetryAfter: time.Second}
	told := bad.Told()
	if told.Detail == nil || *told.Detail != (envelope.Detail{Pointer: "/content/a", Rule: "content", Want: "b", Got: "c"}) || told.RetryAfter != time.Second {
		t.Errorf("%+v", told)
	}
	if text := bad.Error(); text != "message refused by rule content: validation (schema) at /content/a, expected b, got c" {
		t.Error(text)
	}
}

func TestAFaultInSomethingLongCanStillBeTold(t *testing.T) {
	long := say(1, planner, "request", content(`{"flight":"AY1","`+strings.Repeat("é", 3000)+`":1}`))
	err := guard.Admit(view(planner, nil), long.seal(t))
	bad, ok := errors.AsType[*guard.Violation](err)
	if !ok || bad.Answer != guard.Misread {
		t.Fatalf("%v", err)
	}
	bad.Want = strings.Repeat("é", 3000)
	r := say(2, flights, "not-understood")
	r.Error = bad.Told()
	r.seal(t)
}

func FuzzOpen(f *testing.F) {
	f.Add(say(1, planner, "request").seal(f).Bytes())
	f.Add(say(2, flights, "not-understood").seal(f).Bytes())
	f.Add([]byte(`{"sender":"agent://acme/planner"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := guard.Open(data)
		if (e == nil) != (err != nil) {
			t.Fatalf("%v, %v", e, err)
		}
		if err == nil {
			if got := guard.Admit(view(planner, nil), e); got != nil {
				verdictOf(t, got)
			}
			return
		}
		if got := verdictOf(t, err); got.code != validation || got.answer != guard.Deny && got.answer != guard.Unreadable {
			t.Errorf("%+v", got)
		}
	})
}
