package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// acceptJSON are the media types of answers that are no streams.
const acceptJSON = wire.ContentType + ", " + wire.RPCType

// request makes the HTTP request of a call, under the id that JSON-RPC wants.
func (c *Client) request(ctx context.Context, call wire.Call, m wire.Method, o wire.Object, id, accept string) (*http.Request, error) {
	method, address, media := http.MethodPost, c.base, wire.RPCType
	var body []byte
	if c.rest {
		var target string
		method, target, body = wire.EncodeREST(m, o)
		address, media = c.base+target, wire.ContentType
	} else {
		body = wire.EncodeRequest(id, m, o)
	}
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, address, sent)
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", media)
	}
	r.Header.Set("Accept", accept)
	r.Header.Set(wire.VersionHeader, wire.Version)
	for name, value := range map[string]string{
		wire.ExtensionsHeader: wire.FormatExtensions(slices.Concat(call.Extensions, c.cfg.Extensions)), headerLastEvent: call.LastEventID, headerToken: call.Token,
		"Traceparent": call.Traceparent, "Tracestate": call.Tracestate,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return r, authorize(r, c.cfg)
}

func authorize(r *http.Request, cfg ClientConfig) error {
	if cfg.Authorize == nil {
		return nil
	}
	if err := cfg.Authorize(r); err != nil {
		return fmt.Errorf("authorizing the request: %w", err)
	}
	return nil
}

// nextID is a name for a request that no other one of the client has.
func (c *Client) nextID() string { return strconv.FormatInt(c.ids.Add(1), 10) }

// ask makes a call and reads its answer; into is nil if nothing is answered.
func (c *Client) ask(ctx context.Context, call wire.Call, m wire.Method, o, into wire.Object) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.Timeout, errNoAnswer)
	defer cancel()
	id := c.nextID()
	r, err := c.request(ctx, call, m, o, id, acceptJSON)
	if err != nil {
		return fmt.Errorf("calling %s: %w", m, err)
	}
	resp, data, err := exchange(c.http, r, c.cfg.MaxResponse)
	if err == nil {
		err = c.read(resp, id, data, into)
	}
	if err != nil {
		return fmt.Errorf("calling %s: %w", m, err)
	}
	return nil
}

// exchange sends a request and reads the whole answer, which may have limit
// bytes.
func exchange(over *http.Client, r *http.Request, limit int) (*http.Response, []byte, error) {
	resp, err := over.Do(r)
	if err != nil {
		return nil, nil, reason(r.Context(), err)
	}
	defer resp.Body.Close()
	data, err := readBody(resp.Body, limit)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the answer: %w", reason(r.Context(), err))
	}
	return resp, data, nil
}

// reason is why a request failed: what ended its context, if that did.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// readBody reads a body of at most limit bytes.
func readBody(body io.Reader, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = errTooLarge
	}
	return data, err
}

// read makes out what the server answered; into is nil if nothing but success is
// of interest.
func (c *Client) read(resp *http.Response, id string, data []byte, into wire.Object) error {
	good := resp.StatusCode/100 == 2
	if good && into == nil {
		if c.done(id, data) {
			return nil
		}
		into = &wire.Empty{}
	}
	switch {
	case resp.StatusCode/100 == 3:
		return wire.Errorf(wire.InvalidAgentResponse, "HTTP status %d, and no redirect is followed", resp.StatusCode)
	case good && c.rest:
		return wire.DecodeResult(data, into)
	case good:
		return late(resp, wire.DecodeAnswer(data, id, into))
	}
	if !c.rest {
		// Not every layer of a server in which a call can fail speaks JSON-RPC.
		if e, ok := errors.AsType[*wire.Error](wire.DecodeAnswer(data, id, &wire.StreamResponse{})); ok && e.Kind != wire.InvalidAgentResponse {
			return late(resp, e)
		}
	}
	return late(resp, wire.DecodeStatus(resp.StatusCode, data))
}

// done reports whether an answer to the request with the id says that it was done,
// whatever the result is: there may be none at all in HTTP+JSON, and a page is none.
func (c *Client) done(id string, data []byte) bool {
	if c.rest {
		return len(bytes.TrimSpace(data)) == 0 || json.Valid(data)
	}
	var a struct {
		ID            string
		Result, Error json.RawMessage
	}
	return json.Unmarshal(data, &a) == nil && a.ID == id && a.Result != nil && (a.Error == nil || string(a.Error) == "null")
}

// late adds to an error of the server what the header Retry-After says. A date
// there is by the server's clock, and so is the answer's own.
func late(resp *http.Response, err error) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.RetryAfter != 0 {
		return believed(err)
	}
	now, noDate := http.ParseTime(resp.Header.Get("Date"))
	if value := resp.Header.Get("Retry-After"); noDate == nil || !strings.Contains(value, ":") {
		e.RetryAfter = wire.ParseRetryAfter(value, now)
	}
	return believed(err)
}

// believed is an error of the server as far as the server is believed.
func believed(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		e.RetryAfter = min(e.RetryAfter, maxRetryAfter)
	}
	return err
}

// maxRetryAfter is the longest wait that a server is believed.
const maxRetryAfter = time.Hour
