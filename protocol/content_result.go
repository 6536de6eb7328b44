package protocol

// Delivery is a result with what may go beside it.
type Delivery[Out any] struct {
	// Outputs is what the contract returns.
	Outputs Out `json:"outputs"`
	// Artifacts are what was made and is too large for a message.
	Artifacts []Artifact `json:"artifacts,omitempty" jsonschema:"maxItems=64"`
	// Completion says how much of what was asked for this is.
	Completion Completion `json:"completion" jsonschema:"enum=complete,enum=partial,enum=truncated,enum=out-of-time,enum=withheld"`
}

// Artifact is where something lies that was made. Whoever fetches it decides
// for itself whether it may reach the address, and compares the digest.
type Artifact struct {
	URI string `json:"uri" jsonschema:"format=uri,maxLength=2048"`
	// MediaType is its type (RFC 6838), "" if it is not known.
	MediaType string `json:"media_type,omitempty" jsonschema:"pattern=^[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*$,maxLength=128"`
	// Digest is the lower hex sha256 of its bytes, "" for something that may
	// still change, such as a page.
	Digest string `json:"digest,omitempty" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Bytes is its size, 0 if it is not known.
	Bytes int64 `json:"bytes,omitempty" jsonschema:"minimum=1"`
}

// Completion says how much of what was asked for a result is. Like the code of
// an error it is named by what the reader can do about it, and the set is
// closed. It never excuses a missing result: what could not be done at all is a
// failure, and what will not be done is a refusal.
type Completion string

// The completions.
const (
	CompletionComplete  Completion = "complete"    // all of it: go on
	CompletionPartial   Completion = "partial"     // a source was missing: ask elsewhere for the rest
	CompletionTruncated Completion = "truncated"   // a bound on length or cost cut it: ask for less at once
	CompletionOutOfTime Completion = "out-of-time" // the time ended: ask with more of it
	CompletionWithheld  Completion = "withheld"    // a rule keeps the rest back: do not ask again
)
