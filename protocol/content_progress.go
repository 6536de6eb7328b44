package protocol

// Progress is what is told on the way to a result. It promises nothing: only
// the result counts, and whoever missed a progress has missed nothing. P is
// the type of what is already there, often that of the result; Empty for a
// contract that shows nothing before its end.
type Progress[P any] struct {
	// Percent is how much of the work is done, by the worker's own estimate.
	Percent int `json:"percent" jsonschema:"minimum=0,maximum=100"`
	// Step names what is being done, in a few words for people.
	Step Text `json:"step,omitempty" jsonschema:"maxLength=200"`
	// Observation is what was seen on the way, by name: what a contract wants
	// its readers to compute with belongs into P instead.
	Observation map[string]Text `json:"observation,omitempty" jsonschema:"maxProperties=32"`
	// Partial is what is already there, nil for nothing. Each replaces the one
	// before it.
	Partial *P `json:"partial,omitempty"`
}
