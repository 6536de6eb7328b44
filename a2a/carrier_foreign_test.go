package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// elsewhere is a foreign agent: its one task goes through the states of the
// script, one with each step.
type elsewhere struct {
	scripted
	mu     sync.Mutex
	task   *wire.Task
	opened []*wire.SendMessageRequest
	more   []*wire.SendMessageRequest
	moved  chan struct{}
	// at once: it answers without a task.
	message *wire.Message
	cancels int
	// leaked: a call carried something of Parley.
	leaked bool
	// uncancelable refuses to cancel, and unlisted to list.
	uncancelable, unlisted bool
}

func newElsewhere() *elsewhere { return &elsewhere{moved: make(chan struct{})} }

func (s *elsewhere) SendMessage(_ context.Context, c wire.Call, r *wire.SendMessageRequest) (*wire.SendMessageResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look(c)
	s.leaked = s.leaked || len(r.Message.Metadata) > 0 || len(r.Message.Extensions) > 0
	if r.Message.TaskID != "" {
		s.more = append(s.more, r)
		return &wire.SendMessageResponse{Task: copied(s.task)}, nil
	}
	s.opened = append(s.opened, r)
	if s.message != nil {
		return &wire.SendMessageResponse{Message: s.message}, nil
	}
	s.task = &wire.Task{ID: fmt.Sprint("task-", len(s.opened)), ContextID: "context-1", Status: wire.TaskStatus{State: wire.Submitted, Timestamp: time.Now()},
		History: []wire.Message{r.Message}}
	return &wire.SendMessageResponse{Task: copied(s.task)}, nil
}

// look looks for what a foreign agent has no business to see.
func (s *elsewhere) look(c wire.Call) { s.leaked = s.leaked || c.Token != "" || len(c.Extensions) > 0 }

// copied is a task that nobody changes.
func copied(t *wire.Task) *wire.Task {
	c := *t
	c.Artifacts, c.History = slices.Clone(t.Artifacts), slices.Clone(t.History)
	return &c
}

// turn moves the task.
func (s *elsewhere) turn(state wire.TaskState, message *wire.Message, artifacts ...wire.Artifact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task.Status = wire.TaskStatus{State: state, Message: message, Timestamp: time.Now()}
	s.task.Artifacts = append(s.task.Artifacts, artifacts...)
	close(s.moved)
	s.moved = make(chan struct{})
}

func (s *elsewhere) GetTask(_ context.Context, c wire.Call, r *wire.GetTaskRequest) (*wire.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look(c)
	if s.task == nil || s.task.ID != r.ID {
		return nil, noTask(r.ID)
	}
	return copied(s.task), nil
}

func (s *elsewhere) ListTasks(context.Context, wire.Call, *wire.ListTasksRequest) (*wire.ListTasksResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unlisted {
		return nil, wire.Errorf(wire.MethodNotFound, "tasks are not listed")
	}
	list := &wire.ListTasksResponse{Tasks: []wire.Task{}}
	if s.task != nil {
		list.Tasks = append(list.Tasks, *copied(s.task))
	}
	return list, nil
}

func (s *elsewhere) CancelTask(_ context.Context, _ wire.Call, r *wire.CancelTaskRequest) (*wire.Task, error) {
	s.mu.Lock()
	s.cancels++
	never := s.uncancelable
	s.mu.Unlock()
	if never {
		return nil, wire.Errorf(wire.TaskNotCancelable, "it goes on")
	}
	s.turn(wire.Canceled, nil)
	return s.GetTask(context.Background(), wire.Call{}, &wire.GetTaskRequest{ID: r.ID})
}

func (s *elsewhere) SubscribeToTask(ctx context.Context, c wire.Call, r *wire.SubscribeRequest) (iter.Seq2[wire.Event, error], error) {
	task, err := s.GetTask(ctx, c, &wire.GetTaskRequest{ID: r.ID})
	if err != nil || task.Status.State.Terminal() {
		return nil, errors.Join(err, wire.Errorf(wire.UnsupportedOperation, "it has ended"))
	}
	return func(yield func(wire.Event, error) bool) {
		for said := yield(wire.Event{Response: wire.StreamResponse{Task: task}}, nil); said && !task.Status.State.Terminal() && !task.Status.State.Interrupted(); {
			s.mu.Lock()
			moved := s.moved
			s.mu.Unlock()
			select {
			case <-moved:
			case <-ctx.Done():
				return
			}
			task, _ = s.GetTask(ctx, wire.Call{}, &wire.GetTaskRequest{ID: r.ID})
			said = yield(wire.Event{Response: wire.StreamResponse{StatusUpdate: &wire.StatusUpdate{TaskID: task.ID, ContextID: task.ContextID, Status: task.Status}}}, nil)
		}
	}, nil
}

// foreignly starts a planner that reaches the foreign flights.
func foreignly(t *testing.T, w *wires, s *elsewhere, cfg DialConfig, opts ...agent.Option) (*serving, *agent.Agent) {
	t.Helper()
	return foreignlyOn(t, w, s, memory.New(), cfg, opts...)
}

func foreignlyOn(t *testing.T, w *wires, s *elsewhere, st store.Store, cfg DialConfig, opts ...agent.Option) (*serving, *agent.Agent) {
	t.Helper()
	srv, err := newServer(Config{BaseURL: "http://flights.example", Log: slog.New(slog.DiscardHandler)}, time.Now, func() string { return "id" }, &served{name: "flights", uri: flights, service: s, sign: unsigned,
		describe: func() (*wire.AgentCard, error) {
			return &wire.AgentCard{Name: "flights", Description: "sells flights", Version: "1"}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	w.serve("flights.example", srv.Handler())
	cfg.Foreign = true
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.leaked {
			t.Error("a foreign agent was shown something of Parley")
		}
	})
	return w.asking(t, st, cfg, opts...)
}

func dataPart(text string) wire.Part { return wire.Part{Data: json.RawMessage(text)} }
func textPart(text string) wire.Part { return wire.Part{Text: &text} }
func saying(id, text string) *wire.Message {
	return &wire.Message{MessageID: id, Role: wire.Agent, Parts: []wire.Part{textPart(text)}}
}

func TestWhatAForeignTaskComesToIsAnOutcome(t *testing.T) {
	made := func(parts ...wire.Part) []wire.Artifact { return []wire.Artifact{{ArtifactID: "a", Parts: parts}} }
	failed := func(code, reason string) func(Booking, error) bool {
		return func(_ Booking, err error) bool {
			e, ok := errors.AsType[*protocol.FailedError](err)
			return ok && string(e.Code) == code && e.Reason == reason
		}
	}
	is := func(ref string) func(Booking, error) bool {
		return func(b Booking, err error) bool { return err == nil && b.Reference == ref }
	}
	refused := func(_ Booking, err error) bool {
		e, ok := errors.AsType[*protocol.RefusedError](err)
		return ok && e.Reason == "rejected"
	}
	for name, tt := range map[string]struct {
		working   bool
		state     wire.TaskState
		message   *wire.Message
		artifacts []wire.Artifact
		want      func(Booking, error) bool
	}{
		"a data part":                    {state: wire.Completed, artifacts: made(dataPart(`{"reference":"R1"}`)), want: is("R1")},
		"a data part after working":      {working: true, state: wire.Completed, artifacts: made(dataPart(`{"reference":"R1"}`)), want: is("R1")},
		"a text that is JSON":            {state: wire.Completed, artifacts: made(textPart(`{"reference":`), textPart(`"R2"}`)), want: is("R2")},
		"a data part among texts":        {state: wire.Completed, artifacts: made(textPart("Here you are:"), dataPart(`{"reference":"R3"}`)), want: is("R3")},
		"what is said at the end":        {state: wire.Completed, message: &wire.Message{MessageID: "m", Role: wire.Agent, Parts: []wire.Part{dataPart(`{"reference":"R4"}`)}}, want: is("R4")},
		"prose":                          {state: wire.Completed, artifacts: made(textPart("It is booked!")), want: failed("validation", "schema")},
		"nothing":                        {state: wire.Completed, want: failed("validation", "schema")},
		"two data parts":                 {state: wire.Completed, artifacts: made(dataPart(`{}`), dataPart(`{}`)), want: failed("validation", "schema")},
		"data that is no object":         {state: wire.Completed, artifacts: made(dataPart(`["R1"]`)), want: failed("validation", "schema")},
		"data that does not fit":         {state: wire.Completed, artifacts: made(dataPart(`{"ref":"R1"}`)), want: failed("validation", "schema")},
		"text that is JSON for some":     {state: wire.Completed, artifacts: made(textPart(`{"reference":"R1","reference":"R2"}`)), want: failed("validation", "schema")},
		"a failure":                      {working: true, state: wire.Failed, message: saying("m", "no idea"), want: failed("permanent", "failed")},
		"a failure at once":              {state: wire.Failed, want: failed("permanent", "failed")},
		"a refusal":                      {state: wire.Rejected, want: refused},
		"a refusal after working":        {working: true, state: wire.Rejected, want: failed("permanent", "rejected")},
		"a cancel that nobody asked for": {working: true, state: wire.Canceled, want: failed("cancelled", "cancelled")},
		"a demand for credentials":       {state: wire.AuthRequired, want: failed("auth", "auth-required")},
	} {
		for how, cfg := range reads() {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w, s := newWires(), newElsewhere()
					host, planner := foreignly(t, w, s, cfg(w))
					q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Minute))
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(3 * time.Second)
					if tt.working {
						s.turn(wire.Working, nil)
						time.Sleep(3 * time.Second)
					}
					s.turn(tt.state, tt.message, tt.artifacts...)
					began := time.Now()
					if got, err := q.Wait(t.Context()); !tt.want(got, err) || time.Since(began) > 5*time.Second {
						t.Errorf("after %s Wait = %v, %v", time.Since(began), got, err)
					}
					x, err := host.Store().Exchange(t.Context(), store.Key{Owner: planner.URI(), Conversation: q.ID(), Peer: flights})
					if err != nil || x.Task != "task-1" || len(s.opened) != 1 {
						t.Errorf("the task is %q, asked for %d times, %v", x.Task, len(s.opened), err)
					}
					if m := s.opened[0].Message; m.MessageID != x.State.Opening || len(m.Parts) != 1 || string(m.Parts[0].Data) != seat || m.ContextID != "" {
						t.Errorf("it was asked %+v", m)
					}
				})
			})
		}
	}
}

func TestAForeignAgentIsTalkedToInText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWires(), newElsewhere()
		_, planner := foreignly(t, w, s, w.dialling(DialConfig{}))
		s.message = &wire.Message{MessageID: "x", ContextID: "context-7", Role: wire.Agent, Parts: []wire.Part{textPart("Hello "), textPart("you!")}}
		for i := range 2 {
			got, err := agent.Ask(t.Context(), planner, "flights", protocol.Chat(), protocol.Said{Text: "Hi"}, within(time.Minute))
			if err != nil || got.Text != "Hello you!" {
				t.Errorf("Ask = %v, %v", got, err)
			}
			if m := s.opened[i].Message; *m.Parts[0].Text != "Hi" {
				t.Errorf("it was told %+v", m)
			}
		}
		s.message = nil
		q, err := agent.Start(t.Context(), planner, "flights", protocol.Chat(), protocol.Said{Text: "Hi"}, within(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		s.turn(wire.Completed, nil, wire.Artifact{ArtifactID: "a", Parts: []wire.Part{textPart("One")}}, wire.Artifact{ArtifactID: "b", Parts: []wire.Part{textPart("Two")}})
		if got, err := q.Wait(t.Context()); err != nil || got.Text != "One\nTwo" {
			t.Errorf("Wait = %q, %v", got, err)
		}
	})
}

func TestAQuestionOfAForeignAgentIsAskedHereAndAnsweredThere(t *testing.T) {
	for how, cfg := range reads() {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, s := newWires(), newElsewhere()
				var asked []string
				_, planner := foreignly(t, w, s, cfg(w), agent.Handle(protocol.Question, func(_ context.Context, q protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
					asked = append(asked, string(q.Text))
					return protocol.QuestionAnswered{Text: "an aisle, please"}, nil
				}))
				q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(5*time.Minute))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(3 * time.Second)
				for _, text := range []string{"Which seat?", "Really?"} {
					s.turn(wire.InputRequired, saying("ask "+text, text))
					time.Sleep(35 * time.Second)
				}
				s.turn(wire.Completed, nil, wire.Artifact{ArtifactID: "a", Parts: []wire.Part{dataPart(`{"reference":"R1"}`)}})
				if got, err := q.Wait(t.Context()); err != nil || got.Reference != "R1" {
					t.Errorf("Wait = %v, %v", got, err)
				}
				equal(t, "questions", asked, []string{"Which seat?", "Really?"})
				if len(s.more) != 2 || s.more[0].Message.TaskID != "task-1" || *s.more[0].Message.Parts[0].Text != "an aisle, please" || s.more[0].Message.ContextID != "context-1" {
					t.Errorf("it was answered %+v", s.more)
				}
			})
		})
	}
}

func TestATaskWhoseQuestionNobodyAnswersIsCancelled(t *testing.T) {
	for name, opts := range map[string][]agent.Option{
		"nobody can": nil,
		"nobody will": {agent.Handle(protocol.Question, func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			return protocol.QuestionAnswered{}, agent.Refuse("permanent", "no")
		})},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, s := newWires(), newElsewhere()
				_, planner := foreignly(t, w, s, w.dialling(DialConfig{}), opts...)
				q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				s.turn(wire.InputRequired, saying("m", "Which seat?"))
				began := time.Now()
				_, err = q.Wait(t.Context())
				if e, ok := errors.AsType[*protocol.FailedError](err); !ok || e.Code != "cancelled" || s.cancels != 1 || time.Since(began) > time.Minute {
					t.Errorf("after %s and %d cancels Wait = %v", time.Since(began), s.cancels, err)
				}
			})
		})
	}
}

func TestACancelOfAForeignTaskTakesEffectOrItsResultCounts(t *testing.T) {
	for _, uncancelable := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w, s := newWires(), newElsewhere()
			s.uncancelable = uncancelable
			_, planner := foreignly(t, w, s, w.dialling(DialConfig{}))
			q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			s.turn(wire.Working, nil)
			time.Sleep(time.Second)
			if uncancelable {
				s.mu.Lock()
				s.task.Status.State = wire.Completed
				s.task.Artifacts = []wire.Artifact{{ArtifactID: "a", Parts: []wire.Part{dataPart(`{"reference":"R1"}`)}}}
				s.mu.Unlock()
			}
			if err := q.Cancel(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := q.Wait(t.Context())
			_, cancelled := errors.AsType[*protocol.CancelledError](err)
			if uncancelable && (err != nil || got.Reference != "R1") || !uncancelable && !cancelled {
				t.Errorf("uncancelable %t: Wait = %v, %v", uncancelable, got, err)
			}
		})
	}
}

func TestACancelThatOvertakesItsRequestNeverReachesAForeignAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWires(), newElsewhere()
		_, planner := foreignly(t, w, s, w.dialling(DialConfig{}))
		w.serve("flights.example", nil)
		// The first of them is attempted, and holds up what has the same receiver
		// only in its own conversation; a breaker opens after a few.
		var all []*agent.Exchange[Booking]
		for range 12 {
			q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, q)
			time.Sleep(200 * time.Millisecond)
		}
		last := all[len(all)-1]
		if err := last.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := last.Wait(t.Context()); err == nil {
			t.Error("it was done")
		}
		if len(s.opened) != 0 || s.cancels != 0 {
			t.Errorf("it was opened %d times and cancelled %d times", len(s.opened), s.cancels)
		}
	})
}

func TestARequestWhoseAnswerWasLostIsLookedForBeforeItIsSentAgain(t *testing.T) {
	for _, unlisted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w, s := newWires(), newElsewhere()
			s.unlisted = unlisted
			_, planner := foreignly(t, w, s, w.dialling(DialConfig{}))
			lost := false
			w.spoil(func(_ *http.Request, body string, done func() *http.Response) (*http.Response, error) {
				if !strings.Contains(body, `"method":"SendMessage"`) || lost {
					return nil, nil
				}
				lost = true
				discard(done())
				return nil, errRefused
			})
			q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			s.turn(wire.Completed, nil, wire.Artifact{ArtifactID: "a", Parts: []wire.Part{dataPart(`{"reference":"R1"}`)}})
			if got, err := q.Wait(t.Context()); err != nil || got.Reference != "R1" {
				t.Errorf("Wait = %v, %v", got, err)
			}
			if want := map[bool]int{false: 1, true: 2}[unlisted]; len(s.opened) != want || s.opened[0].Message.MessageID != s.opened[want-1].Message.MessageID {
				t.Errorf("unlisted %t: it was sent %d times", unlisted, len(s.opened))
			}
		})
	}
}

func TestAForeignAgentIsNotAskedByProtocolsThatItCannotKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWires(), newElsewhere()
		_, planner := foreignly(t, w, s, w.dialling(DialConfig{}))
		began := time.Now()
		err := agent.Propose(t.Context(), planner, "flights", deal, Seat{"AY121"}, within(time.Hour))
		if err == nil || !strings.Contains(err.Error(), "unsupported-protocol") || time.Since(began) > time.Second || len(s.opened) > 0 {
			t.Errorf("after %s and %d tasks: %v", time.Since(began), len(s.opened), err)
		}
	})
}

func TestTheOutcomeOfAForeignTaskIsReadFromIt(t *testing.T) {
	misfit := func(_ Booking, err error) bool {
		e, ok := errors.AsType[*protocol.FailedError](err)
		return ok && e.Code == envelope.CodeValidation && e.Reason == guard.ReasonSchema
	}
	for name, tt := range map[string]struct {
		state     wire.TaskState
		artifacts []wire.Artifact
		gone      bool
		want      func(Booking, error) bool
	}{
		"done": {wire.Completed, []wire.Artifact{{ArtifactID: "a", Parts: []wire.Part{dataPart(`{"reference":"R1"}`)}}}, false,
			func(b Booking, err error) bool { return err == nil && b.Reference == "R1" }},
		"done, and what was made is none": {wire.Completed, []wire.Artifact{{ArtifactID: "a", Parts: []wire.Part{dataPart(`{"reference":7}`)}}}, false, misfit},
		"done with nothing":               {wire.Completed, nil, false, misfit},
		"failed":                          {wire.Failed, nil, false, func(_ Booking, err error) bool { _, ok := errors.AsType[*protocol.FailedError](err); return ok }},
		"refused":                         {wire.Rejected, nil, false, func(_ Booking, err error) bool { _, ok := errors.AsType[*protocol.RefusedError](err); return ok }},
		"going on":                        {wire.Working, nil, false, func(_ Booking, err error) bool { _, ok := errors.AsType[*protocol.InProgressError](err); return ok }},
		"gone": {wire.Working, nil, true, func(_ Booking, err error) bool {
			e, ok := errors.AsType[*protocol.UnknownError](err)
			return ok && e.Reason == "forgotten"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, s := newWires(), newElsewhere()
				_, planner := foreignly(t, w, s, w.dialling(DialConfig{}))
				q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(20*time.Second))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				s.turn(wire.Working, nil)
				time.Sleep(time.Second)
				srv := w.to["flights.example"]
				w.serve("flights.example", nil)
				_, err = q.Wait(t.Context())
				if _, ok := errors.AsType[*protocol.UnknownError](err); !ok {
					t.Fatalf("Wait = %v", err)
				}
				w.serve("flights.example", srv)
				time.Sleep(time.Minute)
				s.turn(tt.state, nil, tt.artifacts...)
				if tt.gone {
					s.task = nil
				}
				if got, err := agent.Outcome(t.Context(), planner, book, q.ID(), within(time.Minute)); !tt.want(got, err) {
					t.Errorf("Outcome = %v, %v", got, err)
				}
			})
		})
	}
}

func TestAForeignTaskThatEndedWhileNobodyRanIsReadWhenItIsAskedForAgain(t *testing.T) {
	for how, cfg := range reads() {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, s, st := newWires(), newElsewhere(), memory.New()
				host, planner := foreignlyOn(t, w, s, reopened{st}, cfg(w))
				q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(3 * time.Second)
				host.end(t)
				s.turn(wire.Completed, nil, wire.Artifact{ArtifactID: "a", Parts: []wire.Part{dataPart(`{"reference":"R1"}`)}})
				time.Sleep(time.Minute)
				_, planner = foreignlyOn(t, w, s, st, cfg(w))
				// Until somebody asks for it, nobody knows what its result must be.
				time.Sleep(5 * time.Minute)
				if q, err = agent.Resume(t.Context(), planner, "flights", q.ID(), book); err != nil {
					t.Fatal(err)
				}
				if got, err := q.Wait(t.Context()); err != nil || got.Reference != "R1" || len(s.opened) != 1 {
					t.Errorf("asked %d times, Wait = %v, %v", len(s.opened), got, err)
				}
			})
		})
	}
}

func TestReadingAForeignTaskTwiceGivesTheSameEnvelopes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		host := w.start(t, agent.Config{}, "planner.example", agent.New("planner"))
		opening := client{t, nil, planner}
		opening.s = &service{host: host.Host}
		h := opening.opens(book, "request")
		e := must(sealed(h, seat))
		v := voice{e}
		at := time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC)
		status := wire.TaskStatus{State: wire.InputRequired, Timestamp: at, Message: saying("m", "Which?")}
		for name, f := range map[string]func() ([]byte, error){
			"agree":    func() ([]byte, error) { return v.agree(1) },
			"result":   func() ([]byte, error) { return v.result(2, []wire.Part{dataPart(`{"reference":"R1"}`)}, at) },
			"question": func() ([]byte, error) { return v.asks(status, at.Add(time.Hour)) },
			"ack":      func() ([]byte, error) { return v.receipt(e, "ack", nil) },
		} {
			one, two := string(must(f())), string(must(f()))
			if one != two {
				t.Errorf("%s: %s, then %s", name, one, two)
			}
		}
	})
}

func sealed(h envelope.Header, content string) (*envelope.Envelope, error) {
	return envelope.Seal(h, []byte(content))
}

func TestANameOfMegabytesThatAServerGivesIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, st := newWires(), newElsewhere(), memory.New()
		_, planner := foreignlyOn(t, w, s, st, w.dialling(DialConfig{}))
		long := "task-" + strings.Repeat("x", 1<<20)
		w.spoil(func(_ *http.Request, body string, done func() *http.Response) (*http.Response, error) {
			if !strings.Contains(body, `"SendMessage"`) {
				return nil, nil
			}
			return reworded(done(), `"task-1"`, `"`+long+`"`)
		})
		q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		for _, x := range must(st.Exchanges(t.Context(), planner.URI(), "")) {
			if x.Task != "" && x.Task != "task-1" {
				t.Errorf("the exchange is called by %d bytes", len(x.Task))
			}
		}
		if len(s.opened) != 1 {
			t.Errorf("it was asked %d times", len(s.opened))
		}
		if err := q.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		var c contexts
		c.put("a", "context-1")
		c.put("a", long)
		if got := c.get("a"); got != "context-1" {
			t.Errorf("a context is called by %d bytes", len(got))
		}
	})
}
