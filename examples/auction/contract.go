package main

import (
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

// Load is what is to be moved, and how long that may take.
type Load struct {
	From  string `json:"from" jsonschema:"minLength=1,maxLength=60"`
	To    string `json:"to" jsonschema:"minLength=1,maxLength=60"`
	Kilos int    `json:"kilos" jsonschema:"minimum=1,maximum=24000"`
	Days  int    `json:"days" jsonschema:"minimum=1,maximum=14" jsonschema_description:"it must be there within so many days"`
}

// Offer is what a carrier proposes: a price, not yet a promise.
type Offer struct {
	Euros int        `json:"euros" jsonschema:"minimum=1,maximum=100000"`
	Days  int        `json:"days" jsonschema:"minimum=1,maximum=14"`
	Truck string     `json:"truck" jsonschema:"enum=curtainsider,enum=reefer"`
	Notes agent.Text `json:"notes,omitempty" jsonschema:"maxLength=200"`
}

// Haulage is what the carrier that got the award delivers: a truck that is
// booked. Nothing depends on the notes.
type Haulage struct {
	Status    string     `json:"status" jsonschema:"const=booked"`
	Reference string     `json:"reference" jsonschema:"pattern=^[A-Z]{2}-[0-9]{4}$"`
	Notes     agent.Text `json:"notes,omitempty" jsonschema:"maxLength=200"`
}

// Haul calls for offers, awards one and gets a truck.
var Haul = protocol.NewAuction[Load, Offer, Haulage]("acme.freight.haul/v1")
