package a2a

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
)

// endless lists pages of tasks without an end.
type endless struct {
	wire.Service
	pages int
}

func (e *endless) ListTasks(context.Context, wire.Call, *wire.ListTasksRequest) (*wire.ListTasksResponse, error) {
	e.pages++
	return &wire.ListTasksResponse{NextPageToken: strconv.Itoa(e.pages)}, nil
}

func TestAListOfTasksWithoutAnEndIsNotReadForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		s := w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(booked)))
		p, err := newPeer("agent://acme/hotels", "http://hotels.example", w.dialling(DialConfig{}))
		if err != nil {
			t.Fatal(err)
		}
		there := &endless{}
		k := &acquaintance{reading: &reading{agent: p.URI()}, client: there}
		err = newReader(p, s.Host).list(t.Context(), k, flights, []*watch{{key: store.Key{Owner: flights}}})
		if !errors.Is(err, errNoEnd) || there.pages != maxPages {
			t.Errorf("after %d pages: %v", there.pages, err)
		}
	})
}
