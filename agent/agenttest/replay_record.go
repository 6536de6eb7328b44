package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// work is what an agent did as a participant of an exchange.
type work struct {
	main     *part
	children []*part
	turns    []store.Turn
	replies  []*reply
	// served is how many of the replies were given.
	served int
}

// reply is a recorded reply of a model.
type reply struct {
	llm.Response
	// Name is that of the record, At when it came.
	Name string    `json:"-"`
	At   time.Time `json:"-"`
	// Offered are the functions that the model could call.
	Offered []string `json:"offered"`
	// Asked are the digests of what the model was asked, if they are recorded.
	Asked *asked `json:"asked"`
	// Mended are the arguments of each call as repair left them, if the model
	// was asked for that.
	Mended []mended `json:"-"`
}

type mended struct {
	Arguments json.RawMessage `json:"arguments"`
}

// read finds the work of the agents in a conversation and in those that its
// work opened.
func read(ctx context.Context, recorded store.Store, conversation string, owners []string, mine map[string]bool) ([]*work, error) {
	var works []*work
	todo := []string{conversation}
	for i := 0; i < len(todo); i++ {
		for _, owner := range owners {
			exchanges, err := recorded.Exchanges(ctx, owner, todo[i])
			if err != nil {
				return nil, err
			}
			for _, x := range exchanges {
				children, err := recorded.Children(ctx, x.Key)
				if err != nil {
					return nil, err
				}
				for _, c := range children {
					if !slices.Contains(todo, c.Conversation) { // one is opened once, though with several peers
						todo = append(todo, c.Conversation)
					}
				}
				if x.State.Role != protocol.Participant || !mine[owner] {
					continue
				}
				w, err := readWork(ctx, recorded, x, children)
				if err != nil {
					return nil, fmt.Errorf("the work of %s for %s: %w", owner, x.Peer, err)
				}
				works = append(works, w)
			}
		}
	}
	if len(works) == 0 {
		return nil, fmt.Errorf("none of the agents was asked for anything in %s: %w", conversation, store.ErrNotFound)
	}
	return works, nil
}

func readWork(ctx context.Context, recorded store.Store, x store.Exchange, children []store.Exchange) (*work, error) {
	if !x.State.Done() {
		return nil, fmt.Errorf("it has not ended: %s", x.State.State)
	}
	main, err := readPart(ctx, recorded, x)
	if err != nil {
		return nil, err
	}
	w := &work{main: main}
	if err := main.own(ctx, recorded); err != nil {
		return nil, err
	}
	for _, c := range children {
		p, err := readPart(ctx, recorded, c)
		if err != nil {
			return nil, err
		}
		w.children = append(w.children, p)
	}
	if w.turns, err = recorded.Turns(ctx, x.Key); err != nil {
		return nil, err
	}
	return w, w.readReplies()
}

func readPart(ctx context.Context, recorded store.Store, x store.Exchange) (*part, error) {
	log, err := recorded.Log(ctx, x.Owner, x.Conversation, 0)
	if err != nil {
		return nil, err
	}
	p := &part{key: x.Key, ids: map[string]string{}, slow: runtimeAgrees(x.State.Protocol)}
	for _, e := range log {
		if e.Peer != x.Peer || e.Kind == store.Noted {
			continue
		}
		h := happening{Entry: e}
		if len(e.Envelope) > 0 {
			if h.message, err = envelope.Decode(e.Envelope); err != nil {
				return nil, fmt.Errorf("message %s: %w", e.MessageID, err)
			}
		}
		p.script = append(p.script, h)
	}
	if len(p.script) == 0 || p.script[0].message == nil {
		return nil, errors.New("its log does not begin with a message")
	}
	return p, nil
}

// own says whether the agent did the work itself: the effect of an earlier
// conversation is told again without any.
func (p *part) own(ctx context.Context, recorded store.Store) error {
	h := p.script[0].message.Header()
	if h.IdempotencyKey == "" {
		return nil
	}
	known, err := recorded.Effect(ctx, store.EffectKey{Recipient: h.Receiver, Sender: h.Sender, Capability: h.Capability, Key: h.IdempotencyKey})
	if err == nil && known.Conversation != h.ConversationID {
		return fmt.Errorf("it was done in conversation %s, which is the one to run again", known.Conversation)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func (w *work) readReplies() error {
	byName := map[string]*reply{}
	for _, t := range w.turns {
		var into any
		switch t.Kind {
		case store.Reply:
			r := &reply{Name: t.Name, At: t.At}
			w.replies, byName[t.Name] = append(w.replies, r), r
			into = r
		case store.Mended:
			r := byName[t.Name]
			if r == nil {
				continue
			}
			into = &r.Mended
		default:
			continue
		}
		if err := json.Unmarshal(t.Data, into); err != nil {
			return fmt.Errorf("record %d: %w", t.Ordinal, err)
		}
	}
	return nil
}

// seeds are the records that the new run finds, as it would after a crash:
// what it then takes from them it does not do again.
func (w *work) seeds() []store.Turn {
	var out []store.Turn
	for _, t := range w.turns {
		if t.Kind == store.Reply || t.Kind == store.Called && !w.has(store.Result, t.Name) {
			continue
		}
		t.Ordinal = len(out) + 1
		out = append(out, t)
	}
	return out
}

func (w *work) has(kind store.TurnKind, name string) bool {
	return slices.ContainsFunc(w.turns, func(t store.Turn) bool { return t.Kind == kind && t.Name == name })
}

var sleepStep = regexp.MustCompile(`(^|[ /])sleep \d+$`)

// sleeps reports whether the record has a sleep until t that was slept out.
func (w *work) sleeps(t time.Time) bool {
	for _, turn := range w.turns {
		if turn.Kind != store.Result || !sleepStep.MatchString(turn.Name) {
			continue
		}
		var step struct{ Value time.Time }
		if err := json.Unmarshal(turn.Data, &step); err == nil && step.Value.Equal(t) {
			next, ok := w.main.interruption()
			return !ok || t.Before(next.At)
		}
	}
	return false
}

// enclosed reports whether a moment lies within a tool's call or a step that
// is not done again.
func (w *work) enclosed(at time.Time) bool {
	began := map[string]time.Time{}
	for _, t := range w.turns {
		switch t.Kind {
		case store.Called:
			began[t.Name] = t.At
		case store.Result:
			if !at.Before(began[t.Name]) && !at.After(t.At) {
				return true
			}
		}
	}
	return false
}

func runtimeAgrees(name string) bool {
	p, err := protocol.Lookup(name)
	return err == nil && p.RuntimeAgrees()
}
