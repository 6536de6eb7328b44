package llm

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/parley-agents/parley/llm/rehearsal"
)

// FromEnv returns the model that the environment names. OPENAI_BASE_URL says where
// it is, OPENAI_API_KEY opens it and PARLEY_MODEL picks it; with a base URL or a
// key the result is a *Client. With neither it is a *Rehearsed that answers by the
// given rules, or by rehearsal.Generic if there are none, so that a program runs on
// a machine that has no model; it must be started, and Describe says that it is no
// language model.
func FromEnv(rules ...rehearsal.Rule) Model {
	base, key := os.Getenv("OPENAI_BASE_URL"), os.Getenv("OPENAI_API_KEY")
	if base == "" && key == "" {
		if len(rules) == 0 {
			rules = []rehearsal.Rule{rehearsal.Generic}
		}
		return Rehearse(rehearsal.New(rehearsal.Options{Rules: rules}))
	}
	return NewOpenAI(Config{BaseURL: base, APIKey: key, Model: os.Getenv("PARLEY_MODEL")})
}

// Rehearsed is a Model that talks to a rehearsal server in this process over real
// loopback HTTP, with the same Client that talks to any endpoint. It is a Service:
// Complete fails before Start and after Stop. Set the fields before Start.
type Rehearsed struct {
	// Server answers. Required.
	Server *rehearsal.Server
	// Config sets the client up: its timers, limits, transport. BaseURL is ignored;
	// Model and Profile default to "rehearsal" and the profile named "openai".
	Config Config

	mu     sync.Mutex
	client *Client
}

// Rehearse returns a model over server, which the model starts and stops. The
// caller keeps the server to read its counters.
func Rehearse(server *rehearsal.Server) *Rehearsed { return &Rehearsed{Server: server} }

// Start starts the server; the second call does nothing. It returns when the
// server listens; ctx bounds only that.
func (m *Rehearsed) Start(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client != nil {
		return nil
	}
	if err := m.Server.Start(ctx); err != nil {
		return err
	}
	c := m.Config
	c.BaseURL = m.Server.URL()
	if c.Model == "" {
		c.Model = rehearsal.Model
	}
	if c.Profile == nil {
		p, _ := ProfileNamed("openai")
		c.Profile = &p
	}
	m.client = NewOpenAI(c)
	return nil
}

// Stop stops the server and waits for it; the second call does nothing. When ctx
// ends first, open calls are cut off and its error is returned.
func (m *Rehearsed) Stop(ctx context.Context) error {
	m.mu.Lock()
	m.client = nil
	m.mu.Unlock()
	return m.Server.Stop(ctx)
}

// Complete asks the server. See Client.Complete.
func (m *Rehearsed) Complete(ctx context.Context, r Request) (*Response, error) {
	client, err := m.started()
	if err != nil {
		return nil, err
	}
	return client.Complete(ctx, r)
}

// Stream asks the server for a reply in parts. See Client.Stream.
func (m *Rehearsed) Stream(ctx context.Context, r Request, each func(Part) error) (*Response, error) {
	client, err := m.started()
	if err != nil {
		return nil, err
	}
	return client.Stream(ctx, r, each)
}

func (m *Rehearsed) started() (*Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client == nil {
		return nil, &Error{Kind: ErrorUnavailable, Err: errors.New("the rehearsal model was not started")}
	}
	return m.client, nil
}

// Describe says that this is not a language model.
func (m *Rehearsed) Describe() string { return "rehearsal: rules, not a language model" }
