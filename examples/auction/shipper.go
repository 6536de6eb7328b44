package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/transcript"
)

// ship calls the carriers for offers and prints what comes of it. The order's
// number is the key: whoever runs this again does not get a second truck. It
// returns the id of the conversation.
func ship(ctx context.Context, out io.Writer, shipper *agent.Agent, bidders []string, l Load, order string) (conversation string, err error) {
	fmt.Fprintf(out, "%d kg from %s to %s within %d days: calling %v\n", l.Kilos, l.From, l.To, l.Days, bidders)
	result, err := agent.CallForProposals(ctx, shipper, bidders, Haul, l, terms(out, shipper, l), agent.Key(order))
	if _, unmet := errors.AsType[*protocol.UnmetError](err); err != nil && !unmet {
		return result.Conversation, err
	}
	for _, d := range result.Delivered {
		fmt.Fprintf(out, "award: %s, %s as %s\n", d.Bidder, d.Result.Status, d.Result.Reference)
	}
	for _, bidder := range slices.Sorted(maps.Keys(result.Failed)) {
		fmt.Fprintf(out, "award: %v\n", result.Failed[bidder])
	}
	for _, bidder := range slices.Sorted(maps.Keys(result.Others)) {
		err := result.Others[bidder]
		switch rejected, ok := errors.AsType[*protocol.RejectedError](err); {
		case ok:
			fmt.Fprintf(out, "no award: %s was turned down (%s)\n", bidder, rejected.Reason)
		case err == nil:
			fmt.Fprintf(out, "no award: %s has not answered yet\n", bidder)
		default:
			fmt.Fprintf(out, "no award: %v\n", err)
		}
	}
	return result.Conversation, nil
}

// terms let the shipper's model rank the offers, each of which is printed. The
// model sees no names, only the offers; those that it leaves out are rejected.
func terms(out io.Writer, shipper *agent.Agent, l Load) agent.AuctionTerms[Load, Offer] {
	judge := agent.Judge[Offer](shipper, fmt.Sprintf("You ship goods. They must arrive within %d days: leave out what takes longer. "+
		"Of the rest the cheapest offer is the best.", l.Days))
	return agent.AuctionTerms[Load, Offer]{Pick: func(ctx context.Context, bids []agent.Tender[Offer]) ([]agent.Tender[Offer], error) {
		for _, b := range bids {
			fmt.Fprintf(out, "offer: %s, a %s for %d euros in %d days\n", b.Bidder, b.Bid.Truck, b.Bid.Euros, b.Bid.Days)
		}
		return judge(ctx, bids)
	}}
}

// conclude prints how the conversation ended: its trace, which anybody can
// validate, says so.
func conclude(ctx context.Context, out io.Writer, host *agent.Host, shipper *agent.Agent, conversation string) error {
	log, err := host.Store().Log(ctx, shipper.URI(), conversation, 0)
	if err != nil {
		return err
	}
	exchanges, err := host.Store().Exchanges(ctx, shipper.URI(), conversation)
	if err != nil {
		return err
	}
	trace, err := transcript.Export(log, exchanges)
	if errors.Is(err, transcript.ErrLive) { // the award does not wait for who is late
		fmt.Fprintln(out, "the conversation has not ended")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the conversation ended %s after %d messages\n", trace.Terminal.State, len(trace.Messages))
	return nil
}
