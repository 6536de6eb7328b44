package protocol_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// places are the values that stand in for what is at a place of a document:
// each kind of JSON, and both sides of every bound that a document here names.
var places = []any{
	nil, true, false, 0, 1, -1, 2, 2.5, 100, 101, 1.5, json.Number("9007199254740991"), json.Number("-9007199254740991"),
	"", "a", "A b", "http://a/b", "a:b-c_d.e", "-", "agent://acme/a", "agent://acme/", "urn:cap:acme.a/v1", "urn:cap:acme/v1", "acme.a/v1", "acme.a/v0",
	"request/v1", "Request/v1", "1.0", "0.1", "text/plain", "Text", "2027-01-01T00:00:00Z", "2027-01-01", "complete", "partial", "withheld", "done",
	"document", "tool", "page", "COMPLETED", "late", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("a", 128),
	strings.Repeat("a", 129), strings.Repeat("a", 200), strings.Repeat("a", 201), "a:" + strings.Repeat("b", 2046), "a:" + strings.Repeat("b", 2047),
	[]any{}, []any{nil}, []any{"acme.a/v1"}, []any{"1.0"}, []any{1}, map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a": 1},
	many(32), many(33), list(16, "acme.a/v1"), list(17, "acme.a/v1"), list(16, "1.0"), list(17, "1.0"), list(64, "a/v1"), list(65, "a/v1"),
	list(64, map[string]any{"uri": "a:b"}), list(65, map[string]any{"uri": "a:b"}),
	list(64, map[string]any{"kind": "tool", "id": "a"}), list(65, map[string]any{"kind": "tool", "id": "a"}),
	list(256, map[string]any{"capability": "urn:cap:a.b/v1", "protocol": "a/v1", "effects": true}),
	list(257, map[string]any{"capability": "urn:cap:a.b/v1", "protocol": "a/v1", "effects": true}),
}

func list(n int, item any) []any { return slices.Repeat([]any{item}, n) }

func many(n int) map[string]any {
	m := map[string]any{}
	for i := range n {
		m[fmt.Sprint("k", i)] = "v"
	}
	return m
}

// variants calls try with the document changed in each place: a value put
// there, a member left out, an unknown member added. What is below a member
// called like one of the leave names stays as it is.
func variants(document any, leave []string, try func(any)) {
	try(document)
	for _, v := range places {
		try(v)
	}
	switch d := document.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(d)) {
			without := maps.Clone(d)
			delete(without, name)
			try(without)
			if slices.Contains(leave, name) {
				continue
			}
			variants(d[name], leave, func(v any) {
				changed := maps.Clone(d)
				changed[name] = v
				try(changed)
			})
		}
		more := maps.Clone(d)
		more["unheard-of"] = "x"
		try(more)
	case []any:
		for i := range d {
			variants(d[i], leave, func(v any) {
				changed := slices.Clone(d)
				changed[i] = v
				try(changed)
			})
		}
	}
}

// same proves that a published document admits what the Go type's own schema
// admits, around the whole example.
func same(t *testing.T, document []byte, ours *schema.Schema, example any, leave ...string) {
	t.Helper()
	published, err := schema.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	if published.ID() != ours.ID() {
		t.Errorf("the id is %s, want %s", published.ID(), ours.ID())
	}
	text, err := json.Marshal(example)
	if err != nil {
		t.Fatal(err)
	}
	if err := published.Validate(text); err != nil {
		t.Fatalf("the example itself: %v", err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	admitted, refused := 0, 0
	variants(tree, leave, func(v any) {
		content, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got, want := published.Validate(content), ours.Validate(content)
		if (got == nil) != (want == nil) {
			t.Errorf("%.200s: the document says %v, the Go type %v", content, got, want)
		}
		if want == nil {
			admitted++
		} else {
			refused++
		}
	})
	if admitted < 2 || refused < 100 {
		t.Errorf("the variants prove little: %d admitted, %d refused", admitted, refused)
	}
}

func published(t *testing.T, name string) []byte {
	t.Helper()
	for _, b := range slices.Concat(protocol.BuiltIns(), protocol.Wrappers()) {
		if b.Name == name {
			return b.Document
		}
	}
	t.Fatalf("%s is not published", name)
	return nil
}

func of[T any](t *testing.T, name string) *schema.Schema {
	t.Helper()
	s, err := schema.For[T](name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

type window struct {
	Seat string `json:"seat"`
}

func fullTask() protocol.Task[window] {
	heat := 0.5
	return protocol.Task[window]{
		Inputs: window{"12A"},
		Context: []protocol.Reference{
			{Kind: protocol.ReferenceDocument, ID: "policy-7", Digest: sum},
			{Kind: protocol.ReferenceTool, ID: "hold:8841"},
		},
		Hints: &protocol.Hints{TemperatureCap: &heat, MaxOutputTokens: 500, LatencyMS: 800},
	}
}

func TestThePublishedTaskIsThatOfItsGoType(t *testing.T) {
	same(t, published(t, protocol.TaskSchema), of[protocol.Task[window]](t, protocol.TaskSchema), fullTask(), "inputs")
}

func TestThePublishedDeliveryIsThatOfItsGoType(t *testing.T) {
	same(t, published(t, protocol.DeliverySchema), of[protocol.Delivery[window]](t, protocol.DeliverySchema), protocol.Delivery[window]{
		Outputs: window{"12A"}, Completion: protocol.CompletionPartial,
		Artifacts: []protocol.Artifact{{URI: "https://acme.example/t/1", MediaType: "application/pdf", Digest: sum, Bytes: 9}},
	}, "outputs")
}

func TestThePublishedProgressIsThatOfItsGoType(t *testing.T) {
	same(t, published(t, protocol.ProgressSchema), of[protocol.Progress[window]](t, protocol.ProgressSchema), protocol.Progress[window]{
		Percent: 40, Step: "asking the airline", Observation: map[string]protocol.Text{"queue": "three before us"}, Partial: &window{"12A"},
	}, "partial")
}

func TestThePublishedFenceIsThatOfItsGoType(t *testing.T) {
	same(t, published(t, protocol.FenceSchema), of[protocol.FenceNote](t, protocol.FenceSchema), protocol.FenceNote{
		Gather: "g1", Proposed: protocol.TerminalCompleted, ValueDigest: sum, Counts: protocol.FenceCounts{Members: 2, Contributed: 2},
		Yours: protocol.ShareAccepted,
	})
}

func TestThePublishedAdvertisementIsThatOfItsGoType(t *testing.T) {
	same(t, published(t, protocol.AdvertiseSchema), of[protocol.Advertisement](t, protocol.AdvertiseSchema), advertised())
}

func TestBoundsOfContentAreEnforced(t *testing.T) {
	task := of[protocol.Task[window]](t, protocol.TaskSchema)
	delivery := of[protocol.Delivery[window]](t, protocol.DeliverySchema)
	progress := of[protocol.Progress[protocol.Empty]](t, protocol.ProgressSchema)
	for _, tt := range []struct {
		schema  *schema.Schema
		content string
		pointer string // "" if it is admitted
	}{
		{task, `{"inputs":{"seat":"1A"}}`, ""},
		{task, `{"inputs":{"seat":"1A"},"hints":{"temperature_cap":2}}`, ""},
		{task, `{"inputs":{"seat":"1A"},"hints":{"temperature_cap":2.01}}`, "/hints/temperature_cap"},
		{task, `{"inputs":{"seat":"1A"},"hints":{"temperature_cap":-0.1}}`, "/hints/temperature_cap"},
		{task, `{"inputs":{"seat":"1A"},"hints":{"latency_ms":0}}`, "/hints/latency_ms"},
		{task, `{"inputs":{"seat":1}}`, "/inputs/seat"},
		{task, `{"inputs":{"seat":"1A"},"context":[{"kind":"page","id":"a"}]}`, "/context/0/kind"},
		{task, `{"inputs":{"seat":"1A"},"context":[{"kind":"document","id":"https://evil.example/x"}]}`, "/context/0/id"},
		{task, `{"inputs":{"seat":"1A"},"context":[{"kind":"document","id":"../secret"}]}`, "/context/0/id"},
		{delivery, `{"outputs":{"seat":"1A"},"completion":"complete"}`, ""},
		{delivery, `{"outputs":{"seat":"1A"}}`, "/completion"},
		{delivery, `{"outputs":{"seat":"1A"},"completion":"stop"}`, "/completion"},
		{delivery, `{"outputs":{"seat":"1A"},"completion":"complete","artifacts":[{"uri":"not an address"}]}`, "/artifacts/0/uri"},
		{progress, `{"percent":0}`, ""},
		{progress, `{"percent":100,"partial":{}}`, ""},
		{progress, `{"percent":101}`, "/percent"},
		{progress, `{"percent":-1}`, "/percent"},
		{progress, `{"percent":50.5}`, "/percent"},
		{progress, `{"percent":"50"}`, "/percent"},
		{progress, `{"percent":50,"partial":{"seat":"1A"}}`, "/partial/seat"},
	} {
		err := tt.schema.Validate([]byte(tt.content))
		if tt.pointer == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.content, err)
			}
			continue
		}
		invalid, ok := errors.AsType[*schema.Invalid](err)
		if !ok || invalid.Violations[0].Pointer != tt.pointer {
			t.Errorf("%s: %v, want it refused at %s", tt.content, err, tt.pointer)
		}
	}
}

func TestACompletionIsOneOfTheClosedSet(t *testing.T) {
	s := of[protocol.Delivery[window]](t, protocol.DeliverySchema)
	for _, c := range []protocol.Completion{protocol.CompletionComplete, protocol.CompletionPartial, protocol.CompletionTruncated,
		protocol.CompletionOutOfTime, protocol.CompletionWithheld} {
		if _, err := schema.Encode(s, protocol.Delivery[window]{Completion: c}); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
}

func TestContentReadsBackAsItWasWritten(t *testing.T) {
	s := of[protocol.Task[window]](t, protocol.TaskSchema)
	text, err := schema.Encode(s, fullTask())
	if err != nil {
		t.Fatal(err)
	}
	back, err := schema.Decode[protocol.Task[window]](s, text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := schema.Encode(s, back)
	if err != nil || string(again) != string(text) {
		t.Errorf("%s became %s: %v", text, again, err)
	}
}

func TestAModelCanBeOfferedTheWrappers(t *testing.T) {
	for name, s := range map[string]*schema.Schema{
		"task":     of[protocol.Task[window]](t, protocol.TaskSchema),
		"delivery": of[protocol.Delivery[window]](t, protocol.DeliverySchema),
		"progress": of[protocol.Progress[window]](t, protocol.ProgressSchema),
	} {
		if _, err := s.Lower(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An error is a member of the envelope and no content: its schema is published
// with the envelope's, and its reader is the envelope's.
func TestAnErrorWithACodeOutsideTheSetIsRefused(t *testing.T) {
	shape, err := schema.Parse(envelope.JSONSchema())
	if err != nil {
		t.Fatal(err)
	}
	refusal := order().Reply(envelope.Failure)
	for _, tt := range []struct {
		code      envelope.Code
		retriable bool
		fine      bool
	}{
		{envelope.CodeValidation, false, true}, {envelope.CodeAuth, false, true}, {envelope.CodeDeadline, false, true},
		{envelope.CodeCapacity, true, true}, {envelope.CodeTransient, true, true}, {envelope.CodePermanent, false, true},
		{envelope.CodeCancelled, false, true},
		{"capacity", false, false}, {"auth", true, false}, {"", false, false}, {"fatal", false, false}, {"Auth", false, false},
	} {
		refusal.Error = envelope.NewError(envelope.CodePermanent, "handler")
		var tree map[string]any
		if err := json.Unmarshal(seal(refusal).Bytes(), &tree); err != nil {
			t.Fatal(err)
		}
		tree["error"] = map[string]any{"code": tt.code, "reason": "handler", "retriable": tt.retriable, "retry_after": 1500}
		text, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		e, err := envelope.Decode(text)
		if published := shape.Validate(text); (err == nil) != tt.fine || (published == nil) != tt.fine {
			t.Errorf("code %q, retriable %v: the reader says %v, the schema %v", tt.code, tt.retriable, err, published)
		}
		if err != nil {
			if bad, ok := errors.AsType[*envelope.ShapeError](err); !ok || !strings.HasPrefix(bad.Pointer, "/error") {
				t.Errorf("code %q: %v does not point at the error", tt.code, err)
			}
			continue
		}
		if got := e.Header().Error; got.RetryAfter != 1500*time.Millisecond || got.Retriable != got.Code.Retriable() {
			t.Errorf("code %q reads as %+v", tt.code, got)
		}
	}
}
