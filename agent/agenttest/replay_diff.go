package agenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Difference is a place where an act is not the recorded one.
type Difference struct {
	Exchange store.Key
	// Event is the recorded act, or the one of now if none was recorded. It is
	// "" in what is said of the work as a whole.
	Event protocol.Event
	// Pointer leads into the act (RFC 6901): /act, /content/…, /error/code and
	// so on. It is "" when one of the two says nothing at all. Of the work, it
	// is /replies: how many of its model's replies were asked for.
	Pointer string
	// Recorded and Now are the JSON texts at that place, "" where there is
	// nothing.
	Recorded, Now string
}

// String is the difference in a line.
func (d Difference) String() string {
	at := strings.TrimSpace(string(d.Event) + " " + d.Pointer)
	return fmt.Sprintf("%s to %s, %s: recorded %s, now %s", d.Exchange.Owner, d.Exchange.Peer, at, shown(d.Recorded), shown(d.Now))
}

// differ compares two acts, of which one may be nil, in all that does not differ
// from run to run.
func differ(k store.Key, on protocol.Event, recorded, now *envelope.Envelope) []Difference {
	if recorded == nil || now == nil {
		d := Difference{Exchange: k, Event: on}
		if recorded != nil {
			d.Recorded = text(acted(recorded))
		}
		if now != nil {
			d.Now = text(acted(now))
		}
		return []Difference{d}
	}
	var out []Difference
	for _, d := range differences(text(acted(now)), text(acted(recorded))) {
		out = append(out, Difference{Exchange: k, Event: on, Pointer: d.Pointer, Recorded: d.Recorded, Now: d.Asked})
	}
	return out
}

// acted is what an act says, without what only its run decided.
func acted(e *envelope.Envelope) map[string]any {
	h := e.Header()
	out := map[string]any{"act": protocol.Sending(e)[1:]}
	for name, value := range map[string]string{"schema": h.Schema, "capability": h.Capability, "idempotency_key": h.IdempotencyKey, "actor": h.Actor} {
		if value != "" {
			out[name] = value
		}
	}
	if h.Receipt == "" {
		out["content"] = json.RawMessage(e.Content())
		out["labels"] = map[string]any{"integrity": h.Labels.Integrity, "readers": h.Labels.Readers, "privacy": h.Labels.Privacy}
	}
	if h.Error != nil {
		out["error"] = told(h.Error)
	}
	if h.Gather != nil && h.Gather.Stance != "" {
		out["stance"] = h.Gather.Stance
	}
	if h.Fence != nil {
		out["proposed"] = h.Fence.Proposed
	}
	return out
}

// told is an error without the name of its incident.
func told(e *envelope.Error) map[string]any {
	out := map[string]any{}
	if e == nil {
		return out
	}
	out["code"], out["reason"] = e.Code, e.Reason
	if d := e.Detail; d != nil && d.Pointer != "" {
		out["pointer"], out["want"] = d.Pointer, d.Want
	}
	return out
}

func decoded(e store.Entry) *envelope.Envelope {
	message, err := envelope.Decode(e.Envelope)
	if err != nil {
		return nil // a host seals what it logs
	}
	return message
}

// differences are the places in which two JSON texts differ.
func differences(now, recorded string) []llm.Difference {
	asked, was := leaves(now), leaves(recorded)
	var out []llm.Difference
	for pointer, value := range asked {
		if was[pointer] != value {
			out = append(out, llm.Difference{Pointer: pointer, Asked: value, Recorded: was[pointer]})
		}
	}
	for pointer, value := range was {
		if _, ok := asked[pointer]; !ok {
			out = append(out, llm.Difference{Pointer: pointer, Recorded: value})
		}
	}
	slices.SortFunc(out, func(a, b llm.Difference) int { return strings.Compare(a.Pointer, b.Pointer) })
	return out
}

// leaves are the values of a JSON text that have no members or elements, by
// their pointer. What is no JSON is one leaf.
func leaves(raw string) map[string]string {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return map[string]string{"": text(raw)}
	}
	out := map[string]string{}
	var walk func(string, any)
	walk = func(pointer string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), inner)
			}
			if len(v) > 0 {
				return
			}
		case []any:
			for i, inner := range v {
				walk(pointer+"/"+strconv.Itoa(i), inner)
			}
			if len(v) > 0 {
				return
			}
		}
		out[pointer] = text(v)
	}
	walk("", tree)
	return out
}

// text is the JSON text of a value made of JSON and strings.
func text(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return strconv.Quote(err.Error())
	}
	return strings.TrimSpace(out.String())
}
