package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Pauses before a repetition when the endpoint names none: the first one, which
// doubles, and the longest.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 8 * time.Second
)

// repeat calls once until it succeeds, or fails in a way that is final or that
// waiting cannot cure, or has failed too often. It returns the last failure.
func (c *Client) repeat(ctx context.Context, once func() error, final func() bool) *Error {
	for try := 0; ; try++ {
		err := once()
		if err == nil {
			return nil
		}
		failed := c.typed(ctx, err)
		if final() || !failed.Temporary() || try == c.config.MaxRetries || !c.pause(ctx, failed, try) {
			return failed
		}
	}
}

// pause waits before the repetition that follows the given failed try. It reports
// whether the call may be repeated; if not, failed is what the caller gets.
func (c *Client) pause(ctx context.Context, failed *Error, try int) bool {
	wait := failed.RetryAfter
	if wait <= 0 {
		wait = min(firstPause<<min(try, 10), longestPause)
		wait = wait/2 + time.Duration(c.config.Jitter()*float64(wait/2))
	}
	if wait > c.config.MaxWait {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && c.config.Now().Add(wait).After(deadline) {
		return false
	}
	select {
	case <-c.config.After(wait):
	case <-ctx.Done():
	}
	return !noteEnd(ctx, failed)
}

// noteEnd makes e wrap the error of ctx and reports whether ctx has ended.
func noteEnd(ctx context.Context, e *Error) bool {
	end := ctx.Err()
	switch {
	case end == nil:
		return false
	case e.Err == nil:
		e.Err = end
	case !errors.Is(e.Err, end):
		e.Err = fmt.Errorf("%w after %w", end, e.Err)
	}
	return true
}

// typed turns whatever a call failed with into an Error.
func (c *Client) typed(ctx context.Context, err error) *Error {
	var failed *Error
	var carrier *url.Error
	switch {
	case errors.As(err, &failed):
		if c.config.APIKey != "" {
			failed.Text = strings.ReplaceAll(failed.Text, c.config.APIKey, "***")
		}
	case errors.As(err, &carrier):
		failed = &Error{Kind: ErrorUnavailable, Err: carrier.Err}
	default: // the client library refused the request
		failed = &Error{Kind: ErrorBadRequest, Err: err}
	}
	if noteEnd(ctx, failed) {
		failed.Kind = ErrorUnavailable
	}
	return failed
}

// retryAfter reads how long an endpoint asks to wait: Retry-After in seconds or as
// a date (RFC 9110 section 10.2.3), or the finer retry-after-ms of some endpoints.
// It is 0 when nothing sensible is said.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return span(ms / 1000)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return span(seconds)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// span converts seconds, taking what is negative or not a number as 0 and bounding
// the rest by a year.
func span(seconds float64) time.Duration {
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, 365*24*3600) * float64(time.Second))
}
