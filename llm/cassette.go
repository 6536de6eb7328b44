package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// recording is a line of a cassette: a request without what is volatile, the SHA-256
// of its canonical form in hex, and the reply or the *Error that it met.
type recording struct {
	Key     string          `json:"key"`
	Request json.RawMessage `json:"request"`
	Reply   *keptReply      `json:"reply,omitempty"`
	Failure *keptFailure    `json:"failure,omitempty"`
}

// The kept types give the format of cassettes its names. What is not set is left out,
// so that a member of Request that comes later changes no key.
type (
	keptRequest struct {
		Messages    []keptMessage  `json:"messages,omitempty"`
		Functions   []keptFunction `json:"functions,omitempty"`
		Choice      Choice         `json:"choice,omitempty"`
		Output      *keptOutput    `json:"output,omitempty"`
		Temperature *float64       `json:"temperature,omitempty"`
		MaxTokens   int            `json:"max_tokens,omitempty"`
		OneCall     bool           `json:"one_call,omitempty"`
	}
	keptMessage struct {
		Role      Role       `json:"role"`
		Text      string     `json:"text,omitempty"`
		Calls     []keptCall `json:"calls,omitempty"`
		CallID    string     `json:"call_id,omitempty"`
		Name      string     `json:"name,omitempty"`
		Reasoning string     `json:"reasoning,omitempty"`
	}
	keptFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		Strict      bool            `json:"strict,omitempty"`
	}
	keptOutput struct {
		Name   string          `json:"name,omitempty"`
		Schema json.RawMessage `json:"schema,omitempty"`
		Strict bool            `json:"strict,omitempty"`
	}
	keptCall struct {
		ID        string `json:"id,omitempty"`
		Name      string `json:"name"`
		Arguments string `json:"arguments,omitempty"`
	}
	keptReply struct {
		Model     string     `json:"model,omitempty"`
		Text      string     `json:"text,omitempty"`
		Reasoning string     `json:"reasoning,omitempty"`
		Calls     []keptCall `json:"calls,omitempty"`
		Finish    Finish     `json:"finish"`
		Input     int        `json:"input_tokens,omitempty"`
		Output    int        `json:"output_tokens,omitempty"`
	}
	keptFailure struct {
		Kind       ErrorKind `json:"kind"`
		Status     int       `json:"status,omitempty"`
		RetryAfter int64     `json:"retry_after_ms,omitempty"`
		Text       string    `json:"text,omitempty"`
	}
)

// keep returns the canonical request of a cassette after settle: members sorted,
// schemas without white space, and the ids of calls replaced by their order, so that
// a result still belongs to its call.
func keep(r Request, settle func(Request) Request) (json.RawMessage, error) {
	if settle != nil {
		r = settle(copied(r))
	}
	places := map[string]string{}
	place := func(id string) string {
		if id != "" && places[id] == "" {
			places[id] = strconv.Itoa(len(places) + 1)
		}
		return places[id]
	}
	out := keptRequest{Choice: r.Choice, Output: (*keptOutput)(r.Output), Temperature: r.Temperature, MaxTokens: r.MaxTokens, OneCall: r.OneCall}
	for _, m := range r.Messages {
		kept := keptMessage{Role: m.Role, Text: m.Text, CallID: m.CallID, Name: m.Name, Reasoning: m.Reasoning, Calls: keepCalls(m.Calls)}
		for i := range kept.Calls {
			kept.Calls[i].ID = place(kept.Calls[i].ID)
		}
		kept.CallID = place(kept.CallID)
		out.Messages = append(out.Messages, kept)
	}
	for _, f := range r.Functions {
		out.Functions = append(out.Functions, keptFunction(f))
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return canonical(raw)
}

// copied returns a copy of r whose lists and output may be changed.
func copied(r Request) Request {
	r.Messages, r.Functions = slices.Clone(r.Messages), slices.Clone(r.Functions)
	for i := range r.Messages {
		r.Messages[i].Calls = slices.Clone(r.Messages[i].Calls)
	}
	if r.Output != nil {
		o := *r.Output
		r.Output = &o
	}
	return r
}

func keepCalls(calls []Call) []keptCall {
	var out []keptCall
	for _, c := range calls {
		out = append(out, keptCall(c))
	}
	return out
}

func keepReply(r *Response) *keptReply {
	return &keptReply{Model: r.Model, Text: r.Text, Reasoning: r.Reasoning, Calls: keepCalls(r.Calls),
		Finish: r.Finish, Input: r.Usage.InputTokens, Output: r.Usage.OutputTokens}
}

func (k *keptReply) response() *Response {
	r := &Response{Model: k.Model, Text: k.Text, Reasoning: k.Reasoning, Finish: k.Finish, Usage: Usage{k.Input, k.Output}}
	for _, c := range k.Calls {
		r.Calls = append(r.Calls, Call(c))
	}
	return r
}

func keepFailure(e *Error) *keptFailure {
	return &keptFailure{Kind: e.Kind, Status: e.Status, RetryAfter: e.RetryAfter.Milliseconds(), Text: e.Text}
}

func (k *keptFailure) error() *Error {
	return &Error{Kind: k.Kind, Status: k.Status, RetryAfter: time.Duration(k.RetryAfter) * time.Millisecond, Text: k.Text}
}

// canonical writes JSON without white space and with its members sorted.
func canonical(raw []byte) (json.RawMessage, error) {
	tree, err := numbered(raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// numbered decodes JSON and keeps its numbers as they are written.
func numbered(raw []byte) (tree any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&tree)
	return tree, err
}

func keyOf(request json.RawMessage) string {
	sum := sha256.Sum256(request)
	return hex.EncodeToString(sum[:])
}
