package agent_test

import (
	"context"
	"errors"
	"log/slog"
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
)

func TestWhatAnAgentMayNotSayAboutItselfIsReportedAtTheStart(t *testing.T) {
	soon := noon.Add(time.Hour)
	for want, opts := range map[string][]agent.Option{
		"capacity 0 is not positive":                                              {agent.Capacity(0)},
		"answers within 1s, at most 0s: want":                                     {agent.Handle(book, answer1), agent.SLA(book, time.Second, 0)},
		"answers within 0s, at most 1s: want":                                     {agent.Handle(book, answer1), agent.SLA(book, 0, time.Second)},
		"an SLA is given for urn:cap:acme.flight.book/v1, which is not answered":  {agent.SLA(book, 1, 1)},
		"an end is planned for urn:cap:acme.flight.book/v1, which is not":         {agent.Deprecate(book, soon, "")},
		"contract acme.flight.book/v1 is deprecated without a sunset":             {agent.Handle(book, answer1), agent.Deprecate(book, time.Time{}, "")},
		"contract acme.flight.book/v1: what replaces it: contract name \"later\"": {agent.Handle(book, answer1), agent.Deprecate(book, soon, "later")},
		"/contracts/0/replaced_by must be the capability of another contract":     {agent.Handle(book, answer1), agent.Deprecate(book, soon, "acme.flight.book/v1")},
		"contract acme.flight.book/v1 ends without acme.flight.book/v1.1": {agent.Handle(book, answer1), agent.Handle(book11, answer11),
			agent.Deprecate(book, soon, "")},
	} {
		h := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "x.db")), Log: slog.New(slog.DiscardHandler)}, agent.New("flights", opts...))
		err := h.Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("starting says %v, want %s", err, want)
		}
		if err := h.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// receivers are agents of every age, by what they answer.
func receivers() map[string]*agent.Agent {
	return map[string]*agent.Agent{
		"v1":        agent.New("flights", agent.Handle(book, answer1)),
		"v1.1":      agent.New("flights", agent.Handle(book11, answer11)),
		"v1 v1.1":   agent.New("flights", agent.Handle(book, answer1), agent.Handle(book11, answer11)),
		"v1 v2":     agent.New("flights", agent.Handle(book, answer1), agent.Handle(book2, answer2)),
		"v1.1 v2":   agent.New("flights", agent.Handle(book11, answer11), agent.Handle(book2, answer2)),
		"v2":        agent.New("flights", agent.Handle(book2, answer2)),
		"something": agent.New("flights", agent.Handle(look, answer1)),
	}
}

func TestOldAndNewAgentsInteroperateInTheHighestCommonVersion(t *testing.T) {
	senders := map[string][]agent.Contract{"v1": {book}, "v1.1": {book11}, "v1 v2": {book, book2}, "v1 v1.1": {book11, book}, "v2": {book2}}
	// What comes back, by sender and receiver; "" if they have nothing in common.
	want := map[string]map[string]string{
		"v1":      {"v1": "1-AY121", "v1.1": "11-AY121", "v1 v1.1": "1-AY121", "v1 v2": "1-AY121", "v1.1 v2": "11-AY121"},
		"v1.1":    {"v1": "1-AY121/", "v1.1": "11-AY121+fish/A4", "v1 v1.1": "11-AY121+fish/A4", "v1 v2": "1-AY121/", "v1.1 v2": "11-AY121+fish/A4"},
		"v1 v1.1": {"v1": "1-AY121", "v1.1": "11-AY121+fish/A4", "v1 v1.1": "11-AY121+fish/A4", "v1 v2": "1-AY121", "v1.1 v2": "11-AY121+fish/A4"},
		"v1 v2":   {"v1": "1-AY121", "v1.1": "11-AY121", "v1 v1.1": "1-AY121", "v1 v2": "2-AY121", "v1.1 v2": "2-AY121", "v2": "2-AY121"},
		"v2":      {"v1 v2": "2-AY121", "v1.1 v2": "2-AY121", "v2": "2-AY121"},
	}
	for receiver, flights := range receivers() {
		planner, _, _ := pair(t, clock(), flights)
		for sender, versions := range senders {
			what := sender + " to " + receiver
			c, err := agent.Common(planner, "flights", versions...)
			if want[sender][receiver] == "" {
				none, ok := errors.AsType[*protocol.NoCommonVersionError](err)
				if !ok || none.Path != "acme.flight.book" || len(none.Ours) != len(versions) {
					t.Errorf("%s: %v, %v, want no common version", what, c, err)
				}
				// Asking all the same is answered, and breaks nothing.
				if _, err := orderIn(t.Context(), planner, versions[0]); !isNotUnderstood(err) {
					t.Errorf("%s: asking ends as %v, want not-understood", what, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if got, err := orderIn(t.Context(), planner, c); err != nil || got != want[sender][receiver] {
				t.Errorf("%s: %s, %v, want %s", what, got, err, want[sender][receiver])
			}
		}
	}
}

func isNotUnderstood(err error) bool {
	_, ok := errors.AsType[*protocol.NotUnderstoodError](err)
	return ok
}

func TestADeprecatedContractIsUsedWithAWarningUntilItsSunset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &sightings{}
		planner := agent.New("planner")
		a := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "a.db")), Log: slog.New(slog.DiscardHandler), Observer: seen}, planner)
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		sunset := time.Now().Add(time.Minute)
		slow := agent.Handle(book, func(ctx context.Context, in Seat) (Booking, error) {
			select {
			case <-ctx.Done():
				return Booking{}, context.Cause(ctx)
			case <-time.After(20 * time.Second):
				return answer1(ctx, in)
			}
		})
		b := begin(t, nil, nil, agent.New("flights", slow, agent.Handle(book2, answer2), agent.Deprecate(book, sunset, "acme.flight.book/v2")))
		agent.Introduce(a, b)

		at(50 * time.Second)
		c, err := agent.Common(planner, "flights", book)
		if err != nil || c != book {
			t.Fatalf("before the sunset: %v, %v", c, err)
		}
		if got, err := orderIn(t.Context(), planner, book); err != nil || got != "1-AY121" {
			t.Errorf("what was under way at the sunset ended as %s, %v", got, err)
		}
		warned := seen.of(agent.ContractDeprecated)
		if len(warned) != 1 || warned[0].Owner != planner.URI() || warned[0].Peer != "agent://local/flights" || warned[0].Conversation == "" {
			t.Fatalf("the operator saw %+v, want one warning", warned)
		}
		wantAttrs := []slog.Attr{slog.String("contract", "acme.flight.book/v1"), slog.Time("sunset", sunset), slog.String("replaced_by", "urn:cap:acme.flight.book/v2")}
		for i, w := range wantAttrs {
			if i >= len(warned[0].Attrs) || !warned[0].Attrs[i].Equal(w) {
				t.Errorf("the warning says %v, want %v", warned[0].Attrs, wantAttrs)
				break
			}
		}
		if got := a.Counts()["deprecated"]; got != 1 {
			t.Errorf("%d are counted, want 1", got)
		}

		if c, err := agent.Common(planner, "flights", book); err == nil {
			t.Errorf("after the sunset %v is common", c)
		}
		if c, err := agent.Common(planner, "flights", book, book2); err != nil || c != book2 {
			t.Errorf("after the sunset: %v, %v, want v2", c, err)
		}
		_, err = orderIn(t.Context(), planner, book)
		if misread, ok := errors.AsType[*protocol.NotUnderstoodError](err); !ok || misread.Pointer != "/capability" {
			t.Errorf("after the sunset it ends as %v, want not-understood at /capability", err)
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnAgentWorksOnNoMoreThanItsCapacityAndTakesTheRestLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places, all = 2, 7
		var now, most atomic.Int32
		seen := &sightings{}
		flights := agent.New("flights", agent.Capacity(places), agent.Handle(look, func(_ context.Context, in Seat) (Booking, error) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			<-time.After(3 * time.Second)
			now.Add(-1)
			return Booking{in.Flight}, nil
		}))
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		b := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "b.db")), Log: slog.New(slog.DiscardHandler), Observer: seen}, flights)
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		agent.Introduce(a, b)
		var done atomic.Int32
		for range all {
			go func() {
				if got, err := agent.Ask(t.Context(), planner, "flights", look, seat, agent.Within(5*time.Minute)); err != nil || got.Reference != seat.Flight {
					t.Errorf("%v, %v", got, err)
				}
				done.Add(1)
			}()
		}
		at(4 * time.Minute)
		if done.Load() != all || most.Load() != places {
			t.Errorf("%d of %d are answered, %d at once; want all, %d at once", done.Load(), all, most.Load(), places)
		}
		overloaded := 0
		for _, o := range seen.of(agent.GuardRefused) {
			if slices.ContainsFunc(o.Attrs, func(a slog.Attr) bool { return a.Equal(slog.String("reason", "overloaded")) }) {
				overloaded++
			}
		}
		if overloaded < all-places {
			t.Errorf("%d were turned away, want at least %d", overloaded, all-places)
		}
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAMessageThatIsRefusedOrRepeatedTakesNoPlace(t *testing.T) {
	flights := agent.New("flights", agent.Capacity(1), agent.Handle(book, answer1))
	planner, _, _ := pair(t, clock(), flights)
	for range 5 {
		if _, err := orderIn(t.Context(), planner, book2); !isNotUnderstood(err) {
			t.Fatal(err)
		}
		for _, key := range []agent.AskOption{agent.Key("one"), agent.Key("one")} {
			if _, err := agent.Ask(t.Context(), planner, "flights", book, seat, key); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAModelIsOfferedTheHighestCommonVersionOfEachContract(t *testing.T) {
	unmet := protocol.Query[Seat, Booking]("acme.flight.unmet/v1")
	for receiver, want := range map[string][]string{
		"v1":        {"flights__acme_flight_book_v1"},
		"v1.1":      {"flights__acme_flight_book_v1_1"},
		"v1 v2":     {"flights__acme_flight_book_v2"},
		"v2":        {"flights__acme_flight_book_v2"},
		"something": {"flights__acme_flight_look_v1"},
	} {
		script := agenttest.NewScript(says("ok"))
		c := clerk(script, agent.MayAsk("flights", book, book11, look, unmet, book2))
		if _, err := asked(t, c, receivers()[receiver]); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range names(script.Requests()[0]) {
			if strings.HasPrefix(name, "flights__") {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("to a peer of %s the model is offered %v, want %v", receiver, got, want)
		}
	}
}

func TestAModelIsOfferedTheHighestVersionOfAPeerThatIsNotThereYet(t *testing.T) {
	script := agenttest.NewScript(says("ok"))
	if _, err := asked(t, clerk(script, agent.MayAsk("flights", book, book2, book11))); err != nil {
		t.Fatal(err)
	}
	if got := names(script.Requests()[0]); !slices.Contains(got, "flights__acme_flight_book_v2") || slices.Contains(got, "flights__acme_flight_book_v1") {
		t.Errorf("the model is offered %v", got)
	}
}
