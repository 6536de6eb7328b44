package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// The versions of one contract: v1.1 adds what may be left out, v2 breaks.
type (
	SeatWithMeal struct {
		Flight string `json:"flight" jsonschema:"pattern=^[A-Z]{2}[0-9]+$"`
		Meal   string `json:"meal,omitempty"`
	}
	BookingWithGate struct {
		Reference string `json:"reference" jsonschema:"minLength=1"`
		Gate      string `json:"gate,omitempty"`
	}
	Seats struct {
		Flights []string `json:"flights" jsonschema:"minItems=1"`
	}
	Bookings struct {
		References []string `json:"references" jsonschema:"minItems=1"`
	}
)

var (
	book11 = protocol.Request[SeatWithMeal, BookingWithGate]("acme.flight.book/v1.1")
	book2  = protocol.Request[Seats, Bookings]("acme.flight.book/v2")
)

func answer1(_ context.Context, in Seat) (Booking, error) { return Booking{"1-" + in.Flight}, nil }

func answer11(_ context.Context, in SeatWithMeal) (BookingWithGate, error) {
	return BookingWithGate{"11-" + in.Flight + in.Meal, "A4"}, nil
}

func answer2(_ context.Context, in Seats) (Bookings, error) {
	return Bookings{[]string{"2-" + in.Flights[0]}}, nil
}

func TestAnAgentAdvertisesWhatItAnswers(t *testing.T) {
	sunset := time.Date(2027, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))
	flights := agent.New("flights", agent.Handle(book, answer1), agent.Handle(book2, answer2), agent.Handle(look, answer1), agent.Capacity(3),
		agent.SLA(look, 20*time.Millisecond, 1500*time.Microsecond+time.Second), agent.Deprecate(book, sunset, "acme.flight.book/v2"))
	h := begin(t, clock(), nil, flights, agent.New("silent"))
	var protocols []string
	for _, p := range protocol.All() {
		protocols = append(protocols, p.Name)
	}
	want := protocol.Advertisement{
		Agent: "agent://local/flights", Capacity: 3, Envelopes: []string{envelope.Version}, Protocols: protocols,
		Contracts: []protocol.Advertised{
			{Capability: "urn:cap:acme.flight.book/v1", Protocol: protocol.RequestV1, Effects: true,
				Schemas: []string{"acme.flight.book/v1", "acme.flight.book.result/v1"},
				Sunset:  time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), ReplacedBy: "urn:cap:acme.flight.book/v2"},
			{Capability: "urn:cap:acme.flight.book/v2", Protocol: protocol.RequestV1, Effects: true,
				Schemas: []string{"acme.flight.book/v2", "acme.flight.book.result/v2"}},
			{Capability: "urn:cap:acme.flight.look/v1", Protocol: protocol.QueryV1,
				Schemas: []string{"acme.flight.look/v1", "acme.flight.look.result/v1"}, SLA: &protocol.SLA{TypicalMS: 20, MaxMS: 1002}},
		},
	}
	s, err := schema.For[protocol.Advertisement](protocol.AdvertiseSchema)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"flights", "agent://local/flights"} {
		got, err := h.Advertisement(name)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s advertises %+v, %v\nwant %+v", name, got, err, want)
		}
	}
	silent, err := h.Advertisement("silent")
	if err != nil || silent.Agent != "agent://local/silent" || silent.Contracts != nil {
		t.Errorf("silent advertises %+v, %v", silent, err)
	}
	for _, ad := range []protocol.Advertisement{want, silent} {
		if _, err := schema.Encode(s, ad); err != nil {
			t.Error(err)
		}
	}
	if _, err := h.Advertisement("nobody"); !errors.Is(err, agent.ErrUnknownPeer) {
		t.Errorf("nobody advertises: %v", err)
	}
	if _, err := h.Advertisement("Not A Name"); err == nil {
		t.Error("a name that is none has an advertisement")
	}
}

// orderIn asks for the seat in the given version.
func orderIn(ctx context.Context, from *agent.Agent, c agent.Contract) (string, error) {
	switch c {
	case book11:
		b, err := agent.Ask(ctx, from, "flights", book11, SeatWithMeal{"AY121", "+fish"})
		return b.Reference + "/" + b.Gate, err
	case book2:
		b, err := agent.Ask(ctx, from, "flights", book2, Seats{[]string{"AY121"}})
		return strings.Join(b.References, ""), err
	}
	b, err := agent.Ask(ctx, from, "flights", book, Seat{"AY121"})
	return b.Reference, err
}

// The life of a version, as its users see it: announced, used, upgraded under
// way, replaced.
func TestAVersionIsReplacedWithoutAnybodyStoppingForIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flights.db")
	planner := agent.New("planner")
	a := begin(t, clock(), nil, planner)
	ask := func(want string) {
		t.Helper()
		c, err := agent.Common(planner, "flights", book, book2)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := orderIn(t.Context(), planner, c); err != nil || got != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	if _, err := agent.Common(planner, "flights", book); !errors.Is(err, agent.ErrUnknownPeer) {
		t.Errorf("before they met: %v", err)
	}
	for _, generation := range []struct {
		flights *agent.Agent
		want    string
	}{
		{agent.New("flights", agent.Handle(book, answer1)), "1-AY121"},
		{agent.New("flights", agent.Handle(book, answer1), agent.Handle(book2, answer2)), "2-AY121"},
		{agent.New("flights", agent.Handle(book2, answer2)), "2-AY121"},
	} {
		b := begin(t, clock(), open(t, path), generation.flights)
		agent.Introduce(a, b)
		ask(generation.want)
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAVersionUnderAnotherProtocolIsNotCommon(t *testing.T) {
	planner, _, _ := pair(t, clock(), agent.New("flights", agent.Handle(book, answer1)))
	asked := protocol.Query[Seat, Booking]("acme.flight.book/v1")
	if c, err := agent.Common(planner, "flights", asked); err == nil {
		t.Errorf("%v is common, though the peer answers it as a request", c)
	}
	if _, err := agent.Common(agent.New("homeless"), "flights", book); !errors.Is(err, agent.ErrStopped) {
		t.Errorf("an agent without a host: %v", err)
	}
}
