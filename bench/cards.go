package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/parley-agents/parley/internal/measure"
)

var cards = measure.Benchmark{
	Name:  "a2a-cards",
	About: "requests for an agent's signed card, from those who have it already (If-None-Match) and those who do not",
	Measure: func(ctx context.Context, r *measure.Run) (gates []measure.Gate, err error) {
		var f fleet
		defer func() { err = errors.Join(err, f.stop()) }()
		server, err := f.add(ctx, r, "parley")
		if err != nil {
			return nil, err
		}
		const callers = 16
		c := newCaller(callers)
		request := func() *http.Request {
			q, _ := http.NewRequest(http.MethodGet, server.url+"/.well-known/agent-card.json", nil)
			return q
		}
		first, err := c.client.Do(request().WithContext(ctx))
		if err != nil {
			return nil, err
		}
		if err := first.Body.Close(); err != nil {
			return nil, err
		}
		tag := first.Header.Get("ETag")
		if tag == "" {
			return nil, errors.New("the card has no ETag")
		}
		found := map[string][]load{}
		for range r.Rounds {
			for _, known := range []string{"", tag} {
				want := http.StatusOK
				if known != "" {
					want = http.StatusNotModified
				}
				l, err := c.drive(ctx, server, callers, r.Window, func(ctx context.Context, _ int64) error {
					q := request()
					if known != "" {
						q.Header.Set("If-None-Match", known)
					}
					_, err := c.do(ctx, q, want)
					return err
				})
				if err != nil {
					return nil, err
				}
				found[known] = append(found[known], l)
			}
		}
		r.Printf("the whole card  %s", sum(found[""]))
		r.Printf("not modified    %s", sum(found[tag]))
		return nil, nil
	},
}
