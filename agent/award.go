package agent

import (
	"context"
	"slices"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// reject turns down the proposals that are not in the ranking.
func (v *auction[Call, Bid]) reject(ctx context.Context, ranking []Tender[Bid]) error {
	bids, _, err := v.standing(ctx)
	if err != nil {
		return err
	}
	bids = slices.DeleteFunc(bids, func(t Tender[Bid]) bool {
		return slices.ContainsFunc(ranking, func(r Tender[Bid]) bool { return r.Bidder == t.Bidder })
	})
	return v.each(ctx, bids, "!refuse", func(s *step) error {
		return s.utter(ctx, &draft{act: protocol.Utterance{Performative: envelope.Refuse}, err: envelope.NewError(envelope.CodePermanent, "not-chosen")})
	})
}

// settle gives the awards and waits for what comes of them. Whoever stands by
// gets the award of one whose proposal was no longer there.
func (v *auction[Call, Bid]) settle(ctx context.Context, a *assembly, ranking []Tender[Bid]) ([]Tender[Bid], error) {
	for {
		next := v.next(ranking)
		if len(next) > 0 {
			if err := v.award(ctx, next); err != nil {
				return nil, err
			}
			continue
		}
		pending := v.pending(ranking)
		if pending == 0 {
			break
		}
		if err := v.await(ctx, a, func() bool { return v.pending(ranking) < pending }); err != nil {
			return nil, err
		}
	}
	if err := v.reject(ctx, nil); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ranking, func(t Tender[Bid]) bool { return v.rows[t.Bidder].State.Award == "" }), nil
}

// next are those who should get an award now: the best that still stand, as
// many as awards are left to give.
func (v *auction[Call, Bid]) next(ranking []Tender[Bid]) []Tender[Bid] {
	left, now := max(1, v.terms.Awards), v.host.seam.now()
	var stand []Tender[Bid]
	for _, t := range ranking {
		switch x := v.rows[t.Bidder]; {
		case x.State.Award != "" && !gone(x, t.Until):
			left--
		case x.State.State == stateProposed && now.Before(t.Until):
			stand = append(stand, t)
		}
	}
	return stand[:min(max(left, 0), len(stand))]
}

// gone reports whether an award found no proposal any more: it was withdrawn,
// had lapsed or its bidder had given up waiting, and nothing was done. That a
// proposal lapsed before it could is not believed. Any other award is never
// given to somebody else.
func gone(x store.Exchange, until time.Time) bool {
	switch e := x.State.Error; {
	case x.State.Outcome() == protocol.Withdrawn:
		return true
	case x.State.Outcome() != protocol.Failed || e == nil:
		return false
	case e.Reason == guard.ReasonPostTerminal:
		return x.Final != x.State.Trigger // the receipt of the award says so, not an act of the bidder's
	default:
		return e.Code == envelope.CodeDeadline && e.Reason == "lapsed" && !x.EndedAt.Before(until.Add(-guard.Skew))
	}
}

// pending is how many awards nothing has come of yet.
func (v *auction[Call, Bid]) pending(ranking []Tender[Bid]) int {
	n := 0
	for _, t := range ranking {
		if x := v.rows[t.Bidder]; x.State.Award != "" && !x.State.Done() {
			n++
		}
	}
	return n
}

// award accepts the proposals.
func (v *auction[Call, Bid]) award(ctx context.Context, to []Tender[Bid]) error {
	within := v.terms.DeliverWithin
	if within == 0 {
		within = askWithin
	}
	return v.each(ctx, to, "!agree", func(s *step) error {
		return s.utter(ctx, &draft{act: protocol.Utterance{Performative: envelope.Agree}, key: v.awardKey(s.x.Peer), replyBy: v.by(s.now, within)})
	})
}

// awardKey is the identity of what the award brings about.
func (v *auction[Call, Bid]) awardKey(bidder string) string {
	switch {
	case v.question.key != "":
		return envelope.DerivedID("award", v.question.key, bidder)
	case v.parent != nil:
		return envelope.DerivedID(append(v.parent.business(), "awarded", v.identity, bidder)...)
	}
	return envelope.DerivedID("award", v.party.Owner, v.party.Conversation, bidder)
}

// unmet is the error of an auction that brought less than it was held for.
func (v *auction[Call, Bid]) unmet() error {
	c := protocol.Conclusion{Awards: max(1, v.terms.Awards)}
	err := &protocol.UnmetError{Conversation: v.party.Conversation, Terminal: protocol.TerminalBlocked}
	for member, x := range v.rows {
		if x.State.State == stateCalled || x.State.State == stateExpired {
			err.Missing = append(err.Missing, member)
			// It has not ended yet, but it has not answered in time.
			x.State.State, x.State.Error = "done:timed_out", envelope.NewError(envelope.CodeDeadline, "lapsed")
		}
		c.Exchanges = append(c.Exchanges, x.State)
	}
	slices.Sort(err.Missing)
	if terminal, over := c.Terminal(); over {
		err.Terminal = terminal
	}
	return err
}
