package main

import (
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

// Paper says whose price is followed.
type Paper struct {
	Symbol string `json:"symbol" jsonschema:"pattern=^[A-Z]+$,maxLength=6"`
}

// Quote is one price of a paper. The numbers count from 1.
type Quote struct {
	Number int    `json:"number" jsonschema:"minimum=1"`
	Symbol string `json:"symbol" jsonschema:"pattern=^[A-Z]+$,maxLength=6"`
	Cents  int    `json:"cents" jsonschema:"minimum=1"`
}

// Move is a step from one quote to the next that somebody wants explained.
type Move struct {
	Symbol string `json:"symbol" jsonschema:"pattern=^[A-Z]+$,maxLength=6"`
	Number int    `json:"number" jsonschema:"minimum=2" jsonschema_description:"the quote that moved"`
	From   int    `json:"from_cents" jsonschema:"minimum=1"`
	To     int    `json:"to_cents" jsonschema:"minimum=1"`
}

// Opinion is what is behind a move. Nothing depends on the notes.
type Opinion struct {
	Cause string     `json:"cause" jsonschema:"enum=news,enum=noise"`
	Notes agent.Text `json:"notes,omitempty" jsonschema:"maxLength=200"`
}

// Quotes tells the prices of a paper as they come, Explain what moved one.
var (
	Quotes  = protocol.NewStream[Paper, Quote]("acme.market.quotes/v1")
	Explain = protocol.Query[Move, Opinion]("acme.market.explain/v1")
)
