package envelope

import (
	"maps"
	"strings"
	"testing"
)

// TestShapeRules changes one member of a valid message and names the refusal; a rule of "" is none.
func TestShapeRules(t *testing.T) {
	long := strings.Repeat("x", 5<<10)
	for _, c := range []struct {
		from          Header
		path          string
		value         any // nil deletes
		rule, pointer string
	}{
		{act(Request), "protocol", "request", RuleGrammar, ""},
		{act(Request), "protocol", "Request/v1", RuleGrammar, ""},
		{act(Request), "protocol", "request/v0", RuleGrammar, ""},
		{act(Request), "protocol", "contract-net/v12", "", ""},
		{act(Request), "schema", "flight/v1", RuleGrammar, ""},
		{act(Request), "schema", "acme.flight.search", RuleGrammar, ""},
		{act(Request), "schema", "acme.Flight.search/v1", RuleGrammar, ""},
		{act(Request), "schema", "acme..search/v1", RuleGrammar, ""},
		{act(Request), "schema", "acme.flight.search.result/v2.1", "", ""},
		{act(Request), "schema", "acme." + strings.Repeat("a", 256) + "/v1", RuleGrammar, ""},
		{act(Request), "content_digest", strings.ToUpper(hex64), RuleGrammar, ""},
		{act(Request), "content_digest", "sha256:" + hex64, RuleGrammar, ""},
		{act(Request), "salt", "AAAAAAAAAAAAAAAAAAAAAA==", RuleGrammar, ""},
		{act(Request), "salt", "AAAAAAAAAAAAAAAAAAAAAB", RuleGrammar, ""},
		{act(Request), "salt", "AAAA\nAAAAAAAAAAAAAAAAAA", RuleGrammar, ""},
		{act(Request), "salt", "AAAA", RuleRange, ""},
		{act(Request), "status", "final", RuleForbidden, ""},
		{act(Inform), "status", "done", RuleEnum, ""},
		{act(Request), "error", map[string]any{"code": "auth", "retriable": false}, RuleForbidden, ""},
		{receipt(Ack), "error", map[string]any{"code": "auth", "retriable": false}, RuleForbidden, ""},
		{act(Cancel), "error", map[string]any{"code": "auth", "retriable": false}, RuleForbidden, ""},
		{act(Failure), "error", map[string]any{"retriable": false}, RuleRequired, "/error/code"},
		{act(Failure), "error", map[string]any{"code": "auth"}, RuleRequired, "/error/retriable"},
		{act(Failure), "error", map[string]any{"code": "odd", "retriable": false}, RuleEnum, "/error/code"},
		{act(Failure), "error", map[string]any{"code": "auth", "retriable": true}, RuleMismatch, "/error/retriable"},
		{act(Failure), "error", map[string]any{"code": "capacity", "retriable": false}, RuleMismatch, "/error/retriable"},
		{act(Failure), "error", map[string]any{"code": "transient", "retriable": true, "retry_after": 0}, "", ""},
		{act(Failure), "error", map[string]any{"code": "auth", "retriable": false, "reason": "Not a word"}, RuleGrammar, "/error/reason"},
		{refusal(), "error.retry_after", -1, RuleRange, ""},
		{refusal(), "error.retry_after", 1.5, RuleType, ""},
		{refusal(), "error.retry_after", int64(1) << 52, RuleRange, ""},
		{refusal(), "error.detail.got", long, RuleRange, ""},

		{act(Request), "sender", "Planner", RuleGrammar, ""},
		{act(Request), "sender", "agent://acme", RuleGrammar, ""},
		{act(Request), "sender", "user:anna", RuleGrammar, ""},
		{act(Request), "sender", "agent://other/planner", RuleMismatch, "/tenant"},
		{act(Request), "sender_generation", 0, RuleRange, ""},
		{act(Request), "receiver", "agent://acme/a/b", RuleGrammar, ""},
		{act(Request), "receiver", []any{flights}, RuleType, ""},
		{act(Request), "actor", "user:anna", "", ""},
		{act(Request), "actor", "user:", RuleGrammar, ""},
		{act(Request), "actor", "anna", RuleGrammar, ""},
		{act(Request), "tenant", "skyline", RuleMismatch, ""},
		{act(Request), "tenant", "ACME", RuleGrammar, ""},
		{act(Request), "auth", token, "", ""},
		{act(Request), "auth", "secret", RuleGrammar, ""},
		{act(Request), "auth", "", RuleRange, ""},
		{act(Request), "auth", "a.b." + long, RuleGrammar, ""},
		{act(Request), "capability", "acme.flight.search/v2", RuleGrammar, ""},
		{act(Agree), "capability", "urn:cap:acme.flight.search/v2", "", ""},
		{full(), "group.size", 0, RuleRange, ""},
		{full(), "group.members_digest", "x", RuleGrammar, ""},
		{full(), "group.id", nil, RuleRequired, ""},

		{act(Request), "message_id", strings.ToUpper(id(1)), RuleGrammar, ""},
		{act(Request), "message_id", "{" + id(1) + "}", RuleGrammar, ""},
		{act(Request), "conversation_id", "urn:uuid:" + id(2), RuleGrammar, ""},
		{act(Inform), "in_reply_to", "1", RuleGrammar, ""},
		{act(Request), "in_reply_to", id(9), "", ""},
		{act(Request), "causation_id", "1", RuleGrammar, ""},
		{act(Request), "correlation_id", strings.Repeat("x", 129), RuleGrammar, ""},
		{act(Request), "correlation_id", "é", RuleGrammar, ""},
		{act(Request), "seq", 0, RuleRange, ""},
		{act(Request), "seq", 1.5, RuleType, ""},
		{act(Request), "hop", -1, RuleRange, ""},
		{act(Request), "hop", int64(1) << 40, RuleRange, ""},
		{act(Request), "hop", 7, "", ""},
		{receipt(Ack), "seq", 1, RuleForbidden, ""},
		{receipt(Ack), "schema", "parley.ack/v1", RuleForbidden, ""},
		{receipt(Ack), "content", map[string]any{}, RuleForbidden, ""},
		{receipt(Ack), "salt", "AAAAAAAAAAAAAAAAAAAAAA", RuleForbidden, ""},
		{receipt(Nack), "content_digest", hex64, RuleForbidden, ""},
		{receipt(Nack), "status", "final", RuleForbidden, ""},

		{act(Request), "timestamp", "2026-03-01T12:00:00+00:00", RuleGrammar, ""},
		{act(Request), "timestamp", "2026-03-01 12:00:00Z", RuleGrammar, ""},
		{act(Request), "timestamp", "2026-02-30T12:00:00Z", RuleGrammar, ""},
		{act(Request), "timestamp", "2026-03-01T12:00:00,5Z", RuleGrammar, ""},
		{act(Request), "timestamp", "0001-01-01T00:00:00Z", RuleGrammar, ""},
		{act(Request), "timestamp", "2026-03-01T12:00:00.123456789Z", "", ""},
		{act(Request), "reply_by", "soon", RuleGrammar, ""},
		{act(Request), "attempt", 0, RuleRange, ""},
		{act(Request), "attempt", "1", RuleType, ""},
		{act(Request), "idempotency_key", "a\tb", RuleGrammar, ""},
		{act(Request), "priority", "urgent", RuleEnum, ""},
		{full(), "retry_policy.max_attempts", 0, RuleRange, ""},
		{full(), "retry_policy.jitter", "some", RuleEnum, ""},
		{full(), "retry_policy.jitter", nil, RuleRequired, ""},

		{full(), "gather.id", nil, RuleRequired, ""},
		{full(), "gather.stance", "I Dissent", RuleGrammar, ""},
		{fenced(), "fence.proposed", "DONE", RuleEnum, ""},
		{fenced(), "fence.id", nil, RuleRequired, ""},
		{act(Request), "fence", map[string]any{"id": "f", "proposed": "BLOCKED"}, RuleForbidden, ""},

		{full(), "labels.integrity", nil, RuleRequired, ""},
		{full(), "labels.integrity", "root", RuleEnum, ""},
		{full(), "labels.readers", []any{"anna"}, RuleGrammar, "/labels/readers/0"},
		{full(), "labels.readers", []any{planner, 1}, RuleType, "/labels/readers/1"},
		{full(), "labels.privacy", []any{"public", "pii"}, RuleEnum, "/labels/privacy/1"},
		{full(), "labels.privacy", []any{""}, RuleRequired, "/labels/privacy/0"},
		{full(), "labels.privacy", nil, "", ""},
		{full(), "provenance.tools", []any{long}, RuleRange, "/provenance/tools/0"},
		{full(), "provenance.input_tokens", -1, RuleRange, ""},
		{full(), "trace.traceparent", nil, RuleRequired, ""},
		{full(), "trace.traceparent", "01" + traceparent[2:], RuleGrammar, ""},
		{full(), "trace.traceparent", "00-" + strings.Repeat("0", 32) + traceparent[35:], RuleGrammar, ""},
		{full(), "trace.traceparent", traceparent[:36] + strings.Repeat("0", 16) + "-01", RuleGrammar, ""},
		{full(), "trace.traceparent", strings.ToUpper(traceparent), RuleGrammar, ""},
		{full(), "trace.tracestate", long, RuleGrammar, ""},
		{full(), "signatures", []any{1}, RuleType, "/signatures/0"},
		{full(), "signatures", []any{map[string]any{"protected": "e30"}}, RuleRequired, "/signatures/0/signature"},
		{full(), "signatures", []any{map[string]any{"protected": "e30=", "signature": "x"}}, RuleGrammar, "/signatures/0/protected"},
		{full(), "extensions", map[string]any{}, "", ""},
		{full(), "extensions", map[string]any{"x": map[string]any{"mandatory": false, "value": 1}}, RuleGrammar, "/extensions/x"},
		{full(), "extensions", map[string]any{long: map[string]any{"mandatory": false, "value": 1}}, RuleGrammar, "/extensions"},
		{full(), "extensions", map[string]any{"urn:x:y": map[string]any{"mandatory": true, "value": 1}}, RuleUnknown, "/extensions/urn:x:y"},
		{full(), "extensions", map[string]any{"urn:x:y": map[string]any{"value": 1}}, RuleRequired, "/extensions/urn:x:y/mandatory"},
		{full(), "extensions", map[string]any{"urn:x:y": map[string]any{"mandatory": false}}, RuleRequired, "/extensions/urn:x:y/value"},
		{full(), "extensions", map[string]any{"urn:x:y": map[string]any{"mandatory": false, "value": nil}}, "", ""},
	} {
		path := strings.Split(c.path, ".")
		data := edit(t, seal(t, c.from), func(m map[string]any) {
			parent, name := at(m, path)
			if c.value == nil {
				delete(parent, name)
			} else {
				parent[name] = c.value
			}
		})
		if c.pointer == "" {
			c.pointer = escaped(path)
		}
		if c.rule == "" {
			if _, err := Decode(data); err != nil {
				t.Errorf("%s = %v: %v", c.path, c.value, err)
			}
			continue
		}
		wantShape(t, data, c.pointer, c.rule)
	}
}

func TestWhatDependsOnTheProtocol(t *testing.T) {
	under := func(h Header, protocol string, drop ...string) []byte {
		return edit(t, seal(t, h), func(m map[string]any) {
			m["protocol"] = protocol
			maps.DeleteFunc(m, func(name string, _ any) bool {
				for _, d := range drop {
					if d == name {
						return true
					}
				}
				return false
			})
		})
	}
	for name, data := range map[string][]byte{
		"a query has no effect and no key":         under(act(Request), "query/v1", "idempotency_key"),
		"a call for proposals has no key":          under(act(CFP), "contract-net/v1", "idempotency_key"),
		"an advertisement answers nobody":          under(act(Inform), "advertise/v1", "in_reply_to"),
		"the runtime's agree needs no deadline":    under(act(Agree), "request/v1"),
		"a proposal may answer a call or open":     under(act(Propose), "propose/v1"),
		"a cancel may come before what it cancels": under(act(Cancel), "request/v1", "in_reply_to"),
	} {
		if _, err := Decode(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantShape(t, under(act(Request), "request/v2", "idempotency_key"), "/idempotency_key", RuleRequired)
	wantShape(t, under(act(Agree), "contract-net/v1"), "/reply_by", RuleRequired)
	award := act(Agree)
	award.ReplyBy = noon
	wantShape(t, under(award, "contract-net/v1"), "/idempotency_key", RuleRequired)
	wantShape(t, under(act(Request), "advertise/v1", "capability"), "/capability", RuleRequired)
}

func TestShapeErrorsReadAsSentences(t *testing.T) {
	_, err := Decode(edit(t, seal(t, act(Request)), func(m map[string]any) { m["priority"] = "urgent" }))
	if want := `envelope member /priority breaks rule enum: want one of low, normal, high, got "urgent"`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err = Decode([]byte(`{`))
	if want := `envelope: json at offset 1 breaks rule syntax: want a member name, got the end of the document`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
