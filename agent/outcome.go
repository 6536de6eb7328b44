package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Of names whose outcome is meant, by bare name or URI, where several agents
// took part in the conversation. Only Outcome looks at it. Default: the one
// whose outcome is not known, or in an auction the one that got the award.
func Of(peer string) AskOption { return askOption(func(q *question) { q.of = peer }) }

// ErrSeveral: several agents took part, and which of them is meant is not said.
var ErrSeveral = errors.New("several agents took part: say with Of which is meant")

// Outcome finds out what became of an exchange that the agent opened and that
// ended without anybody knowing: it looks, and never asks for the thing again.
// It returns the result, or the typed error of the outcome as Ask would have.
//
// An outcome that is known here is returned at once, and so is a result that
// came too late to count. Else the other agent is asked under the built-in
// contract parley.outcome/v1, which its runtime answers: no handler or model of
// it is needed. What it says may also be
//
//   - *protocol.InProgressError: it has not ended. Ask again later. While the
//     exchange is live on this side, nobody is asked and this is the answer too:
//     Resume and Wait tell how it ends.
//   - *protocol.NeverSeenError: the opening act never came there, and the agent
//     refuses it from now on (permanent, lapsed). The key of the effect may be
//     used again, in a new conversation.
//   - *protocol.TooLargeError: it was done, but the result cannot be told again.
//   - *protocol.UnknownError of the same conversation: the agent does not know
//     either, such as one that may have forgotten it (permanent, forgotten), or
//     did not answer; the code and the reason are those of that.
//
// A result is held to the contract's schema; one that does not fit is a
// *protocol.FailedError(validation). The question is an exchange of its own,
// whose log is the record of the answer, while that of the first one stays as it
// was. Of a stream it tells that it ended, not what it told. The options are
// those of Ask; an exchange that the agent did not open for the contract gives
// store.ErrNotFound.
func Outcome[Out any](ctx context.Context, from *Agent, c protocol.Resulting[Out], conversation string, opts ...AskOption) (Out, error) {
	var none Out
	bound, err := bindAsked(from, c)
	if err != nil {
		return none, err
	}
	q := &question{}
	for _, o := range opts {
		o.applyAsk(q)
	}
	if _, err := from.host.live(); err != nil {
		return none, err
	}
	x, err := from.host.meant(ctx, from, bound, conversation, q.of)
	if err != nil {
		return none, fmt.Errorf("looking for the outcome of %s: %w", conversation, from.host.cause(ctx, err))
	}
	content, err := from.host.outcome(ctx, from, bound, x, opts)
	if err != nil {
		return none, err
	}
	out, err := schema.Decode[Out](bound.Read(bound.Result), content)
	if invalid, ok := errors.AsType[*schema.Invalid](err); ok {
		return none, misfit(x, invalid)
	}
	return out, err
}

// meant is the exchange of the conversation that is asked about.
func (h *Host) meant(ctx context.Context, from *Agent, c *guard.Contract, conversation, of string) (store.Exchange, error) {
	var none store.Exchange
	if of != "" {
		peer, err := h.resolve(of)
		if err != nil {
			return none, err
		}
		x, err := h.store.Exchange(ctx, store.Key{Owner: from.URI(), Conversation: conversation, Peer: peer})
		if err != nil {
			return none, err
		}
		return x, asks(x, c)
	}
	all, err := h.store.Exchanges(ctx, from.URI(), conversation)
	if err != nil || conversation == "" || len(all) == 0 {
		return none, errors.Join(err, store.ErrNotFound)
	}
	var asked []store.Exchange
	failed := error(store.ErrNotFound)
	for _, x := range all {
		if failed = asks(x, c); failed == nil {
			asked = append(asked, x)
		}
	}
	for _, fits := range []func(store.Exchange) bool{
		func(store.Exchange) bool { return true }, undecided, func(x store.Exchange) bool { return x.State.Award != "" },
	} {
		var list []store.Exchange
		for _, x := range asked {
			if fits(x) {
				list = append(list, x)
			}
		}
		if len(list) == 1 {
			return list[0], nil
		}
	}
	if len(asked) == 0 {
		return none, failed
	}
	return none, ErrSeveral
}

// undecided reports whether the exchange ended without anybody knowing how.
func undecided(x store.Exchange) bool {
	_, unknown := errors.AsType[*protocol.UnknownError](x.State.Err())
	return unknown
}

// outcome is the result of the exchange, from what is known here or from what
// its peer tells.
func (h *Host) outcome(ctx context.Context, from *Agent, c *guard.Contract, x store.Exchange, opts []AskOption) ([]byte, error) {
	switch {
	case !x.State.Done():
		return nil, &protocol.InProgressError{Ending: protocol.Ending{Conversation: x.Conversation, Peer: x.Peer}, At: h.seam.now()}
	case undecided(x):
		if content, err := h.tooLate(ctx, x); err != nil || content != nil {
			return content, err
		}
		return h.reconcile(ctx, from, c, x, opts)
	case x.State.Err() != nil:
		return nil, x.State.Err()
	}
	final, err := h.message(ctx, x.Key, store.Received, x.Final)
	if err != nil {
		return nil, h.cause(ctx, err)
	}
	return final.Content(), nil
}

// tooLate is the content of a last word that was not taken because it came
// after the deadline; nil if there is none. What its sender did stands.
func (h *Host) tooLate(ctx context.Context, x store.Exchange) ([]byte, error) {
	log, err := h.store.Log(ctx, x.Owner, x.Conversation, 0)
	if err != nil {
		return nil, h.cause(ctx, err)
	}
	ok := protocol.Event("?inform")
	if x.State.Protocol == protocol.ProposeV1 {
		ok = "?agree"
	}
	for _, entry := range log {
		if entry.Kind != store.Rejected || entry.Peer != x.Peer || entry.Reason != guard.ReasonLate || entry.Event != ok {
			continue
		}
		e, err := envelope.Decode(entry.Envelope)
		if err != nil {
			return nil, fmt.Errorf("message %s in the log of %s: %w", entry.MessageID, x.Owner, err)
		}
		return e.Content(), nil
	}
	return nil, nil
}

// reconcile asks the peer what became of the exchange.
func (h *Host) reconcile(ctx context.Context, from *Agent, c *guard.Contract, x store.Exchange, opts []AskOption) ([]byte, error) {
	opts = append([]AskOption{Correlation(x.Correlation)}, opts...)
	opening, err := h.openingOf(ctx, x)
	if err != nil {
		return nil, h.cause(ctx, err)
	}
	asked := protocol.OutcomeAsked{Conversation: x.Conversation, Protocol: x.State.Protocol, Opened: opening.Timestamp(), ReplyBy: opening.ReplyBy()}
	answer, err := Ask(ctx, from, x.Peer, reconciling, asked, opts...)
	if err != nil {
		return nil, unanswered(x, err)
	}
	end := protocol.Ending{Conversation: x.Conversation, Peer: x.Peer}
	switch {
	case answer.Status == protocol.OutcomeInProgress:
		return nil, &protocol.InProgressError{Ending: end, At: answer.At}
	case answer.Status == protocol.OutcomeNeverSeen:
		return nil, &protocol.NeverSeenError{Ending: end}
	case answer.Status == protocol.OutcomeDone && answer.TooLarge:
		return nil, &protocol.TooLargeError{Ending: end}
	case answer.Status == protocol.OutcomeDone && answer.Result == nil:
		return []byte("{}"), nil
	case answer.Status == protocol.OutcomeDone:
		return answer.Result, nil
	}
	as := x.State
	as.State, as.Error, as.Misread = protocol.Over(answer.Outcome), answer.Error.Told(), answer.Misread
	if err := as.Err(); err != nil {
		return nil, err
	}
	end.Code, end.Reason = envelope.CodeValidation, guard.ReasonSchema
	return nil, &protocol.UnknownError{Ending: end} // it contradicts itself
}

// unanswered is the error of a question about an exchange that got no answer.
// What became of the exchange is as unknown as before: how the question itself
// ended must not be taken for that.
func unanswered(x store.Exchange, err error) error {
	if end, ended := protocol.EndingOf(err); ended {
		end.Conversation, end.Peer = x.Conversation, x.Peer
		return &protocol.UnknownError{Ending: end}
	}
	return fmt.Errorf("asking %s for the outcome of %s: %w", x.Peer, x.Conversation, err)
}

// misfit is the outcome of an exchange whose result does not fit its contract.
func misfit(x store.Exchange, invalid *schema.Invalid) error {
	end := protocol.Ending{Conversation: x.Conversation, Peer: x.Peer, Code: envelope.CodeValidation, Reason: guard.ReasonSchema, Pointer: "/content"}
	if len(invalid.Violations) > 0 {
		first := invalid.Violations[0]
		end.Pointer, end.Want, end.Got = end.Pointer+first.Pointer, first.Want, first.Got
	}
	return &protocol.FailedError{Ending: end}
}
