package envelope

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/parley-agents/parley/internal/strictjson"
)

// required lists the members that a message of each kind must have.
func required(h Header) []string {
	names := []string{
		"v", "sender", "sender_generation", "receiver", "actor", "tenant", "message_id", "conversation_id",
		"correlation_id", "hop", "timestamp", "attempt", "labels", "trace",
	}
	if h.Receipt != "" {
		names = append(names, "in_reply_to")
	} else {
		names = append(names, "schema", "content", "content_digest", "salt", "seq")
	}
	switch h.Performative {
	case Request, CFP, Propose:
		names = append(names, "capability", "reply_by")
	case Agree, Refuse, Inform, Failure:
		names = append(names, "in_reply_to")
	}
	if h.Performative == Inform {
		names = append(names, "status")
	}
	if h.Performative == Request || h.Performative == Propose {
		names = append(names, "idempotency_key")
	}
	if h.Error != nil {
		names = append(names, "error")
	}
	return names
}

func everyKind() []Header {
	var all []Header
	for _, p := range Performatives() {
		all = append(all, act(p))
	}
	for _, r := range Receipts() {
		all = append(all, receipt(r))
	}
	return all
}

func wantShape(t *testing.T, data []byte, pointer string, rules ...string) {
	t.Helper()
	_, err := Decode(data)
	var shape *ShapeError
	if !errors.As(err, &shape) {
		t.Errorf("%s: %v; want a shape error", pointer, err)
		return
	}
	ok := len(rules) == 0
	for _, rule := range rules {
		ok = ok || shape.Rule == rule
	}
	if shape.Pointer != pointer || !ok {
		t.Errorf("got %q %s (%v); want %q %v", shape.Pointer, shape.Rule, err, pointer, rules)
	}
}

func TestEveryRequiredMemberIsMissed(t *testing.T) {
	for _, h := range everyKind() {
		e := seal(t, h)
		for _, name := range required(h) {
			data := edit(t, e, func(m map[string]any) { delete(m, name) })
			wantShape(t, data, "/"+name, RuleRequired)
		}
	}
}

func TestEveryMemberRefusesNullOtherTypesAndOtherCase(t *testing.T) {
	for _, h := range append(everyKind(), full(), refusal(), fenced()) {
		e := seal(t, h)
		walk(t, e, func(path []string) {
			pointer := "/" + strings.Join(path, "/")
			if strings.HasPrefix(pointer, "/content/") || strings.HasSuffix(pointer, "/value") || len(path) > 1 && path[1] == "header" {
				return // not the envelope's to type
			}
			wantShape(t, change(t, e, path, func(any) any { return nil }), escaped(path), RuleType)
			wantShape(t, change(t, e, path, func(v any) any { return wrong(v) }), escaped(path), RuleType)
			if path[0] == "extensions" && len(path) == 2 {
				return // the scheme of a URI may have capitals
			}
			wantShape(t, edit(t, e, func(m map[string]any) {
				parent, name := at(m, path)
				parent[strings.ToUpper(name[:1])+name[1:]] = parent[name]
				delete(parent, name)
			}), upper(path))
		})
	}
}

// walk visits the path of every member of every object of an envelope.
func walk(t *testing.T, e *Envelope, visit func(path []string)) {
	t.Helper()
	var members map[string]any
	edit(t, e, func(m map[string]any) { members = maps.Clone(m) })
	var down func(prefix []string, object map[string]any)
	down = func(prefix []string, object map[string]any) {
		for name, value := range object {
			path := append(append([]string{}, prefix...), name)
			visit(path)
			if nested, ok := value.(map[string]any); ok {
				down(path, nested)
			}
		}
	}
	down(nil, members)
}

func at(members map[string]any, path []string) (parent map[string]any, name string) {
	parent = members
	for _, step := range path[:len(path)-1] {
		parent = parent[step].(map[string]any)
	}
	return parent, path[len(path)-1]
}

func change(t *testing.T, e *Envelope, path []string, f func(any) any) []byte {
	t.Helper()
	return edit(t, e, func(m map[string]any) {
		parent, name := at(m, path)
		parent[name] = f(parent[name])
	})
}

// wrong returns a value of another type.
func wrong(v any) any {
	if _, ok := v.(bool); ok {
		return 1
	}
	return true
}

func escaped(path []string) string {
	pointer := ""
	for _, step := range path {
		pointer += "/" + strictjson.Escape(step)
	}
	return pointer
}

// upper is where a member written with a capital letter is refused: as unknown, but the version and the kind of message
// are missed before that.
func upper(path []string) string {
	switch path[0] {
	case "v":
		return "/v"
	case "performative", "receipt":
		return "/performative"
	}
	last := path[len(path)-1]
	return escaped(path[:len(path)-1]) + "/" + strings.ToUpper(last[:1]) + last[1:]
}

func TestWhatIsUnknownIsRefusedEverywhere(t *testing.T) {
	for _, h := range []Header{full(), refusal(), fenced()} {
		e := seal(t, h)
		walk(t, e, func(path []string) {
			if path[0] == "content" || len(path) == 1 && path[0] == "extensions" || path[len(path)-1] == "value" {
				return
			}
			var isObject bool
			data := edit(t, e, func(m map[string]any) {
				parent, name := at(m, path)
				var nested map[string]any
				if nested, isObject = parent[name].(map[string]any); isObject {
					nested["ttl"] = 1
				}
			})
			if isObject {
				wantShape(t, data, escaped(path)+"/ttl", RuleUnknown)
			}
		})
		wantShape(t, edit(t, e, func(m map[string]any) { m["ttl"] = 1 }), "/ttl", RuleUnknown)
	}
}

func TestVersionAndKindAreJudgedBeforeAnythingElse(t *testing.T) {
	wantShape(t, []byte(`{"v":"2.0","later":1}`), "/v", RuleVersion)
	wantShape(t, []byte(`{"v":"1.0","performative":"order","content":7}`), "/performative", RuleEnum)
	wantShape(t, []byte(`{"v":"1.0","receipt":"seen"}`), "/receipt", RuleEnum)
	wantShape(t, []byte(`{"v":"1.0"}`), "/performative", RuleRequired)
	wantShape(t, []byte(`{"v":"1.0","performative":"inform","receipt":"ack"}`), "/receipt", RuleForbidden)
	wantShape(t, []byte(`{"v":"1.0","v":"1.0"}`), "/v", strictjson.RuleDuplicateKey)
	wantShape(t, []byte(`[]`), "", strictjson.RuleRoot)
	wantShape(t, []byte(`{}`), "/v", RuleRequired)
}

func TestMinorVersionsAreRead(t *testing.T) {
	e := seal(t, act(Request))
	if _, err := Decode(edit(t, e, func(m map[string]any) { m["v"] = "1.7" })); err != nil {
		t.Error(err)
	}
	for _, v := range []string{"2.0", "0.1", "1", "1.", "1.00", "v1.0", "10.0"} {
		wantShape(t, edit(t, e, func(m map[string]any) { m["v"] = v }), "/v", RuleVersion)
	}
}

func TestAnAbsentProtocolReadsAsRequestButIsNotWrittenIn(t *testing.T) {
	e := seal(t, act(Request))
	data := edit(t, e, func(m map[string]any) { delete(m, "protocol") })
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if got.Protocol() != "request/v1" || strings.Contains(string(got.Bytes()), "protocol") || got.Digest() == e.Digest() {
		t.Errorf("protocol %s in %s", got.Protocol(), got.Bytes())
	}
}

func TestUnknownOptionalExtensionsAreKeptByteByByte(t *testing.T) {
	value := `{"a":[1,2.5,null],"b":"é"}`
	e := seal(t, full())
	data := strings.Replace(string(e.Bytes()), `[1,null]`, value, 1)
	got, err := Decode([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Bytes()) != data || string(got.Header().Extensions["https://example.com/x"].Value) != value {
		t.Errorf("got %s", got.Bytes())
	}
}

func TestChangedContentIsNoticed(t *testing.T) {
	e := seal(t, act(Request))
	wantShape(t, edit(t, e, func(m map[string]any) { m["content"].(map[string]any)["to"] = "OUL" }), "/content_digest", RuleDigest)
	wantShape(t, edit(t, e, func(m map[string]any) { m["salt"] = "AAAAAAAAAAAAAAAAAAAAAA" }), "/content_digest", RuleDigest)
	wantShape(t, edit(t, e, func(m map[string]any) { m["content_digest"] = hex64 }), "/content_digest", RuleDigest)
}
