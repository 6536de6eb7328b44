package a2a

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/internal/strictjson"
)

func TestWhatIsKeptOfAMessageIsReadInEachOfItsForms(t *testing.T) {
	for name, m := range map[string]*wire.Message{
		"a text":                      {MessageID: "m-1", Role: wire.User, Parts: []wire.Part{text("hello")}},
		"one that looks like a frame": {MessageID: "m-1", Role: wire.User, Parts: []wire.Part{text(`","message":{},"outside":true}`)}},
		"signs that HTML has":         {MessageID: "m-1", Role: wire.User, Parts: []wire.Part{text("<b>&\u2028</b>")}},
		"data that ends like a frame": {MessageID: "m-1", Role: wire.User, Parts: []wire.Part{{Data: json.RawMessage(`{"a":1,"outside":true}`)}}},
		"one that is too long":        {MessageID: "m-1", Role: wire.User, Parts: []wire.Part{text(strings.Repeat("x", maxOriginal))}},
	} {
		t.Run(name, func(t *testing.T) {
			kept := must(originalOf(m))
			for form, raw := range map[string][]byte{
				"as an extension": kept.encode(),
				"made canonical":  must(strictjson.Canonical(kept.encode(), messageLimits)),
				"as a note":       must(json.Marshal(kept)),
			} {
				got := must(readOriginal(raw))
				if !got.same(kept) || got.Outside != (name == "one that is too long") {
					t.Errorf("%s: got %+v", form, got)
				}
				again := must(got.message(func() []wire.Part { return m.Parts }))
				if string(wire.Encode(again)) != string(wire.Encode(m)) {
					t.Errorf("%s: got %s", form, wire.Encode(again))
				}
			}
		})
	}
}

func TestWhatWasNotKeptIsNotRead(t *testing.T) {
	for _, raw := range []string{``, `null`, `{}`, `{"digest":1,"message":{}}`, `{"message":{},"digest":""}`, `["digest","message"]`,
		`{"digest":"","message":}`, `{"digest":"","message":{}`, `{"digest":"","message":{},"more":1}`, `{"digest":"","message":{}}}`} {
		if kept, err := readOriginal([]byte(raw)); err == nil {
			if m, err := kept.message(nil); err == nil {
				t.Errorf("%s is read as %+v", raw, m)
			}
		}
	}
}
