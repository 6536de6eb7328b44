package a2a

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// pushTokenHeader carries a config's token to its webhook.
const pushTokenHeader = "X-A2A-Notification-Token"

const (
	// maxPosts is how many webhooks are told at once, maxPostsPerHost how many of
	// them at one host, so that a slow one does not take all.
	maxPosts        = 256
	maxPostsPerHost = 8
	// maxPushAnswer is how much of an answer is read, to use its connection
	// again.
	maxPushAnswer = 64 << 10
)

// errUnwanted: the webhook answered that it is gone for good.
var errUnwanted = errors.New("the webhook is gone")

// post posts one event as an HTTP request (section 4.3.3). It returns when the
// webhook has taken it; errUnwanted means that it must not be called again. Its
// errors do not say the URL, which may hold secrets.
func (p *pusher) post(ctx context.Context, hook webhook, r wire.StreamResponse) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, bytes.NewReader(wire.Encode(&r)))
	if err != nil {
		return errors.New("its URL cannot be called")
	}
	req.Header.Set("Content-Type", wire.ContentType)
	req.Header.Set("User-Agent", "parley")
	if hook.Scheme != "" {
		req.Header.Set("Authorization", hook.Scheme+" "+hook.Credentials)
	}
	if hook.Token != "" {
		req.Header.Set(pushTokenHeader, hook.Token)
	}
	leave, err := p.lanes.enter(ctx, strings.ToLower(req.URL.Host))
	if err != nil {
		return err
	}
	defer leave()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	answer, err := p.client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return fmt.Errorf("calling %s: %w", req.URL.Host, err)
	}
	defer answer.Body.Close()
	// What it says is nobody's business, and reading it may fail: the event was
	// taken all the same.
	_, _ = io.CopyN(io.Discard, answer.Body, maxPushAnswer)
	switch {
	case answer.StatusCode == http.StatusGone:
		return errUnwanted
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		seconds, _ := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 16)
		return &unfitError{req.URL.Host, answer.StatusCode, time.Duration(seconds) * time.Second}
	}
	return nil
}

// unfitError: the webhook answered with a status that is no success. after is how
// long it wants to be left alone, 0 if it does not say.
type unfitError struct {
	host   string
	status int
	after  time.Duration
}

func (e *unfitError) Error() string {
	return fmt.Sprintf("calling %s: it answered %d", e.host, e.status)
}

// lanes bounds how many webhooks are told at once, at all and at each host.
// Whoever came first goes first.
type lanes struct {
	all     chan struct{}
	perHost int

	mu    sync.Mutex
	hosts map[string]*lane
}

// lane is the bound of one host, kept while somebody is in it or waits for it.
type lane struct {
	in    chan struct{}
	users int
}

func newLanes(all, perHost int) *lanes {
	return &lanes{all: make(chan struct{}, all), perHost: perHost, hosts: map[string]*lane{}}
}

// enter waits for room; leave must be called once. A host's own bound comes
// first, so that what waits for it takes nobody else's room.
func (l *lanes) enter(ctx context.Context, host string) (leave func(), err error) {
	lane := l.use(host)
	select {
	case lane.in <- struct{}{}:
	case <-ctx.Done():
		l.drop(host, lane)
		return nil, context.Cause(ctx)
	}
	select {
	case l.all <- struct{}{}:
	case <-ctx.Done():
		<-lane.in
		l.drop(host, lane)
		return nil, context.Cause(ctx)
	}
	return func() {
		<-l.all
		<-lane.in
		l.drop(host, lane)
	}, nil
}

func (l *lanes) use(host string) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.hosts[host]
	if in == nil {
		in = &lane{in: make(chan struct{}, l.perHost)}
		l.hosts[host] = in
	}
	in.users++
	return in
}

func (l *lanes) drop(host string, in *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if in.users--; in.users == 0 {
		delete(l.hosts, host)
	}
}
