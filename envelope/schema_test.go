package envelope

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
	"pgregory.net/rapid"
)

func published(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Parse(JSONSchema())
	if err != nil {
		t.Fatal(err)
	}
	if s.ID() != SchemaID {
		t.Fatalf("the document's id is %s", s.ID())
	}
	return s
}

// award is an agree that accepts a bid.
func award() Header {
	h := act(Agree)
	h.Protocol = "contract-net/v1"
	h.ReplyBy, h.IdempotencyKey = noon, "trip-8841"
	return h
}

func TestSealedEnvelopesFitThePublishedSchema(t *testing.T) {
	s := published(t)
	for _, h := range append(everyKind(), full(), refusal(), fenced(), award()) {
		if err := s.Validate(seal(t, h).Bytes()); err != nil {
			t.Error(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		h := anyHeader().Draw(t, "header")
		e, err := Seal(h, contentFor(h))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(e.Bytes()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestThePublishedSchemaNamesTheMembersAndTheClosedSets(t *testing.T) {
	if got, want := published(t).Properties(), slices.Sorted(slices.Values(memberNames[:])); !slices.Equal(got, want) {
		t.Errorf("members %v; want %v", got, want)
	}
	var doc any
	if err := json.Unmarshal(JSONSchema(), &doc); err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]any{
		"properties/performative": performatives[:], "properties/receipt": receipts[:], "properties/status": statuses[:],
		"$defs/error/properties/code": codes[:], "properties/priority": priorities[:],
		"properties/retry_policy/properties/jitter": jitters[:], "properties/fence/properties/proposed": terminals[:],
		"properties/labels/properties/integrity":     integrities[:],
		"properties/labels/properties/privacy/items": privacyTags[:],
	} {
		node := doc
		for _, step := range strings.Split(pointer, "/") {
			node = node.(map[string]any)[step]
		}
		if got := fmt.Sprint(node.(map[string]any)["enum"]); got != fmt.Sprint(want) {
			t.Errorf("%s: %s; want %v", pointer, got, want)
		}
	}
}

// unsayable lists what Decode refuses and a schema cannot.
var unsayable = []struct{ pointer, rule, reason string }{
	{`^/tenant$`, RuleMismatch, "no keyword compares two members: it is the sender's authority"},
	{`^/content_digest$`, RuleDigest, "no keyword hashes"},
	{`^/content$`, RuleRange, "no keyword counts the bytes of a value in canonical form"},
	{`^/signatures/[0-9]+/header$`, "bytes", "no keyword counts the bytes of a value in canonical form"},
	{`^/(error/detail|provenance)/`, RuleRange, "maxLength counts characters, the bound is in bytes"},
	{`^/extensions/`, RuleUnknown, "which mandatory extensions a reader knows is its own matter"},
	{`^/extensions/`, RuleGrammar, "a pattern does not parse a URI"},
}

// failer is what a test and a property have in common.
type failer interface{ Errorf(string, ...any) }

// judge holds the schema to Decode's verdict on data and returns the place in unsayable that explains a difference.
func judge(t failer, s *schema.Schema, data []byte) (place int, differs bool) {
	_, refused := Decode(data)
	var invalid []schema.Violation
	tree, err := strictjson.Tree(data, limits)
	if err == nil {
		invalid = s.Check(tree)
	}
	switch {
	case refused == nil && len(invalid) > 0:
		t.Errorf("decode accepts what the schema refuses: %v\n%s", invalid, data)
	case refused != nil && err == nil && len(invalid) == 0:
		var shape *ShapeError
		if errors.As(refused, &shape) {
			for i, u := range unsayable {
				if shape.Rule == u.rule && regexp.MustCompile(u.pointer).MatchString(shape.Pointer) {
					return i, true
				}
			}
		}
		t.Errorf("the schema accepts what decode refuses: %v\n%s", refused, data)
	}
	return 0, false
}

// values are put in the place of every member: of other types, in and out of the grammars, at the edges of the ranges.
func values() []any {
	long := strings.Repeat("x", 1025)
	list := []any{
		nil, true, false, 0, 1, -1, 1.5, 1 << 31, 31536000001, int64(1)<<53 - 1, []any{}, []any{nil}, []any{1}, []any{""},
		[]any{"*"}, []any{planner}, []any{"public"}, []any{"user:a b"}, []any{long}, map[string]any{}, map[string]any{"id": "x"},
		map[string]any{"x": 1}, map[string]any{"code": "auth", "retriable": false}, map[string]any{"code": "auth", "retriable": true},
		map[string]any{"code": "transient", "retriable": false},
		[]any{map[string]any{"protected": "e30=", "signature": "x"}},
		[]any{map[string]any{"protected": "e30", "signature": "x", "header": map[string]any{"k": strings.Repeat("x", 4096)}}},
	}
	for _, text := range []string{
		"", "x", "é", "a\nb", "1.0", "1.7", "2.0", "1.00", "request", "inform", "agree", "propose", "ack", "nack", "final", "done",
		"request/v1", "request/v01", "contract-net/v1", "advertise/v2", "acme.flight.search/v2.1", "acme/v1", "acme..x/v1", "acme.a--b/v1",
		planner, "agent://acme", "agent://acme/-x", "agent://other/planner", "user:anna", "user:", "user:a b", "urn:cap:acme.x/v1",
		hex64, strings.ToUpper(hex64), id(9), strings.ToUpper(id(9)), "{" + id(9) + "}", "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB",
		"2026-03-01T12:00:00Z", "2026-02-30T12:00:00Z", "2024-02-29T23:59:59.123456789Z", "2016-12-31T23:59:60Z", "0001-01-01T00:00:00.0Z",
		"0000-01-01T00:00:00Z", "2026-03-01T12:00:00+00:00", "2026-03-01t12:00:00z", "2026-03-01T24:00:00Z", token, "high", "full",
		"00-" + strings.Repeat("0", 32) + traceparent[35:], traceparent[:36] + strings.Repeat("0", 16) + "-01", traceparent[:53] + "ff",
		strings.Repeat("x", 128), strings.Repeat("x", 129), strings.Repeat("é", 1000), long, "system", "COMPLETED", "dissent",
	} {
		list = append(list, text)
	}
	return list
}

func TestOneChangedMemberIsRefusedByTheSchemaIfItIsByDecode(t *testing.T) {
	s := published(t)
	used := map[int]int{}
	check := func(data []byte) {
		if i, differs := judge(t, s, data); differs {
			used[i]++
		}
	}
	donors := map[string]any{}
	for _, h := range []Header{full(), refusal(), fenced(), receipt(Nack)} {
		edit(t, seal(t, h), func(m map[string]any) { maps.Copy(donors, m) })
	}
	done := map[string]bool{}
	for _, h := range []Header{full(), refusal(), fenced()} {
		mutate(t, h, values(), done, check)
	}
	maps.DeleteFunc(done, func(pointer string, _ bool) bool { return strings.Count(pointer, "/") == 1 })
	few := []any{nil, true, "", "x", 7, []any{}, map[string]any{}}
	for _, h := range append(everyKind(), award()) {
		mutate(t, h, few, maps.Clone(done), check)
		for _, protocol := range []string{"advertise/v1", "contract-net/v1", "query/v1", "request/v7", "requests/v1"} {
			for _, name := range []string{"", "in_reply_to", "idempotency_key", "reply_by", "capability"} {
				check(edit(t, seal(t, h), func(m map[string]any) { m["protocol"] = protocol; delete(m, name) }))
			}
		}
		for name, value := range donors {
			check(edit(t, seal(t, h), func(m map[string]any) { m[name] = value }))
		}
	}
	for _, data := range wholes(t) {
		check(data)
	}
	for i, u := range unsayable {
		if used[i] == 0 {
			t.Errorf("nothing showed that a schema cannot say %s on %s", u.rule, u.pointer)
		}
	}
}

// mutate removes, renames and replaces every member of every object of an envelope that is not done, and adds one beside
// it.
func mutate(t *testing.T, h Header, values []any, done map[string]bool, check func(data []byte)) {
	t.Helper()
	e := seal(t, h)
	walk(t, e, func(path []string) {
		if done[escaped(path)] {
			return
		}
		done[escaped(path)] = true
		one := func(f func(parent map[string]any, name string)) {
			check(edit(t, e, func(m map[string]any) { f(at(m, path)) }))
		}
		one(func(parent map[string]any, name string) { delete(parent, name) })
		one(func(parent map[string]any, _ string) { parent["ttl"] = 1 })
		one(func(parent map[string]any, name string) {
			parent[strings.ToUpper(name[:1])+name[1:]] = parent[name]
			delete(parent, name)
		})
		var isText bool
		one(func(parent map[string]any, name string) { _, isText = parent[name].(string) })
		for _, value := range values {
			if _, text := value.(string); text == isText || len(values) < 10 {
				one(func(parent map[string]any, name string) { parent[name] = value })
			}
		}
	})
}

// wholes are changes that need more than a value from the list.
func wholes(t *testing.T) [][]byte {
	e := seal(t, full())
	var all [][]byte
	for uri, mandatory := range map[string]bool{
		"urn:x:y": true, "urn:x:z": false, "x": false, "http://h#": false, "http://h#f": false, "x:/path": false, "http://": false,
		"http://[": false, "HTTP://h/a b": false, "http:?q": false, "1x:y": false, "x:" + strings.Repeat("y", 256): false,
	} {
		all = append(all, edit(t, e, func(m map[string]any) {
			m["extensions"] = map[string]any{uri: map[string]any{"mandatory": mandatory, "value": nil}}
		}))
	}
	many := map[string]any{}
	for i := range maxListed + 1 {
		many[fmt.Sprintf("urn:x:%d", i)] = map[string]any{"mandatory": false, "value": i}
	}
	readers, signatures := slices.Repeat([]any{planner}, maxListed+1), slices.Repeat([]any{map[string]any{"protected": "e30", "signature": "x"}}, maxSigned+1)
	for name, value := range map[string]any{
		"extensions": many, "signatures": signatures, "labels": map[string]any{"integrity": "user", "readers": readers},
		"provenance": map[string]any{"tools": readers},
	} {
		all = append(all, edit(t, e, func(m map[string]any) { m[name] = value }))
	}
	parts := map[string]any{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		parts[name] = strings.Repeat("x", 60<<10)
	}
	// Larger than a content may be, and not too large for a document.
	return append(all, edit(t, e, func(m map[string]any) { m["content"] = parts }))
}

func TestMembersThatFollowTheGrammarsAreJudgedAlike(t *testing.T) {
	s := published(t)
	forms := map[string]string{
		"correlation_id": `[ -~é\n]{0,130}`, "timestamp": `[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,10})?Z`,
		"schema": `[a-z0-9-]{1,4}(\.[a-z0-9-]{1,4}){0,3}/v[0-9]{1,2}(\.[0-9]{1,2})?`, "salt": `[A-Za-z0-9_-]{20,23}`,
		"protocol": `[a-zA-Z0-9-]{0,3}/v[0-9]{1,7}`, "sender": `agent://[a-z.-]{1,3}/[a-z0-9.-]{1,64}`, "actor": `(user:|agent:/)[a-z /]{0,4}`,
		"v": `[01]\.[0-9]{1,6}`, "message_id": `[0-9a-f]{8}(-[0-9a-f]{4}){2,4}-[0-9a-fA]{12}`, "auth": `[A-Za-z=.-]{1,4}(\.[a-z]{0,2}){0,3}`,
	}
	names := slices.Sorted(maps.Keys(forms))
	headers := everyKind()
	rapid.Check(t, func(rt *rapid.T) {
		h := rapid.SampledFrom(headers).Draw(rt, "header")
		name := rapid.SampledFrom(names).Draw(rt, "name")
		value := rapid.StringMatching(forms[name]).Draw(rt, "value")
		judge(rt, s, edit(t, seal(t, h), func(m map[string]any) { m[name] = value }))
	})
}
