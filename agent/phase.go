package agent

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// phase is a piece of work that the participant of an exchange does. Most
// exchanges have one; a contract net has two.
type phase string

const (
	answering    phase = "answer"     // request, query: give the result
	publishing   phase = "publish"    // subscribe: tell items
	bidding      phase = "bid"        // contract net: propose
	performing   phase = "perform"    // contract net: deliver what was awarded
	considering  phase = "consider"   // propose: accept or reject
	contributing phase = "contribute" // gather: contribute or dissent
)

// phasesOf are the phases of an exchange of the protocol, in order.
func phasesOf(name string) []phase {
	switch name {
	case protocol.ContractNetV1:
		return []phase{bidding, performing}
	case protocol.SubscribeV1:
		return []phase{publishing}
	case protocol.ProposeV1:
		return []phase{considering}
	case protocol.GatherV1:
		return []phase{contributing}
	}
	return []phase{answering}
}

// phaseOf is the phase that the exchange is in.
func phaseOf(x protocol.Exchange) phase {
	phases := phasesOf(x.Protocol)
	if x.Award != "" {
		return phases[len(phases)-1]
	}
	return phases[0]
}

// owes reports whether the owner of the exchange, its participant, has an act
// to decide on. Withdrawing a proposal is never owed.
func owes(x protocol.Exchange) bool {
	return slices.ContainsFunc(x.Moves(), func(u protocol.Utterance) bool { return u.Performative != envelope.Cancel })
}

// act is the act of a phase that went well.
func (p phase) act() protocol.Utterance {
	switch p {
	case bidding:
		return protocol.Utterance{Performative: envelope.Propose}
	case considering:
		return protocol.Utterance{Performative: envelope.Agree}
	case contributing:
		return protocol.Utterance{Performative: envelope.Inform, Status: envelope.Partial}
	}
	return protocol.Utterance{Performative: envelope.Inform, Status: envelope.Final}
}

// made is the Go type of what a phase makes, for the agent's checks.
func (o *offer) made(p phase) reflect.Type {
	switch p {
	case bidding:
		return o.types.Bid
	case contributing:
		return o.types.Contribution
	case publishing:
		return o.types.Item
	}
	return o.types.Result
}

// answer is how a phase of an offer is done: by Go code or by the model.
type answer interface {
	// answer returns what the work came to, or an error that says which act
	// ends it.
	answer(ctx context.Context, j *job) (result, error)
}

// result is what the work on an exchange produced.
type result struct {
	// content is canonical, nil where the act carries nothing.
	content []byte
	// dissents says that a contribution disagrees.
	dissents bool
	model    *authorship
}

// goAnswer is an answer by Go code. An error may come with content: see Dissent.
type goAnswer func(ctx context.Context, j *job) ([]byte, error)

func (f goAnswer) answer(ctx context.Context, j *job) (result, error) {
	content, err := f(ctx, j)
	return result{content: content}, err
}

// read decodes what the work is about.
func read[In any](j *job) (In, error) {
	in, err := schema.Decode[In](j.offer.Read(j.offer.Input), j.input)
	if err != nil {
		return in, fmt.Errorf("reading what %s takes: %w", j.offer.Name, err)
	}
	return in, nil
}

// write encodes what a phase made, and lets the agent's checks judge it.
func write[Out any](ctx context.Context, j *job, s *schema.Schema, out Out) ([]byte, error) {
	content, err := schema.Encode(s, out)
	if err != nil {
		return nil, fmt.Errorf("writing the %s of %s: %w", j.phase, j.offer.Name, err)
	}
	if err := j.agent.checked(ctx, j.offer, j.phase, content); err != nil {
		return nil, fmt.Errorf("checking the %s of %s: %w", j.phase, j.offer.Name, err)
	}
	return content, nil
}
