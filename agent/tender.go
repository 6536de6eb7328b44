package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Tender is a proposal that stands.
type Tender[Bid any] struct {
	// Bidder is the URI of whoever proposed it.
	Bidder string
	Bid    Bid
	// Until is when it lapses.
	Until time.Time
}

// standing are the proposals that may be accepted now, by bidder.
func (v *auction[Call, Bid]) standing(ctx context.Context) ([]Tender[Bid], int, error) {
	var list []Tender[Bid]
	round := 0
	for member, x := range v.rows {
		round = max(round, x.State.Round)
		if x.State.State != stateProposed {
			continue
		}
		t, err := v.tender(ctx, member, x.State.Trigger)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b Tender[Bid]) int { return strings.Compare(a.Bidder, b.Bidder) })
	return list, round, nil
}

// tender reads a proposal.
func (v *auction[Call, Bid]) tender(ctx context.Context, member, id string) (Tender[Bid], error) {
	e, err := v.host.message(context.WithoutCancel(ctx), v.row(member), store.Received, id)
	if err != nil {
		return Tender[Bid]{}, err
	}
	bid, err := schema.Decode[Bid](v.contract.Read(v.contract.Bid), e.Content())
	return Tender[Bid]{Bidder: member, Bid: bid, Until: e.ReplyBy()}, err
}

// again opens the next round, if there is one.
func (v *auction[Call, Bid]) again(ctx context.Context) (bool, error) {
	bids, round, err := v.standing(ctx)
	if err != nil || v.terms.Again == nil || len(bids) == 0 || round >= v.contract.Rounds || v.awards() > 0 {
		return false, err
	}
	next, err := chosen(ctx, v.party, fmt.Sprintf("again %d", round), func(ctx context.Context) (*Call, error) { return v.terms.Again(ctx, round, bids) })
	if err != nil || next == nil {
		return false, err
	}
	content, err := schema.Encode(v.contract.Input, *next)
	if err != nil {
		return false, fmt.Errorf("calling again for %s: %w", v.contract.Name, err)
	}
	salt, group := v.host.seam.bytes(saltBytes), v.group(fmt.Sprintf("call %d", round+1), bids)
	err = v.each(ctx, bids, "!cfp", func(s *step) error {
		return s.utter(ctx, &draft{act: protocol.Utterance{Performative: envelope.CFP}, content: content, group: group, salt: salt, replyBy: v.by(s.now, v.within)})
	})
	return true, err
}

// by is the deadline of what is asked for at now: within the given time and
// what the asking work has left.
func (v *auction[Call, Bid]) by(now time.Time, within time.Duration) time.Time {
	by := now.Add(within)
	if v.parent != nil {
		if last := v.parent.remaining(now); last.Before(by) {
			by = last
		}
	}
	return by
}

func (v *auction[Call, Bid]) group(what string, bids []Tender[Bid]) *envelope.Group {
	members := make([]string, len(bids))
	for i, t := range bids {
		members[i] = t.Bidder
	}
	return &envelope.Group{ID: envelope.DerivedID(what, v.party.Owner, v.party.Conversation), Size: len(bids), MembersDigest: membersDigest(members)}
}

// pick ranks the proposals that stand.
func (v *auction[Call, Bid]) pick(ctx context.Context) ([]Tender[Bid], error) {
	bids, _, err := v.standing(ctx)
	if err != nil {
		return nil, err
	}
	if len(bids) == 0 && v.awards() == 0 {
		return nil, nil
	}
	order, err := chosen(ctx, v.party, "pick", func(ctx context.Context) ([]string, error) {
		ranking, err := v.terms.Pick(ctx, slices.Clone(bids))
		if err != nil {
			return nil, err
		}
		return names(bids, ranking)
	})
	if err != nil {
		return nil, fmt.Errorf("picking a proposal for %s: %w", v.contract.Name, err)
	}
	// What an earlier run chose may not stand any more.
	known, err := v.known(ctx)
	if err != nil {
		return nil, err
	}
	ranking := make([]Tender[Bid], 0, len(order))
	for _, name := range order {
		if i := slices.IndexFunc(known, func(t Tender[Bid]) bool { return t.Bidder == name }); i >= 0 {
			ranking = append(ranking, known[i])
		}
	}
	return ranking, nil
}

// names are the bidders of a ranking, each of whom must be among the bids, once.
func names[Bid any](bids, ranking []Tender[Bid]) ([]string, error) {
	list := make([]string, 0, len(ranking))
	for _, t := range ranking {
		if slices.Contains(list, t.Bidder) || !slices.ContainsFunc(bids, func(b Tender[Bid]) bool { return b.Bidder == t.Bidder }) {
			return nil, fmt.Errorf("%q is picked, which proposed nothing or is picked twice", t.Bidder)
		}
		list = append(list, t.Bidder)
	}
	return list, nil
}

// known are all proposals that the log has, the latest of each bidder.
func (v *auction[Call, Bid]) known(ctx context.Context) ([]Tender[Bid], error) {
	log, err := v.host.logOf(context.WithoutCancel(ctx), v.party)
	if err != nil {
		return nil, err
	}
	last := map[string]string{}
	for _, e := range log {
		if e.Kind == store.Received && e.Event == "?propose" {
			last[e.Peer] = e.MessageID
		}
	}
	var list []Tender[Bid]
	for member, id := range last {
		t, err := v.tender(ctx, member, id)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b Tender[Bid]) int { return strings.Compare(a.Bidder, b.Bidder) })
	return list, nil
}

// awards is how many awards were given.
func (v *auction[Call, Bid]) awards() int {
	n := 0
	for _, x := range v.rows {
		if x.State.Award != "" {
			n++
		}
	}
	return n
}

// chosen is a choice of the caller. In a handler it is made once and recorded,
// so that a second run follows the first.
func chosen[T any](ctx context.Context, k store.Key, what string, choose func(context.Context) (T, error)) (T, error) {
	if jobOf(ctx) == nil {
		return choose(ctx)
	}
	return Once(ctx, what+" "+k.Conversation, choose, ReadOnly)
}
