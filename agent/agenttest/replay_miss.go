package agenttest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
)

// MissKind says what the record does not have.
type MissKind string

// The kinds of misses.
const (
	// MissReply: a reply of the model to this request.
	MissReply MissKind = "reply"
	// MissTool: the result of a tool called so.
	MissTool MissKind = "tool"
	// MissStep: the result of a durable step: Once, Now, NewID or Sleep.
	MissStep MissKind = "step"
	// MissQuestion: the answer of a peer that is asked so.
	MissQuestion MissKind = "question"
)

// MissError is something that the work asks for when it is run again and that
// the record does not have, beside what in the record is most like it.
type MissError struct {
	Kind MissKind
	// Exchange is the one that is worked on.
	Exchange store.Key
	// Name is what is asked for: the name of the tool or step, the peer, or
	// the number of the reply, "repair" if the model would have to mend what
	// it once wrote well.
	Name string
	// Want is the JSON text of how it is asked for, "" where only the name
	// counts.
	Want string
	// Nearest is the name of the most similar record of the kind, "" if there
	// is none, and Recorded its JSON text.
	Nearest, Recorded string
	// Differences are the places where Want is not Recorded.
	Differences []llm.Difference
}

// missShown bounds the differences and, in bytes, each text in the text of a
// MissError, which has the rest as values.
const (
	missShown  = 5
	valueShown = 160
)

// Error shows the nearest record by its first differences.
func (m *MissError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s asks for %s %s", m.Exchange.Owner, m.Kind, m.Name)
	if m.Want != "" {
		fmt.Fprintf(&s, " with %s", clipped(m.Want))
	}
	s.WriteString(", which is not in the record")
	switch {
	case m.Nearest == "":
		fmt.Fprintf(&s, "; it has no %s", m.Kind)
	case len(m.Differences) == 0:
		fmt.Fprintf(&s, "; the nearest is %s", strings.TrimSpace(m.Nearest+" "+clipped(m.Recorded)))
	default:
		fmt.Fprintf(&s, "; the nearest is %s:", m.Nearest)
		for i, d := range m.Differences {
			if i == missShown {
				s.WriteString(" …")
				break
			}
			fmt.Fprintf(&s, " at %s asked %s, recorded %s;", d.Pointer, shown(d.Asked), shown(d.Recorded))
		}
	}
	return strings.TrimSuffix(s.String(), ";")
}

// candidate is a record that something may be like.
type candidate struct{ name, doc string }

// nearest fills in the candidate with the fewest differences.
func (m *MissError) nearest(list []candidate) *MissError {
	least := -1
	for _, c := range list {
		d := differences(m.Want, c.doc)
		score := 2 * len(d)
		if c.name != m.Name {
			score++
		}
		if least < 0 || score < least {
			least, m.Nearest, m.Recorded, m.Differences = score, c.name, c.doc, d
		}
	}
	return m
}

// tool is the miss of a call that the model makes.
func (w *work) tool(name, args string) *MissError {
	var list []candidate
	for _, r := range w.replies[:w.served] {
		for i, c := range r.Calls {
			args := c.Arguments
			if i < len(r.Mended) && r.Mended[i].Arguments != nil {
				args = string(r.Mended[i].Arguments)
			}
			list = append(list, candidate{c.Name, args})
		}
	}
	return (&MissError{Kind: MissTool, Exchange: w.main.key, Name: name, Want: args}).nearest(list)
}

// question is nil if the opening act is the recorded one of the exchange k.
func (w *work) question(k store.Key, p *part, e store.Entry) error {
	var list []candidate
	for _, c := range w.children {
		list = append(list, candidate{c.key.Peer, questionOf(c.script[0].message)})
	}
	want := questionOf(decoded(e))
	if p != nil && len(differences(want, questionOf(p.script[0].message))) == 0 {
		return nil
	}
	if p != nil { // the same place in the work, another content
		list = []candidate{{k.Peer, questionOf(p.script[0].message)}}
	}
	return (&MissError{Kind: MissQuestion, Exchange: w.main.key, Name: k.Peer, Want: want}).nearest(list)
}

func questionOf(e *envelope.Envelope) string {
	if e == nil {
		return "null"
	}
	return text(map[string]any{"to": e.Receiver(), "schema": e.Header().Schema, "content": json.RawMessage(e.Content())})
}

func clipped(s string) string {
	if len(s) > valueShown {
		return strings.ToValidUTF8(s[:valueShown], "") + "…"
	}
	return s
}

func shown(value string) string {
	if value == "" {
		return "nothing"
	}
	return clipped(value)
}
