package trip

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/a2a/wire"
)

// lossy is the way to a supplier on which nothing comes back any more once a
// request of one kind was sent, until that is sent again. The second attempt is
// held up until the answer has been seen and lost, so it is the stored answer
// that comes back.
type lossy struct {
	next       *http.Transport
	capability string

	mu       sync.Mutex
	losing   bool
	resent   bool
	answered chan struct{}
	once     sync.Once
}

func newLossy(capability string) *lossy {
	over := http.DefaultTransport.(*http.Transport).Clone()
	over.Proxy = nil
	return &lossy{next: over, capability: capability, answered: make(chan struct{})}
}

// CloseIdleConnections is what http.Client asks of the way that it takes.
func (l *lossy) CloseIdleConnections() { l.next.CloseIdleConnections() }

var errLost = errors.New("the network lost it")

// RoundTrip implements http.RoundTripper.
func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	attempt, err := l.attempt(r)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.losing = l.losing || attempt == 1
	losing := l.losing && !l.resent
	l.mu.Unlock()
	switch {
	case !losing:
		return l.next.RoundTrip(r)
	case attempt < 2:
		return nil, l.lose(r)
	}
	select {
	case <-l.answered:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	resp, err := l.next.RoundTrip(r)
	if err == nil {
		l.mu.Lock()
		l.resent = true
		l.mu.Unlock()
	}
	return resp, err
}

// lastState is in what says that a task has ended.
var lastState = regexp.MustCompile(`"TASK_STATE_(COMPLETED|FAILED|REJECTED|CANCELED)"`)

// lose carries a request and loses what comes back.
func (l *lossy) lose(r *http.Request) error {
	resp, err := l.next.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lost, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("reading what is to be lost: %w", err)
	}
	if lastState.Match(lost) {
		l.once.Do(func() { close(l.answered) })
	}
	return errLost
}

// attempt says how often the kind of request that a message is was sent, 0 if the
// message is something else.
func (l *lossy) attempt(r *http.Request) (int, error) {
	if r.GetBody == nil {
		return 0, nil
	}
	body, err := r.GetBody()
	if err != nil {
		return 0, err
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		return 0, err
	}
	call, err := wire.ParseRequest(data)
	if err != nil || call.Method != wire.SendMessage {
		return 0, nil
	}
	var sent wire.SendMessageRequest
	if err := call.Decode(&sent); err != nil {
		return 0, err
	}
	var e struct {
		Capability string `json:"capability"`
		Act        string `json:"performative"`
		Attempt    int    `json:"attempt"`
	}
	header, ok := sent.Message.Metadata[a2a.ExtensionURI]
	if !ok || json.Unmarshal(header, &e) != nil || e.Capability != l.capability || e.Act != "request" {
		return 0, nil
	}
	return e.Attempt, nil
}
