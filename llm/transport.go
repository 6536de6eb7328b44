package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// maxComplaint is how much of an error's body is worth reading, in bytes.
const maxComplaint = 64 << 10

// transport stands between the client library and the network. Requests leave with
// what the library drops, and answers reach it bounded and in the one shape that
// it can decode; anything else ends here as an *Error.
type transport struct {
	next  http.RoundTripper
	limit int64
	now   func() time.Time
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.open(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, t.limit+1))
	if err != nil {
		return nil, &Error{Kind: ErrorUnavailable, Status: res.StatusCode, Err: fmt.Errorf("read answer: %w", err)}
	}
	if int64(len(body)) > t.limit {
		return nil, &Error{Kind: ErrorCut, Status: res.StatusCode, Err: fmt.Errorf("answer exceeds %d bytes", t.limit)}
	}
	if body, err = normalise(body); err != nil {
		if failed, ok := err.(*Error); ok {
			failed.Status, failed.RetryAfter = res.StatusCode, retryAfter(res.Header, t.now())
		}
		return nil, err
	}
	whole := *res
	whole.Body = io.NopCloser(bytes.NewReader(body))
	whole.ContentLength = int64(len(body))
	whole.Header = res.Header.Clone()
	whole.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return &whole, nil
}

// open sends r and returns the answer with its body not yet read, unless the status
// says that it failed.
func (t *transport) open(r *http.Request) (*http.Response, error) {
	r, err := complete(r)
	if err != nil {
		return nil, err
	}
	res, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, &Error{Kind: ErrorUnavailable, Err: err}
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	if res.StatusCode < 400 {
		return nil, &Error{Kind: ErrorBadRequest, Status: res.StatusCode,
			Err: fmt.Errorf("the endpoint redirects; set the base URL it redirects to")}
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxComplaint+1)) // the status says enough
	return nil, classify(res.StatusCode, body, retryAfter(res.Header, t.now()))
}

// streaming is the transport of streams: it leaves the body to the reader of events,
// who bounds and normalises it as it comes.
type streaming struct{ *transport }

// RoundTrip implements http.RoundTripper.
func (t streaming) RoundTrip(r *http.Request) (*http.Response, error) { return t.open(r) }

// zeroTemperature stands for 0 in the client library's request, which leaves out a
// temperature of 0. Nobody means a temperature this small.
const zeroTemperature = 1e-40

// complete returns r with what the client library leaves out of a request: a
// temperature of 0 and the empty content of messages. A RoundTripper must not
// change the request it is given, so r is cloned.
func complete(r *http.Request) (*http.Request, error) {
	if r.Body == nil {
		return r, nil
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if body, err = fillIn(body); err != nil {
		return nil, fmt.Errorf("complete request: %w", err)
	}
	filled := r.Clone(r.Context())
	filled.ContentLength = int64(len(body))
	filled.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	filled.Body, _ = filled.GetBody()
	return filled, nil
}

func fillIn(body []byte) ([]byte, error) {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	if raw, ok := request["temperature"]; ok {
		if t, err := strconv.ParseFloat(string(raw), 64); err == nil && t < 1e-30 {
			request["temperature"] = json.RawMessage("0")
		}
	}
	var messages []map[string]json.RawMessage
	if err := json.Unmarshal(request["messages"], &messages); err != nil {
		return nil, err
	}
	for _, m := range messages {
		if _, ok := m["content"]; !ok {
			m["content"] = json.RawMessage(`""`)
		}
	}
	raw, err := json.Marshal(messages)
	if err != nil {
		return nil, err
	}
	request["messages"] = raw
	return json.Marshal(request)
}
