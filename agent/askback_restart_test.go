package agent_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// questions picks the commits that move a question, by what they do to it.
func questions(fits func(store.Exchange, store.WriteSet) bool) func(store.WriteSet) bool {
	return func(w store.WriteSet) bool {
		return slices.ContainsFunc(w.Exchanges, func(x store.Exchange) bool {
			return x.State.Capability == protocol.Question.Name().Capability() && fits(x, w)
		})
	}
}

func begins(x store.Exchange, _ store.WriteSet) bool { return x.Version == 0 }
func ends(x store.Exchange, _ store.WriteSet) bool   { return x.State.Done() }

func TestAnAskerThatDiesAtAnyPointOfItsQuestionAsksItOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		when  func(store.WriteSet) bool
		after bool
	}{
		"before the question is written":   {questions(begins), false},
		"after the question is written":    {questions(begins), true},
		"before the answer is written":     {questions(ends), false},
		"after the answer is written":      {questions(ends), true},
		"before its own result is written": {completes, false},
	} {
		for who, agentOf := range map[string]func(*agenttest.Script) *agent.Agent{
			"a handler": func(*agenttest.Script) *agent.Agent { return curious(which) },
			"a model": func(s *agenttest.Script) *agent.Agent {
				return agent.New("flights", agent.Model(s), agent.Answer(look, prompt), agent.Answer(book, prompt), agent.MayAskBack())
			},
		} {
			t.Run(name+", "+who, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var asked atomic.Int32
					planner := forthcoming(func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
						asked.Add(1)
						<-time.After(time.Second)
						return protocol.QuestionAnswered{Choice: "aisle"}, nil
					})
					again := agenttest.Calls(agenttest.Call("ask_back", which))
					a := begin(t, nil, nil, planner)
					path := filepath.Join(t.TempDir(), "b.db")
					var b *agent.Host
					reopened := make(chan struct{})
					disk := &crashing{Store: open(t, path), when: tt.when, after: tt.after}
					disk.crash = func() {
						if err := b.Kill(); err != nil {
							t.Error(err)
						}
						go func() {
							defer close(reopened)
							agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, agentOf(agenttest.NewScript(says("aisle")))))
						}()
					}
					disk.armed.Store(true)
					b = begin(t, nil, disk, agentOf(agenttest.NewScript(again, says("aisle"))))
					agent.Introduce(a, b)
					out, err := agent.Ask(t.Context(), planner, "flights", look, seat, agent.Within(10*time.Minute))
					if err != nil || out.Reference != "aisle" || asked.Load() != 1 {
						t.Errorf("Ask = %v, %v after %d questions, want the one", out, err, asked.Load())
					}
					<-reopened
				})
			})
		}
	}
}

func TestAnAnswererThatDiesIsAskedAgainUntilItsAnswerIsWritten(t *testing.T) {
	accepted := func(x store.Exchange, w store.WriteSet) bool { return len(w.Accept) > 0 }
	for name, tt := range map[string]struct {
		when  func(store.WriteSet) bool
		after bool
		asked int32
	}{
		"before the question is accepted": {questions(accepted), false, 1},
		"after the question is accepted":  {questions(accepted), true, 1},
		"before its answer is written":    {questions(ends), false, 2},
		"after its answer is written":     {questions(ends), true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				planner := func() *agent.Agent {
					return forthcoming(func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
						asked.Add(1)
						return protocol.QuestionAnswered{Choice: "aisle"}, nil
					})
				}
				path := filepath.Join(t.TempDir(), "a.db")
				first, second := planner(), planner()
				b := begin(t, nil, nil, curious(which))
				var a *agent.Host
				reopened := make(chan struct{})
				disk := &crashing{Store: open(t, path), when: tt.when, after: tt.after}
				disk.crash = func() {
					if err := a.Kill(); err != nil {
						t.Error(err)
					}
					go func() {
						defer close(reopened)
						agent.Introduce(b, beginWith(t, nil, open(t, path), []*agent.Host{b}, second))
					}()
				}
				disk.armed.Store(true)
				a = begin(t, nil, disk, first)
				agent.Introduce(a, b)
				x, err := agent.Start(t.Context(), first, "flights", look, seat, agent.Within(10*time.Minute))
				if err != nil {
					t.Fatal(err)
				}
				<-reopened
				again, err := agent.Resume(t.Context(), second, "flights", x.ID(), look)
				if err != nil {
					t.Fatal(err)
				}
				if out, err := again.Wait(t.Context()); err != nil || out.Reference != "aisle" || asked.Load() != tt.asked {
					t.Errorf("Wait = %v, %v after %d questions, want %d", out, err, asked.Load(), tt.asked)
				}
			})
		})
	}
}

func TestARunThatAsksSomethingElseFindsTheQuestionOfTheRunBeforeOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := forthcoming(func(ctx context.Context, _ protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			<-ctx.Done()
			return protocol.QuestionAnswered{}, ctx.Err()
		})
		path := filepath.Join(t.TempDir(), "b.db")
		a := begin(t, nil, nil, planner)
		b := begin(t, nil, open(t, path), curious(which))
		agent.Introduce(a, b)
		q := ask(t, planner, "flights", look, seat, agent.Within(10*time.Minute))
		at(time.Second)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, curious(protocol.QuestionAsked{Text: "Why?"})))
		if out, err := q.wait(); err != nil || !strings.Contains(out.Reference, agent.ErrQuestionOpen.Error()) {
			t.Errorf("Ask = %v, %v", out, err)
		}
	})
}

func TestARunThatGoesThroughAnsweredQuestionsComesToTheOneThatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := protocol.QuestionAsked{Text: "Why?"}
		open2 := make(chan struct{})
		planner := forthcoming(func(ctx context.Context, q protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			if len(q.Choices) > 0 {
				return protocol.QuestionAnswered{Choice: "aisle"}, nil
			}
			select {
			case <-open2:
			case <-ctx.Done():
			}
			return protocol.QuestionAnswered{Text: "because"}, nil
		})
		flights := func() *agent.Agent {
			return answers(func(ctx context.Context, _ Seat) (Booking, error) {
				first, err := agent.AskBack(ctx, which)
				if err != nil {
					return Booking{}, err
				}
				second, err := agent.AskBack(ctx, why)
				return Booking{first.Choice + " " + string(second.Text)}, err
			})
		}
		path := filepath.Join(t.TempDir(), "b.db")
		a := begin(t, nil, nil, planner)
		b := begin(t, nil, open(t, path), flights())
		agent.Introduce(a, b)
		q := ask(t, planner, "flights", look, seat, agent.Within(10*time.Minute))
		at(time.Second)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, flights()))
		at(time.Second)
		close(open2)
		if out, err := q.wait(); err != nil || out.Reference != "aisle because" {
			t.Errorf("Ask = %v, %v", out, err)
		}
	})
}

// Whoever answers by hand does so once, and not again until the asker is ready.
func TestAnAnswerIsTakenBeforeTheAskerHasAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		say, ask := make(chan struct{}), make(chan struct{})
		planner := forthcoming(func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			<-say
			return protocol.QuestionAnswered{Choice: "aisle"}, nil
		})
		a := begin(t, nil, nil, planner)
		path := filepath.Join(t.TempDir(), "b.db")
		b := begin(t, nil, open(t, path), curious(which))
		agent.Introduce(a, b)
		var out Booking
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			out, err = agent.Ask(t.Context(), planner, "flights", look, seat, agent.Within(10*time.Minute))
		}()
		<-time.After(time.Second)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		b = beginWith(t, nil, open(t, path), []*agent.Host{a}, answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ask
			got, err := agent.AskBack(ctx, which)
			return Booking{Reference: got.Choice}, err
		}))
		agent.Introduce(a, b)
		close(say)
		<-time.After(5 * time.Second)
		open, oops := b.Store().Exchanges(t.Context(), "agent://local/flights", "")
		if oops != nil {
			t.Fatal(oops)
		}
		for _, x := range open {
			if x.State.Capability == protocol.Question.Name().Capability() && !x.State.Done() {
				t.Errorf("the question is still %s", x.State.State)
			}
		}
		close(ask)
		<-done
		if err != nil || out.Reference != "aisle" {
			t.Errorf("Ask = %v, %v", out, err)
		}
	})
}
