package protocol

// The types of this file and its neighbours are what contracts have in common
// beside their own fields: what may go with an input, with a result and with
// what is told on the way. A contract takes them up in its Go types, as in
// Request[Task[Seat], Delivery[Booking]]; nothing of them is required of a
// contract, and nobody acts on them but the handler or the model that reads
// them. What concerns every message, such as its deadline or its error, is in
// the envelope and not here.

// Task is an input with what may go beside it.
type Task[In any] struct {
	// Inputs is what the contract takes.
	Inputs In `json:"inputs"`
	// Context names what the sender had in mind.
	Context []Reference `json:"context,omitempty" jsonschema:"maxItems=64"`
	// Hints say how the sender would like it done, nil for no wish.
	Hints *Hints `json:"hints,omitempty"`
}

// Reference names something that both sides may know. It is a name and no
// address: nothing is ever fetched because of it, and whether the receiver has
// the thing, and may show it to this sender, is the receiver's to decide.
type Reference struct {
	Kind ReferenceKind `json:"kind" jsonschema:"enum=document,enum=tool,enum=message"`
	// ID is the name among things of the kind. It has no slash, so that it
	// cannot be mistaken for the address of a page or a file.
	ID string `json:"id" jsonschema:"pattern=^[A-Za-z0-9][A-Za-z0-9._:-]*$,maxLength=128"`
	// Digest is the lower hex sha256 of what the sender saw under the name, ""
	// if it does not matter whether it has changed since.
	Digest string `json:"digest,omitempty" jsonschema:"pattern=^[0-9a-f]{64}$"`
}

// ReferenceKind says what a reference names. The set is closed.
type ReferenceKind string

// The kinds of reference.
const (
	ReferenceDocument ReferenceKind = "document" // a document, by the id that its owner gave it
	ReferenceTool     ReferenceKind = "tool"     // a handle that a tool gave out, such as that of a search or a held seat
	ReferenceMessage  ReferenceKind = "message"  // an act of any conversation, by its message id
)

// Hints are wishes about how an answer is made. The receiver may ignore each
// of them, so a bound that must hold belongs into the contract's own inputs,
// and the deadline of the exchange is the envelope's reply_by.
type Hints struct {
	// TemperatureCap is the highest sampling temperature that the answer
	// should be made with, nil for any.
	TemperatureCap *float64 `json:"temperature_cap,omitempty" jsonschema:"minimum=0,maximum=2"`
	// MaxOutputTokens is how long the answer should be at most, in tokens of
	// whatever model makes it, 0 for any length.
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty" jsonschema:"minimum=1"`
	// LatencyMS is after how many milliseconds an answer has lost most of its
	// worth, 0 for no hurry.
	LatencyMS int64 `json:"latency_ms,omitempty" jsonschema:"minimum=1"`
}
