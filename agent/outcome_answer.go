package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// told is what an agent tells of an exchange.
type told = protocol.OutcomeAnswered[schema.Object]

// reconciling is the contract under which it is asked.
var reconciling = protocol.Query[protocol.OutcomeAsked, told](protocol.OutcomeName)

// reconcilable is that contract with its schemas.
var reconcilable = sync.OnceValue(func() *guard.Contract {
	bound, err := guard.Bind(reconciling)
	if err != nil {
		panic(err) // the types are the module's own, and the tests derive them
	}
	return bound
})

// ownOffer is what the runtime answers under the name for every agent, nil for
// every other name.
func ownOffer(n protocol.Name) *offer {
	if own := reconciling.Name(); n.Path != own.Path || n.Major != own.Major {
		return nil
	}
	return &offer{Contract: reconcilable(), types: reconciling.Types(), own: true, answers: map[phase]answer{answering: goAnswer(reconcile)}}
}

// owns reports whether the message asks for what the runtime itself answers,
// however much its agent has in hand.
func (h *Host) owns(e *envelope.Envelope) bool {
	o := h.agents[e.Receiver()].lookup(e.Capability())
	return o != nil && o.own
}

// reconcile tells the peer what became of an exchange that it opened. Its key
// has the peer's own URI in it, so nobody learns of anybody else's exchanges,
// nor can end them.
func reconcile(ctx context.Context, j *job) ([]byte, error) {
	in, err := read[protocol.OutcomeAsked](j)
	if err != nil {
		return nil, err
	}
	if _, err := protocol.Lookup(in.Protocol); err != nil {
		return nil, Refuse(envelope.CodeValidation, guard.ReasonUnsupportedProtocol)
	}
	x, err := j.host.bar(ctx, j, store.Key{Owner: j.key.Owner, Conversation: in.Conversation, Peer: j.key.Peer}, in)
	if err != nil {
		return nil, err
	}
	answer, err := j.host.tell(ctx, x)
	if err != nil {
		return nil, err
	}
	content, err := schema.Encode(j.offer.Result, answer)
	if err == nil {
		err = strictjson.Scan(content, strictjson.Limits{}) // as an envelope will
	}
	if err != nil && answer.Result != nil {
		answer.Result, answer.TooLarge = nil, true
		return schema.Encode(j.offer.Result, answer)
	}
	return content, err
}

// bar reads the exchange that the work is asked about. If nothing of it has
// come, it is ended in the same step: whatever still comes finds that. What may
// have come and been forgotten is not known, and nor is what may come when that
// end itself is forgotten.
func (h *Host) bar(ctx context.Context, j *job, k store.Key, in protocol.OutcomeAsked) (store.Exchange, error) {
	s, err := h.step(ctx, k, h.seam.now(), func(s *step) error {
		if s.x.Version > 0 {
			return errNothing
		}
		if !s.host.remembers(in, s.now) {
			return Fail(envelope.CodePermanent, reasonForgotten)
		}
		fresh := protocol.Open(in.Protocol, k.Conversation, k.Owner, k.Peer, protocol.Participant)
		s.x.State, s.x.Correlation = protocol.Tombstone(fresh), j.act.Correlation()
		s.x.EndedAt, s.ended = s.now, true
		note, err := canonical(protocol.Absence{Asked: j.key.Conversation, Correlation: s.x.Correlation})
		if err != nil {
			return fmt.Errorf("writing that nothing had come: %w", err)
		}
		s.log(store.Entry{Kind: store.Absent, From: fresh.State, To: s.x.State.State, Note: note})
		return nil
	})
	if err != nil {
		return store.Exchange{}, err
	}
	return s.x, nil
}

// reasonForgotten is why an agent does not know what became of an exchange.
const reasonForgotten = "forgotten"

// remembers reports whether the host would still know of the exchange if its
// opening act had come, and will know of its end until that cannot come any more.
func (h *Host) remembers(in protocol.OutcomeAsked, now time.Time) bool {
	kept := h.cfg.Retention
	return kept <= 0 || !in.ReplyBy.IsZero() &&
		in.Opened.Add(-guard.Skew).After(now.Add(-kept)) && in.ReplyBy.Add(guard.Skew).Before(now.Add(kept))
}

// tell is what the owner of the exchange, its participant, tells of it.
func (h *Host) tell(ctx context.Context, x store.Exchange) (told, error) {
	t := told{At: h.seam.now()}
	switch {
	case x.State.Role != protocol.Participant, x.State.Done() && x.State.Opening == "":
		// It is no exchange of the peer's, or a cancel or this very question
		// came first and its opening act never.
		t.Status = protocol.OutcomeNeverSeen
		return t, nil
	case !x.State.Done():
		t.Status = protocol.OutcomeInProgress
		return t, nil
	}
	t.Outcome = x.State.Outcome()
	if t.Status = protocol.OutcomeFailed; !t.Outcome.OK() && t.Outcome != protocol.Closed {
		t.Misread, t.Error = x.State.Misread, protocol.Fault(x.State.Error)
		return t, nil
	}
	t.Status = protocol.OutcomeDone
	last, err := h.message(ctx, x.Key, store.Sent, x.Final)
	switch {
	case errors.Is(err, store.ErrNotFound): // a timer or the peer ended it
	case err != nil:
		return t, err
	case last.Act() == envelope.Inform && string(last.Content()) != "{}":
		t.Result = schema.Object(last.Content())
	}
	return t, nil
}
