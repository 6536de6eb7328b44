package transcript

import "encoding/json"

// Trace is the record of one finished conversation, for writing one as JSON. Reading a trace into it forgives what
// [Validate] does not: judge the bytes, not the value.
type Trace struct {
	SchemaVersion   string            `json:"schemaVersion"` // Version
	ProtocolID      string            `json:"protocolId"`
	ConversationID  string            `json:"conversationId"`
	Epoch           int64             `json:"epoch"` // from 1
	Scope           string            `json:"scope"`
	ObservedAt      Time              `json:"observedAt"`
	Limits          Limits            `json:"limits"`
	Participants    List[Participant] `json:"participants"`
	Gathers         List[Gather]      `json:"gathers"`
	Messages        List[Message]     `json:"messages"` // in the order in which they were accepted
	Terminal        Terminal          `json:"terminal"`
	TruthEffect     string            `json:"truthEffect"`     // None
	AuthorityEffect string            `json:"authorityEffect"` // None
}

// Limits bound a conversation.
type Limits struct {
	MaxMessages int64 `json:"maxMessages"` // from 1
	DeadlineAt  Time  `json:"deadlineAt"`  // no message may be observed later
}

// Participant is one agent, as it was when the conversation began.
type Participant struct {
	PrincipalRef   string       `json:"principalRef"`
	BodyGeneration int64        `json:"bodyGeneration"` // from 1
	Role           string       `json:"role"`
	Audiences      List[string] `json:"audiences"` // the labels that it takes messages of
}

// Gather collects one contribution of each member. Nothing of it changes once it is open.
type Gather struct {
	GatherID   string       `json:"gatherId"`
	Membership List[string] `json:"membership"` // principal refs; sorted, though Validate does not ask for it
	Policy     Policy       `json:"policy"`
	Quorum     *int64       `json:"quorum"` // nil unless the policy is Quorum
	InputKind  Kind         `json:"inputKind"`
	Reducer    Reducer      `json:"reducer"`
	DeadlineAt Time         `json:"deadlineAt"`
}

// Message is one accepted message. A nil pointer is a null.
type Message struct {
	MessageID              string       `json:"messageId"`
	ProtocolID             string       `json:"protocolId"`
	ConversationID         string       `json:"conversationId"`
	Epoch                  int64        `json:"epoch"`
	SenderPrincipalRef     string       `json:"senderPrincipalRef"`
	SenderBodyGeneration   int64        `json:"senderBodyGeneration"`
	Audience               List[string] `json:"audience"`       // principal refs
	AudienceLabels         List[string] `json:"audienceLabels"` // each is a label of everybody in the audience
	Scope                  string       `json:"scope"`
	SenderSequence         int64        `json:"senderSequence"` // 1, 2, 3 … for each sender
	Kind                   Kind         `json:"kind"`
	CorrelationID          *string      `json:"correlationId"`
	CausationID            *string      `json:"causationId"` // of an earlier message
	PayloadType            string       `json:"payloadType"`
	PayloadDigest          string       `json:"payloadDigest"` // sha256: and lower hexadecimal digits
	ObservedAt             Time         `json:"observedAt"`
	ExpiresAt              Time         `json:"expiresAt"`
	VerificationReceiptRef string       `json:"verificationReceiptRef"`
	GatherID               *string      `json:"gatherId"` // of the gather that the message contributes to
}

// Terminal says how a conversation ended.
type Terminal struct {
	State                    State        `json:"state"`
	FenceMessageID           *string      `json:"fenceMessageId"`
	RequiredAcknowledgements List[string] `json:"requiredAcknowledgements"` // principal refs
	ReceivedAcknowledgements List[string] `json:"receivedAcknowledgements"`
	StateDigest              string       `json:"stateDigest"`
	UnresolvedParticipants   List[string] `json:"unresolvedParticipants"`
}

// List is a list that is never null: nil is written as an empty one.
type List[T any] []T

// MarshalJSON writes an array.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}
