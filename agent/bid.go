package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// holds is how long a proposal stands after the deadline of its call when
// nothing else is said.
const holds = 30 * time.Second

// BidOption configures a Bid.
type BidOption interface{ applyBid(*offer) }

type bidOption func(*offer)

func (f bidOption) applyBid(o *offer) { f(o) }

// Holds is how long a proposal stands after the deadline of its call: an award
// that comes later finds it lapsed. Default: 30 s.
func Holds(d time.Duration) BidOption { return bidOption(func(o *offer) { o.holds = d }) }

// Bid lets Go code take part in auctions: bid makes a proposal, or turns a call
// down with Refuse, and perform does what was awarded. bid is called for each
// call, in each round, and must have no effects; perform is called once, for an
// award, with the latest call and the proposal that was accepted, and its
// effects are made with EffectKey. Both run as Handle's function does.
func Bid[Call, Proposal, Result any](
	c protocol.Auction[Call, Proposal, Result],
	bid func(ctx context.Context, call Call) (Proposal, error),
	perform func(ctx context.Context, call Call, bid Proposal) (Result, error),
	opts ...BidOption,
) Option {
	answers := map[phase]answer{
		bidding: goAnswer(func(ctx context.Context, j *job) ([]byte, error) {
			call, err := read[Call](j)
			if err != nil {
				return nil, err
			}
			proposal, err := bid(ctx, call)
			if err != nil {
				return nil, err
			}
			return write(ctx, j, j.offer.Bid, proposal)
		}),
		performing: goAnswer(func(ctx context.Context, j *job) ([]byte, error) {
			call, err := read[Call](j)
			if err != nil {
				return nil, err
			}
			proposal, err := schema.Decode[Proposal](j.offer.Read(j.offer.Bid), j.bid)
			if err != nil {
				return nil, fmt.Errorf("reading what was proposed under %s: %w", j.offer.Name, err)
			}
			result, err := perform(ctx, call, proposal)
			if err != nil {
				return nil, err
			}
			return write(ctx, j, j.offer.Result, result)
		}),
	}
	return option(func(a *Agent) {
		offering(c, answers).apply(a)
		if o := a.offers[c.Name().Capability()]; o != nil {
			for _, opt := range opts {
				opt.applyBid(o)
			}
		}
	})
}
