package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// Streamer is the optional second face of a Model that tells its reply while it is
// being made.
//
// Stream calls each for every part of the reply as it comes, in order and on the
// caller's goroutine, and returns what Complete would have returned for the same
// reply. Parts are for showing; only the Response has been checked and assembled.
// An error of each ends the stream and is returned as it is; the end of ctx ends it
// at once, with an error that wraps that of ctx. Every other error is an *Error, and
// the parts told before it are all there is. A nil each hears nothing.
//
// Implementations may be called from several goroutines at once. A call is repeated
// after a failure only while nothing was told.
type Streamer interface {
	Stream(ctx context.Context, r Request, each func(Part) error) (*Response, error)
}

// Part is a piece of a reply; one of its fields is set. Put together, the Text of all
// parts is the Text of the Response, unless a model declines in the middle of an
// answer. A think block that is never closed was told as Reasoning, and is told again
// as the Text it turned out to be.
type Part struct {
	Text      string
	Reasoning string
	// Call is a fragment of a call under the endpoint's id; the calls of the Response
	// have ids of ours.
	Call *Delta
}

// Stream asks m for a reply in parts if m is a Streamer. Any other model is asked for
// a whole one, whose parts are then told at once. See Streamer.
func Stream(ctx context.Context, m Model, r Request, each func(Part) error) (*Response, error) {
	if s, ok := m.(Streamer); ok {
		return s.Stream(ctx, r, each)
	}
	out, err := m.Complete(ctx, r)
	if err == nil {
		err = tellAll(out, each)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// tellAll tells a whole reply.
func tellAll(reply *Response, each func(Part) error) error {
	if each == nil {
		return nil
	}
	parts := []Part{{Reasoning: reply.Reasoning}, {Text: reply.Text}}
	for i, c := range reply.Calls {
		parts = append(parts, Part{Call: &Delta{Index: &i, Position: i, ID: c.ID, Name: c.Name, Arguments: c.Arguments}})
	}
	for _, p := range parts {
		if p == (Part{}) {
			continue
		}
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// Stream sends r and tells the reply as it comes. It repeats the call as Complete
// does, but only while nothing was told. Usage is asked for where the profile allows,
// and is zero where the endpoint does not count. See Streamer.
func (c *Client) Stream(ctx context.Context, r Request, each func(Part) error) (*Response, error) {
	if c.broken != nil {
		return nil, &Error{Kind: ErrorBadRequest, Err: c.broken}
	}
	wire, err := c.encode(r)
	if err != nil {
		return nil, &Error{Kind: ErrorBadRequest, Err: err}
	}
	wire.Stream = true
	if c.config.Profile.StreamUsage {
		wire.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	t := &teller{each: each}
	var reply openai.ChatCompletionResponse
	failed := c.repeat(ctx, func() (err error) {
		if reply, err = c.stream(ctx, wire, t); wire.StreamOptions != nil && !t.told && refusesUsage(err) {
			wire.StreamOptions = nil
			reply, err = c.stream(ctx, wire, t)
		}
		if t.stopped != nil {
			return nil // the consumer's error is none of the call
		}
		return err
	}, func() bool { return t.told })
	if t.stopped != nil {
		return nil, t.stopped
	}
	if failed != nil {
		return nil, failed
	}
	return c.decode(r, reply), nil
}

// refusesUsage reports whether a call may have failed for its stream_options.
func refusesUsage(err error) bool {
	failed := asError(err)
	return failed != nil && (failed.Status == http.StatusUnprocessableEntity || strings.Contains(failed.Text, "stream_options"))
}

// stream makes one call.
func (c *Client) stream(ctx context.Context, wire openai.ChatCompletionRequest, t *teller) (reply openai.ChatCompletionResponse, err error) {
	validator := openai.NewReasoningValidator() // what Complete refuses is refused here
	if err := validator.Validate(wire); err != nil {
		return reply, err
	}
	body, err := json.Marshal(wire)
	if err != nil {
		return reply, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.BaseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return reply, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	if c.config.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+c.config.APIKey)
	}
	res, err := c.opener.Do(request)
	if err != nil {
		return reply, err
	}
	defer res.Body.Close()
	source := bufio.NewReader(&bounded{source: res.Body, limit: c.config.MaxBody, left: c.config.MaxBody})
	if isWhole(source) {
		reply, err = readWhole(source, t)
	} else {
		a := &assembly{teller: t}
		if err = a.read(ctx, source); err == nil {
			reply, err = a.reply(), a.finish()
		}
	}
	if failed := asError(err); failed != nil && t.stopped == nil {
		failed.Status, failed.RetryAfter = res.StatusCode, retryAfter(res.Header, c.config.Now())
	}
	return reply, err
}

// isWhole reports whether a body is one JSON document: some endpoints do not stream
// when asked to, and some put an error in place of a stream. No line of a stream
// begins with a bracket.
func isWhole(source *bufio.Reader) bool {
	for {
		b, err := source.Peek(1)
		switch {
		case err != nil:
			return false
		case b[0] == '{' || b[0] == '[':
			return true
		case b[0] != ' ' && b[0] != '\t' && b[0] != '\r' && b[0] != '\n':
			return false
		}
		_, _ = source.Discard(1)
	}
}

// readWhole reads the answer of an endpoint that did not stream, and tells it.
func readWhole(source *bufio.Reader, t *teller) (reply openai.ChatCompletionResponse, err error) {
	var body bytes.Buffer
	if _, err := body.ReadFrom(source); err != nil {
		return reply, readFailure(err)
	}
	normal, err := normalise(body.Bytes())
	if err != nil {
		return reply, err
	}
	if err := json.Unmarshal(normal, &reply); err != nil {
		return reply, fmt.Errorf("decode answer: %w", err)
	}
	a := &assembly{teller: t}
	if err = a.take(reply.Choices[0].Message); err == nil {
		err = a.finish()
	}
	return reply, err
}
