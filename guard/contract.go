package guard

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// Contract is what the guard needs to know about a contract. It is immutable
// and safe for concurrent use.
type Contract struct {
	Name     protocol.Name
	Protocol string
	// Effects says that the contract has effects.
	Effects bool
	// Rounds is how many rounds an auction has, 0 in other contracts.
	Rounds int
	// The schemas of what the acts carry, as this side declares them; nil where
	// the contract has no such act.
	Input, Result, Progress, Bid, Item, Contribution *schema.Schema
	// newer are the schemas that read what a newer minor version may add to.
	newer map[*schema.Schema]*schema.Schema
}

// Bind makes the schemas of a contract from its Go types. What a schema cannot
// express is an error that names the contract and the field.
func Bind(d protocol.Declared) (*Contract, error) {
	c := &Contract{Name: d.Name(), Protocol: d.Protocol(), Effects: d.Effects(), newer: map[*schema.Schema]*schema.Schema{}}
	if rounds, ok := d.(interface{ MaxRounds() int }); ok {
		c.Rounds = rounds.MaxRounds()
	}
	types := d.Types()
	for _, part := range []struct {
		what string
		of   reflect.Type
		name string
		to   **schema.Schema
	}{
		{"what it takes", types.Input, c.Name.Input(), &c.Input},
		{"what it returns", types.Result, c.Name.Result(), &c.Result},
		{"its progress", types.Progress, c.Name.Progress(), &c.Progress},
		{"its bids", types.Bid, c.Name.Bid(), &c.Bid},
		{"its items", types.Item, c.Name.Item(), &c.Item},
		{"its contributions", types.Contribution, c.Name.Contribution(), &c.Contribution},
	} {
		if part.of == nil {
			continue
		}
		s, err := schema.Of(part.of, part.name)
		if err != nil {
			return nil, fmt.Errorf("contract %s: %s: %w", c.Name, part.what, err)
		}
		*part.to, c.newer[s] = s, s.Open()
	}
	return c, nil
}

// Read is the schema for reading what was admitted under s, one of the
// contract's schemas: members that a newer minor version added are ignored.
func (c *Contract) Read(s *schema.Schema) *schema.Schema { return c.newer[s] }

// Carries is the schema, with its name, of what an act of the contract carries;
// nil where the contract has no such act, and for the acts that carry nothing.
func (c *Contract) Carries(u protocol.Utterance) (name string, s *schema.Schema) {
	switch {
	case u.Performative == envelope.Request, u.Performative == envelope.CFP,
		u.Performative == envelope.Propose && c.Protocol == protocol.ProposeV1:
		return c.Name.Input(), c.Input
	case u.Performative == envelope.Propose:
		return c.Name.Bid(), c.Bid
	case u.Performative != envelope.Inform || u.Status == envelope.Cancelled:
		return "", nil
	case u.Status != envelope.Partial:
		return c.Name.Result(), c.Result
	case c.Protocol == protocol.SubscribeV1:
		return c.Name.Item(), c.Item
	case c.Protocol == protocol.GatherV1:
		return c.Name.Contribution(), c.Contribution
	}
	return c.Name.Progress(), c.Progress
}

// fenceNote is the schema of what a fence carries.
var fenceNote = sync.OnceValue(func() (note struct{ own, newer *schema.Schema }) {
	s, err := schema.For[protocol.FenceNote](protocol.FenceSchema)
	if err != nil {
		panic(err) // the type is the module's own, and the tests derive it
	}
	note.own, note.newer = s, s.Open()
	return note
})
