package guard

import (
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// Contract is what the guard needs to know about a contract. It is immutable
// and safe for concurrent use.
type Contract struct {
	Name     protocol.Name
	Protocol string
	// Input and Result are the schemas as this side declares them.
	Input, Result *schema.Schema
	// newerInput and newerResult read what a newer minor version may add to.
	newerInput, newerResult *schema.Schema
}

// NewContract ties a name to its schemas.
func NewContract(name protocol.Name, proto string, input, result *schema.Schema) *Contract {
	return &Contract{Name: name, Protocol: proto, Input: input, Result: result, newerInput: input.Open(), newerResult: result.Open()}
}

// ReadInput is the schema for reading input that was admitted: members that a
// newer minor version added are ignored.
func (c *Contract) ReadInput() *schema.Schema { return c.newerInput }

// ReadResult is the same for results.
func (c *Contract) ReadResult() *schema.Schema { return c.newerResult }
