package main

import (
	"context"
	"fmt"
	"io"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/transcript"
)

// follow prints the quotes of a paper and asks the analyst about each that
// moved by three percent or more, until one is below the floor. It returns the
// id of the subscription's conversation.
func follow(ctx context.Context, out io.Writer, watcher *agent.Agent, p Paper, floor int) (conversation string, err error) {
	last := 0
	for q, err := range agent.Subscribe(ctx, watcher, "market", Quotes, p, agent.Opened(func(id string) { conversation = id })) {
		if err != nil {
			return conversation, err
		}
		fmt.Fprintf(out, "%2d  %s %.2f\n", q.Number, q.Symbol, float64(q.Cents)/100)
		if last > 0 && 100*max(q.Cents-last, last-q.Cents) >= 3*last {
			o, err := agent.Ask(ctx, watcher, "analyst", Explain, Move{Symbol: q.Symbol, Number: q.Number, From: last, To: q.Cents})
			if err != nil {
				return conversation, err
			}
			fmt.Fprintf(out, "    %+.1f %%: %s. %s\n", 100*float64(q.Cents-last)/float64(last), o.Cause, o.Notes)
		}
		last = q.Cents
		if q.Cents < floor {
			fmt.Fprintf(out, "    below %.2f: enough\n", float64(floor)/100)
			break // leaving the loop cancels the subscription
		}
	}
	return conversation, nil
}

// conclude waits until the market has confirmed the cancel, and prints that
// and how the conversation ended.
func conclude(ctx context.Context, out io.Writer, host *agent.Host, watcher *agent.Agent, conversation string) error {
	for e, err := range agent.Watch(ctx, watcher, conversation, "market") {
		if err != nil {
			return err
		}
		switch act, _ := e.(*agent.Acted); {
		case act == nil:
		case act.Event == "!cancel":
			fmt.Fprintln(out, "the watcher cancels")
		case act.Event == "?inform.c":
			fmt.Fprintln(out, "the market confirms that it has stopped")
		}
	}
	log, err := host.Store().Log(ctx, watcher.URI(), conversation, 0)
	if err != nil {
		return err
	}
	exchanges, err := host.Store().Exchanges(ctx, watcher.URI(), conversation)
	if err != nil {
		return err
	}
	trace, err := transcript.Export(log, exchanges)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the conversation ended %s\n", trace.Terminal.State)
	return nil
}
