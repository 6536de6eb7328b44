package a2a

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// A client without Parley is told its conversation's id, which is the key of what it
// asked for: as one with Parley it may ask for the same once more.
func TestWhatAForeignMessageAskedForIsNotDoneAgainUnderTheKeyThatItWasGiven(t *testing.T) {
	step := func(ctx context.Context) error {
		_, err := agent.Once(ctx, "charge", func(context.Context) (int, error) { return 1, nil })
		return err
	}
	for name, tt := range map[string]struct {
		does    func(ctx context.Context) error
		content string
		runs    int
		says    string // in the second task, "" for what the first one says
		entered bool   // the ledger has what the first one did
	}{
		"done":            {func(context.Context) error { return nil }, seat, 1, "", true},
		"failed for good": {func(context.Context) error { return agent.Fail(envelope.CodePermanent, "lost") }, seat, 1, "", true},
		"other content":   {func(context.Context) error { return nil }, `{"flight":"AY999"}`, 1, "mismatch", true},
		"failed for now":  {func(context.Context) error { return agent.Fail(envelope.CodeTransient, "busy") }, seat, 2, "", false},
		"refused":         {func(context.Context) error { return agent.Refuse(envelope.CodeCapacity, "full") }, seat, 2, "", false},
		"failed for now, a step was done": {func(ctx context.Context) error {
			return cmp.Or(step(ctx), agent.Fail(envelope.CodeTransient, "busy"))
		}, seat, 1, "outcome-unknown", true},
		"under way": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, seat, 1, "in-progress", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs := 0
				d := onDisk(t, Config{}, answers(func(ctx context.Context) (Booking, error) {
					runs++
					return Booking{"R1"}, tt.does(ctx)
				}))
				c := d.as(planner, wire.JSONRPC)
				first := c.sends(giving("m-1", seat))
				synctest.Wait()
				if name != "under way" {
					d.restart()
				}
				h := c.opens(book, envelope.Request)
				h.IdempotencyKey = first.ContextID
				said := ""
				if again, err := c.tries(carrying(t, h, tt.content)); err != nil {
					said = err.Error()
				} else {
					synctest.Wait()
					want, got := c.reads(first.ID), c.reads(again.ID)
					said = string(wire.Encode(got))
					if tt.says == "" && (got.Status.State != want.Status.State || len(got.Artifacts) != len(want.Artifacts)) {
						t.Errorf("it ends as %s, the first as %s", wire.Encode(got), wire.Encode(want))
					}
				}
				key := store.EffectKey{Recipient: flights, Sender: planner, Capability: h.Capability, Key: h.IdempotencyKey}
				if known, err := d.Store().Effect(context.WithoutCancel(t.Context()), key); tt.entered != (err == nil && known.Conversation == first.ContextID) {
					t.Errorf("the ledger has %+v, %v", known, err)
				}
				if runs != tt.runs || !strings.Contains(said, tt.says) {
					t.Errorf("after %d runs it says %s", runs, said)
				}
			})
		})
	}
}
