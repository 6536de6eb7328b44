package trip

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Report is what a run shows. Its JSON form is what "-o json" prints.
type Report struct {
	Status   string `json:"status"`
	Question string `json:"question,omitempty"`
	Error    string `json:"error,omitempty"`
	// Unknown says that nobody knows what was booked: look, do not redo.
	Unknown      bool              `json:"unknown,omitempty"`
	Conversation string            `json:"conversation"`
	Itinerary    *Itinerary        `json:"itinerary,omitempty"`
	Timeline     []Line            `json:"timeline"`
	Effects      []supplier.Effect `json:"effects"`
	Usage        Usage             `json:"usage"`
	TraceID      string            `json:"trace_id"`
	Model        string            `json:"model"`
	Notes        string            `json:"notes,omitempty"`
	// Processes are where the agents run, Restarts those that ended meanwhile.
	Processes []Where   `json:"processes"`
	Restarts  []Restart `json:"restarts,omitempty"`
	// Interrupted are requests of earlier processes that ended only now.
	Interrupted []Ended `json:"interrupted,omitempty"`
	// Protocol says what the rules did without asking a model.
	Protocol map[string]int64 `json:"protocol"`
}

// Where is the process of an agent, and the address at which others reach it.
type Where struct {
	Agent string `json:"agent"`
	PID   int    `json:"pid"`
	URL   string `json:"url,omitempty"`
}

// Ended is how an interrupted request ended.
type Ended struct {
	Conversation string     `json:"conversation"`
	Status       string     `json:"status"`
	Question     string     `json:"question,omitempty"`
	Itinerary    *Itinerary `json:"itinerary,omitempty"`
	Error        string     `json:"error,omitempty"`
}

// EndedAs is how an interrupted request ended.
func EndedAs(conversation string, p contract.Plan, err error) Ended {
	e := Ended{Conversation: conversation, Status: p.Status, Question: string(p.Question), Itinerary: show(p.Itinerary)}
	if err != nil {
		e.Status, e.Error = "failed", err.Error()
	}
	return e
}

// Itinerary is what was booked, with money in euros.
type Itinerary struct {
	Flight   FlightShown `json:"flight"`
	Hotel    *HotelShown `json:"hotel,omitempty"`
	Total    float64     `json:"total"`
	Currency string      `json:"currency"`
}

// FlightShown is a booked flight.
type FlightShown struct {
	Reference string  `json:"reference"`
	Number    string  `json:"number"`
	From      string  `json:"from"`
	To        string  `json:"to"`
	Departs   string  `json:"departs"`
	Arrives   string  `json:"arrives"`
	Price     float64 `json:"price"`
}

// HotelShown is a booked hotel.
type HotelShown struct {
	Reference string  `json:"reference"`
	Name      string  `json:"name"`
	Stars     int     `json:"stars"`
	Rooms     int     `json:"rooms"`
	CheckIn   string  `json:"check_in"`
	CheckOut  string  `json:"check_out"`
	Price     float64 `json:"price"`
}

// Line is one act of the timeline. State is where it left its sender's
// exchange, Attempt how often it was sent.
type Line struct {
	At       time.Time `json:"at"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Act      string    `json:"act"`
	About    string    `json:"about"`
	Protocol string    `json:"protocol"`
	State    string    `json:"state"`
	Attempt  int       `json:"attempt"`
	// Reason is what a refusal or failure says.
	Reason string `json:"reason,omitempty"`

	index int64
}

// Usage counts the model's tokens.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// Report gathers what a conversation with the planner came to. planned is the
// error of Plan, if it ended in one.
func (w *World) Report(ctx context.Context, p contract.Plan, conversation string, planned error) (Report, error) {
	r := Report{Status: p.Status, Question: string(p.Question), Conversation: conversation, Notes: string(p.Notes),
		Itinerary: show(p.Itinerary), Effects: []supplier.Effect{}, Timeline: []Line{}}
	r.Processes, r.Restarts = w.processes()
	var err error
	if r.Protocol, err = w.counts(ctx); err != nil {
		return r, err
	}
	if planned != nil {
		r.Status, r.Error = "failed", w.explain(planned)
		_, r.Unknown = errors.AsType[*protocol.UnknownError](planned)
	}
	if conversation == "" {
		return r, nil
	}
	x, err := w.planner.Store().Exchange(ctx, w.key(conversation))
	if err != nil {
		return r, fmt.Errorf("reading conversation %s: %w", conversation, err)
	}
	opening, err := w.message(ctx, x.Key, store.Sent, x.State.Opening)
	if err != nil {
		return r, err
	}
	if r.Effects, err = w.effects(x.Correlation); err != nil {
		return r, err
	}
	if parts := strings.Split(opening.Header().Trace.Traceparent, "-"); len(parts) == 4 {
		r.TraceID = parts[1]
	}
	if x.Final != "" {
		if final, err := w.message(ctx, x.Key, store.Received, x.Final); err == nil && final.Header().Provenance != nil {
			made := final.Header().Provenance
			r.Usage = Usage{made.InputTokens, made.OutputTokens}
		}
	}
	if r.Timeline, err = w.timeline(ctx, x.Correlation); err != nil {
		return r, err
	}
	r.Protocol["orders"], r.Protocol["obeyed"], err = w.commands(ctx, x.Correlation)
	return r, err
}

// explain words why no plan came back.
func (w *World) explain(err error) string {
	text := err.Error()
	if cause := w.trouble.take(); cause != nil {
		text += ": " + cause.Error()
	}
	for _, d := range w.desks {
		if fault := d.failed(); fault != nil {
			text += ": " + fault.Error()
		}
	}
	if refused, ok := errors.AsType[*protocol.RefusedError](err); ok && refused.Reason == "mismatch" {
		text = "the question was answered already, in another way"
	}
	return text
}

func show(i *contract.Itinerary) *Itinerary {
	if i == nil {
		return nil
	}
	f := i.Flight.Flight
	out := &Itinerary{Total: euros(i.Total), Currency: "EUR", Flight: FlightShown{Reference: i.Flight.Reference, Number: f.Number,
		From: f.From, To: f.To, Departs: f.Departs, Arrives: f.Arrives, Price: euros(f.Total)}}
	if h := i.Hotel; h != nil {
		out.Hotel = &HotelShown{Reference: h.Reference, Name: string(h.Hotel.Name), Stars: h.Hotel.Stars, Rooms: h.Hotel.Rooms,
			CheckIn: h.CheckIn, CheckOut: h.CheckOut, Price: euros(h.Hotel.Total)}
	}
	return out
}

func euros(cents int64) float64 { return float64(cents) / 100 }

// owners are the agents and where their logs are.
func (w *World) owners() map[string]store.Store {
	list := map[string]store.Store{w.traveller.URI(): w.planner.Store(), plannerURI: w.planner.Store()}
	for i, d := range w.desks {
		list[ownerOf(d.part.Name)] = w.logs[i]
	}
	return list
}

// processes are where the agents are, and which of them had to be started again.
func (w *World) processes() (list []Where, restarts []Restart) {
	list = []Where{{Agent: short(plannerURI), PID: os.Getpid()}}
	for _, d := range w.desks {
		list = append(list, Where{Agent: d.part.Name, PID: d.pid(), URL: d.url()})
		restarts = append(restarts, d.restarts()...)
	}
	return list, restarts
}

// counts adds up what the hosts counted.
func (w *World) counts(ctx context.Context) (map[string]int64, error) {
	sum := map[string]int64{"restarts": 0}
	maps.Copy(sum, w.planner.Counts())
	for _, d := range w.desks {
		counts, err := d.counts(ctx)
		if err != nil {
			return nil, err
		}
		for name, n := range counts {
			sum[name] += n
		}
		sum["restarts"] += int64(len(d.restarts()))
	}
	return sum, nil
}

// effects are what the suppliers did for a business exchange.
func (w *World) effects(business string) ([]supplier.Effect, error) {
	all := []supplier.Effect{}
	for _, d := range w.desks {
		l, err := supplier.OpenLedger(supplier.LedgerPath(w.opts.Dir, d.part.Name))
		if err != nil {
			return nil, err
		}
		all = append(all, l.Effects(business)...)
	}
	return all, nil
}

// timeline lists the acts of a run from their senders' logs, in the order in
// which they were committed.
func (w *World) timeline(ctx context.Context, correlation string) ([]Line, error) {
	lines := []Line{}
	for owner, s := range w.owners() {
		xs, err := s.Correlated(ctx, owner, correlation)
		if err != nil {
			return nil, fmt.Errorf("reading the exchanges of %s: %w", owner, err)
		}
		for _, x := range xs {
			more, err := acts(ctx, s, x)
			if err != nil {
				return nil, err
			}
			lines = append(lines, more...)
		}
	}
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.index, b.index))
	})
	return lines, nil
}

// acts are the acts that the owner of an exchange sent in it.
func acts(ctx context.Context, s store.Store, x store.Exchange) ([]Line, error) {
	log, err := s.Log(ctx, x.Owner, x.Conversation, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the log of %s: %w", x.Owner, err)
	}
	rows, err := s.Outbox(ctx, x.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the outbox of %s: %w", x.Owner, err)
	}
	attempts := map[string]int{}
	for _, r := range rows {
		attempts[r.MessageID] = r.Attempt
	}
	var lines []Line
	for _, entry := range log {
		if entry.Kind != store.Sent || entry.Peer != x.Peer {
			continue
		}
		e, err := envelope.Decode(entry.Envelope)
		if err != nil {
			return nil, fmt.Errorf("message %s in the log of %s: %w", entry.MessageID, x.Owner, err)
		}
		line := Line{At: entry.At, From: short(x.Owner), To: short(x.Peer), Act: strings.TrimPrefix(string(entry.Event), "!"),
			About: about(e), Protocol: e.Protocol(), State: string(entry.To), Attempt: max(1, attempts[entry.MessageID]), index: entry.Index}
		if told := e.Header().Error; told != nil {
			line.Reason = string(told.Code) + " " + told.Reason
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func short(uri string) string { return uri[strings.LastIndexByte(uri, '/')+1:] }

// about is what the exchange of a message is about: its capability without
// what all of them share.
func about(e *envelope.Envelope) string { return strings.TrimPrefix(e.Capability(), "urn:cap:") }

// Transcript writes every log entry of the run, a JSON object a line, agent by
// agent in the order of each log.
func (w *World) Transcript(ctx context.Context, out io.Writer, conversation string) error {
	x, err := w.planner.Store().Exchange(ctx, w.key(conversation))
	if err != nil {
		return fmt.Errorf("reading conversation %s: %w", conversation, err)
	}
	encoder := json.NewEncoder(out)
	owners := w.owners()
	for _, owner := range slices.Sorted(maps.Keys(owners)) {
		xs, err := owners[owner].Correlated(ctx, owner, x.Correlation)
		if err != nil {
			return err
		}
		for _, x := range xs {
			log, err := owners[owner].Log(ctx, owner, x.Conversation, 0)
			if err != nil {
				return err
			}
			for _, entry := range log {
				if err := encoder.Encode(entryShown(entry)); err != nil {
					return fmt.Errorf("writing the transcript: %w", err)
				}
			}
		}
	}
	return nil
}

// Recorded is a log entry as a transcript has it.
type Recorded struct {
	Owner        string          `json:"owner"`
	Conversation string          `json:"conversation"`
	Index        int64           `json:"index"`
	At           time.Time       `json:"at"`
	Kind         string          `json:"kind"`
	Event        string          `json:"event"`
	From         string          `json:"from"`
	To           string          `json:"to"`
	Reason       string          `json:"reason,omitempty"`
	Envelope     json.RawMessage `json:"envelope,omitempty"`
}

func entryShown(e store.Entry) Recorded {
	return Recorded{Owner: e.Owner, Conversation: e.Conversation, Index: e.Index, At: e.At, Kind: string(e.Kind), Event: string(e.Event),
		From: string(e.From), To: string(e.To), Reason: e.Reason, Envelope: e.Envelope}
}

// commands counts what the hotels' words ordered the planner to do, and how
// often it did that.
func (w *World) commands(ctx context.Context, correlation string) (given, obeyed int64, err error) {
	s, owner := w.planner.Store(), plannerURI
	xs, err := s.Correlated(ctx, owner, correlation)
	if err != nil {
		return 0, 0, fmt.Errorf("reading the exchanges of %s: %w", owner, err)
	}
	for _, x := range xs {
		log, err := s.Log(ctx, owner, x.Conversation, 0)
		if err != nil {
			return 0, 0, fmt.Errorf("reading the log of %s: %w", owner, err)
		}
		for _, entry := range log {
			switch text := string(entry.Envelope); entry.Kind {
			case store.Received:
				given += int64(strings.Count(text, supplier.OrderMark))
			case store.Sent:
				obeyed += int64(strings.Count(text, `"offer":"`+supplier.OrderedOffer+`"`))
			}
		}
	}
	return given, obeyed, nil
}
