package a2a

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

// counted counts the requests that pass, and the cancels among them.
type counted struct {
	http.RoundTripper
	all, cancels atomic.Int64
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.all.Add(1)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		if data, err := io.ReadAll(body); err == nil && bytes.Contains(data, []byte(`"CancelTask"`)) {
			c.cancels.Add(1)
		}
	}
	return c.RoundTripper.RoundTrip(r)
}

func TestATaskThatNeitherAnAnswerNorAStreamBringsHoldsUpNoOtherAndCanBeCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		ended := make(chan error, 1)
		w.startWith(t, agent.Config{}, Config{NoStreams: true}, "flights.example", agent.New("flights",
			agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
				for n := 0; s.Flight == "large"; n++ { // 400 at once, and more as time goes on
					err := agent.Progress(ctx, Tick{n})
					if err == nil && n > 400 {
						err = agent.Sleep(ctx, time.Second)
					}
					if err != nil {
						ended <- err
						return Booking{}, err
					}
				}
				return Booking{"R1"}, agent.Sleep(ctx, 15*time.Second)
			})))
		through := &counted{RoundTripper: w}
		cfg := w.dialling(DialConfig{})
		cfg.Client.Transport, cfg.Client.MaxResponse = through, 200<<10 // a hundred artifacts fit, 400 do not
		_, planner := w.asking(t, nil, cfg)
		large, err := agent.Start(t.Context(), planner, "flights", book, Seat{"large"}, within(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got, err := agent.Ask(t.Context(), planner, "flights", book, Seat{"small"}, within(time.Minute)); err != nil || got.Reference != "R1" {
			t.Errorf("another exchange: %v, %v", got, err)
		}
		time.Sleep(time.Minute)
		before := through.all.Load()
		time.Sleep(5 * time.Minute)
		if n := through.all.Load() - before; n == 0 || n > 30 {
			t.Errorf("%d requests in five minutes for what cannot be read", n)
		}
		if err := large.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-ended // there
		_, err = large.Wait(t.Context())
		if _, unknown := errors.AsType[*protocol.UnknownError](err); !unknown { // how it ended cannot be read either
			t.Errorf("Wait = %v", err)
		}
		if n := through.cancels.Load(); n != 1 {
			t.Errorf("the cancel was sent %d times", n)
		}
	})
}
