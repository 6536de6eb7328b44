package llm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// Config sets up a Client. The zero value talks to api.openai.com without a key.
type Config struct {
	// BaseURL is where "/chat/completions" is appended. Default
	// "https://api.openai.com/v1".
	BaseURL string
	// APIKey is sent as a bearer token. Default: none is sent. It never appears in
	// an error or a description.
	APIKey string
	// Model is the endpoint's name of the model. Default "gpt-4.1-mini".
	Model string
	// HTTPClient makes the requests; its Transport is wrapped in a copy, it is not
	// changed. Default: a client over http.DefaultTransport without a timeout of
	// its own, since the context bounds each call.
	HTTPClient *http.Client
	// MaxRetries is how often a call is repeated after a rate limit, a server error
	// or a broken connection. Default 2; negative means never.
	MaxRetries int
	// MaxWait is the longest pause before a repetition. An endpoint that asks for
	// more gets no repetition: the error says how long it asked for. Default 1 min.
	MaxWait time.Duration
	// MaxBody is the most bytes read of one answer; a longer one is an Error of kind
	// ErrorCut. Default 4 MiB.
	MaxBody int64
	// Profile says what the endpoint can do. Default: ProfileFor(BaseURL).
	Profile *Profile
	// ReasoningEffort is passed on as it is. Default: not sent.
	ReasoningEffort string

	// Now tells the time; it only serves to weigh pauses against deadlines and to
	// read dates of the endpoint. Default time.Now.
	Now func() time.Time
	// After is the timer of pauses. Default time.After.
	After func(time.Duration) <-chan time.Time
	// Jitter spreads pauses; it returns a number in [0,1). Default: random.
	Jitter func() float64
}

func (c Config) withDefaults() Config {
	if c.BaseURL == "" {
		c.BaseURL = "https://api.openai.com/v1"
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if c.Model == "" {
		c.Model = "gpt-4.1-mini"
	}
	if c.HTTPClient == nil {
		c.HTTPClient = &http.Client{}
	}
	switch {
	case c.MaxRetries == 0:
		c.MaxRetries = 2
	case c.MaxRetries < 0:
		c.MaxRetries = 0
	}
	if c.MaxWait <= 0 {
		c.MaxWait = time.Minute
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 4 << 20
	}
	if c.Profile == nil {
		p := ProfileFor(c.BaseURL)
		c.Profile = &p
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.After == nil {
		c.After = time.After
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	return c
}

// Client is a Model behind an endpoint that speaks the OpenAI chat-completions
// wire. It has no state besides its settings and is safe for concurrent use.
type Client struct {
	config Config
	host   string
	api    *openai.Client
	opener *http.Client // for streams
	broken error        // the base URL cannot be used; every call says so
}

// NewOpenAI returns a client for c. Nothing is sent before the first Complete; a
// base URL that is not an http or https URL makes every Complete fail with an
// Error of kind ErrorBadRequest.
func NewOpenAI(c Config) *Client {
	c = c.withDefaults()
	profile := *c.Profile
	c.Profile = &profile
	client := &Client{config: c}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		// The text of a parse error repeats the URL, which may hold a password.
		client.broken = fmt.Errorf("base URL is not an http or https URL")
		return client
	}
	client.host = base.Host

	next := c.HTTPClient.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	between := &transport{next: next, limit: c.MaxBody, now: c.Now}
	doer, opener := *c.HTTPClient, *c.HTTPClient
	doer.Transport, opener.Transport = between, streaming{between}
	client.opener = &opener
	settings := openai.DefaultConfig(c.APIKey)
	settings.BaseURL = c.BaseURL
	settings.HTTPClient = &doer
	client.api = openai.NewClientWithConfig(settings)
	return client
}

// Profile returns what the client believes its endpoint can do.
func (c *Client) Profile() Profile { return *c.config.Profile }

// Describe names the model and the host that serves it.
func (c *Client) Describe() string {
	if c.broken != nil {
		return c.config.Model + " at an unusable address"
	}
	return c.config.Model + " at " + c.host
}

// Complete sends r and returns the model's reply. It repeats the call after rate
// limits, server errors and broken connections, at most Config.MaxRetries times
// and never beyond the deadline of ctx: when the pause the endpoint asks for would
// pass it, the error returns at once. Every error is an *Error.
func (c *Client) Complete(ctx context.Context, r Request) (*Response, error) {
	if c.broken != nil {
		return nil, &Error{Kind: ErrorBadRequest, Err: c.broken}
	}
	wire, err := c.encode(r)
	if err != nil {
		return nil, &Error{Kind: ErrorBadRequest, Err: err}
	}
	var reply openai.ChatCompletionResponse
	failed := c.repeat(ctx, func() (err error) {
		reply, err = c.api.CreateChatCompletion(ctx, wire)
		return err
	}, func() bool { return false })
	if failed != nil {
		return nil, failed
	}
	return c.decode(r, reply), nil
}
