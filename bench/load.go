package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// completed is what an answer says whose task has ended well.
const completed = "TASK_STATE_COMPLETED"

// load is what came of some requests.
type load struct {
	requests  int
	wall, cpu time.Duration
	written   int64 // bytes
	// took is how long each took, in order of length.
	took   []time.Duration
	counts counters
}

func (l load) perSecond() float64 { return float64(l.requests) / l.wall.Seconds() }

// each is what one request took of the server's processor, in microseconds.
func (l load) each() float64 { return float64(l.cpu.Microseconds()) / float64(l.requests) }

// quantile is how long the given part of the requests took at most.
func (l load) quantile(q float64) time.Duration { return l.took[int(q*float64(len(l.took)-1))] }

// caller calls one server over connections that it keeps.
type caller struct {
	client *http.Client
	number atomic.Int64
}

func newCaller(connections int) *caller {
	return &caller{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}}}
}

// drive has so many callers make requests of the server for a while, each one
// after another. The first error ends it.
func (c *caller) drive(ctx context.Context, r *remote, callers int, window time.Duration, one func(ctx context.Context, number int64) error) (l load, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	before, err := r.counters()
	if err != nil {
		return l, err
	}
	used, err := r.cpu()
	if err != nil {
		return l, err
	}
	wrote, err := r.written()
	if err != nil {
		return l, err
	}
	took := make([][]time.Duration, callers)
	began := time.Now()
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			for at := time.Now(); at.Sub(began) < window && ctx.Err() == nil; {
				if err := one(ctx, c.number.Add(1)); err != nil {
					cancel(err)
					return
				}
				now := time.Now()
				took[i], at = append(took[i], now.Sub(at)), now
			}
		})
	}
	group.Wait()
	l.wall = time.Since(began)
	if ctx.Err() != nil {
		return l, context.Cause(ctx)
	}
	after, err := r.cpu()
	if err != nil {
		return l, err
	}
	written, err := r.written()
	if err != nil {
		return l, err
	}
	l.written = written - wrote
	counts, err := r.counters()
	l.cpu, l.took = after-used, slices.Sorted(slices.Values(slices.Concat(took...)))
	l.requests, l.counts = len(l.took), counts.since(before)
	if l.requests == 0 && err == nil {
		err = errors.New("no request came to its end")
	}
	return l, err
}

// do makes one request and returns the body of the answer, which must be good.
func (c *caller) do(ctx context.Context, request *http.Request, want int) ([]byte, error) {
	response, err := c.client.Do(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != want {
		err = fmt.Errorf("%s answered %s: %.200s", request.URL, response.Status, body)
	}
	return body, err
}

// call makes a JSON-RPC call.
func (c *caller) call(ctx context.Context, url, body string) ([]byte, error) {
	request, err := newCall(url, body)
	if err != nil {
		return nil, err
	}
	return c.do(ctx, request, http.StatusOK)
}

func newCall(url, body string) (*http.Request, error) {
	request, err := http.NewRequest(http.MethodPost, url+"/", bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	request.Header.Set("A2A-Version", "1.0")
	request.Header.Set("Content-Type", "application/json")
	return request, nil
}
