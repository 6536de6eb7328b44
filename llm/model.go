// Package llm is what Parley knows about language models: one method, plain types
// and an adapter for endpoints that speak the OpenAI chat-completions wire.
//
// The types here carry no wire detail. The oddities of endpoints (arguments sent
// as objects, calls without ids, reasoning in three places) end in the adapter.
package llm

import (
	"context"
	"encoding/json"
)

// Model answers one request. Implementations may be called from several
// goroutines at once; Complete returns when the reply is whole or ctx ends.
// Failures of the endpoint or of the model's output are of type *Error.
type Model interface {
	Complete(ctx context.Context, r Request) (*Response, error)
}

// Service is the optional second face of a Model that has a life of its own: its
// owner starts it before the first Complete and stops it after the last. Both
// methods tolerate being called twice; Stop returns when everything has ended.
type Service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// Describer is implemented by a model that can say what it is in a short text for
// people: the model's name and host, or that it is not a language model at all.
type Describer interface {
	Describe() string
}

// Request is one turn put to a model.
type Request struct {
	Messages  []Message  // the conversation so far, oldest first
	Functions []Function // what the model may call; empty means nothing
	Choice    Choice     // whether it must call; empty means ChoiceAuto
	Output    *Output    // structured output; nil means free text
	// Temperature is passed on when not nil; zero is a value like any other.
	Temperature *float64
	MaxTokens   int  // upper bound of output tokens; 0 means the endpoint's own
	OneCall     bool // at most one call in the reply, where the endpoint can promise it
}

// Role says who speaks in a Message.
type Role string

// The four roles of a conversation with a model.
const (
	RoleSystem    Role = "system"    // instructions of the program
	RoleUser      Role = "user"      // what the model is to answer
	RoleAssistant Role = "assistant" // what the model said before
	RoleTool      Role = "tool"      // the result of a call; CallID names the call
)

// Message is one entry of a conversation.
type Message struct {
	Role   Role
	Text   string
	Calls  []Call // RoleAssistant: the calls the model made
	CallID string // RoleTool: the id of the answered call
	Name   string // RoleTool: the function that answered; else a participant's name
	// Reasoning is what the model thought beside its answer. It is sent back only
	// to endpoints whose profile asks for it.
	Reasoning string
}

// Function is something the model may call.
type Function struct {
	Name        string          // letters, digits, _ and -, at most 64
	Description string          // for the model
	Parameters  json.RawMessage // JSON Schema of the arguments; empty means no arguments
	Strict      bool            // ask the endpoint to hold the model to Parameters
}

// Output asks for a reply that is one JSON document.
type Output struct {
	Name   string          // a name for the endpoint's logs and caches
	Schema json.RawMessage // JSON Schema of the document; empty means any object
	Strict bool            // ask the endpoint to hold the model to Schema
}

// Choice says whether the model must call: one of the three constants, or the name
// of the one function it must call.
type Choice string

// The choices that are not a function's name.
const (
	ChoiceAuto     Choice = "auto"     // the model decides
	ChoiceRequired Choice = "required" // some function must be called
	ChoiceNone     Choice = "none"     // no function may be called
)

// Call is one function call of a model.
type Call struct {
	ID   string // made by the adapter, unique within a conversation
	Name string // as the model wrote it; it may name no function that was offered
	// Arguments is the raw text as the model wrote it: perhaps not JSON.
	Arguments string
}

// Finish says why a reply ended.
type Finish string

// The reasons why a reply ended. A reply that was cut keeps FinishLength even when
// it has calls: the last of them may be incomplete.
const (
	FinishStop    Finish = "stop"    // the model was done
	FinishLength  Finish = "length"  // the token limit cut the reply
	FinishFilter  Finish = "filter"  // the endpoint withheld content
	FinishRefusal Finish = "refusal" // the model declined; Text has its words
	FinishCalls   Finish = "calls"   // the model wants its calls answered
)

// Usage counts tokens as the endpoint reports them.
type Usage struct {
	InputTokens, OutputTokens int
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens}
}

// Response is a model's whole reply.
type Response struct {
	Model     string // the model that answered, as the endpoint names it
	Text      string
	Reasoning string // what the model thought beside its answer; never part of Text
	Calls     []Call
	Finish    Finish
	Usage     Usage
}
