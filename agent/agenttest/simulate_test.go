package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/agent/simulate"
	"github.com/parley-agents/parley/protocol"
)

type parcel struct {
	To string `json:"to"`
}

var carry = protocol.Request[parcel, parcel]("post.van.carry/v1")

// careless is a van that carries a parcel again each time its work begins.
func careless(w *simulate.World) {
	carried := 0
	w.Node("van", func() []*agent.Agent {
		return []*agent.Agent{agent.New("van", agent.Handle(carry, func(ctx context.Context, p parcel) (parcel, error) {
			carried++
			return p, agent.Sleep(ctx, 0)
		}))}
	})
	sender := w.Node("sender", func() []*agent.Agent { return []*agent.Agent{agent.New("sender")} })
	w.Do(sender, func(ctx context.Context) error {
		_, err := agent.Ask(ctx, sender.Agent("sender"), "van", carry, parcel{To: "Turku"}, agent.Key("parcel-1"))
		return err
	})
	w.Check("carried once", func() error {
		if carried > 1 {
			return errors.New("the parcel was carried twice")
		}
		return nil
	})
}

// recorder is a test that notes what fails it.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Error(args ...any)         { r.said = append(r.said, fmt.Sprint(args...)) }
func (r *recorder) Errorf(f string, a ...any) { r.said = append(r.said, fmt.Sprintf(f, a...)) }
func (r *recorder) Context() context.Context  { return r.TB.Context() }

func TestSimulateFindsWhatBreaksAUsersPromise(t *testing.T) {
	notes := &recorder{TB: t}
	agenttest.Simulate(notes, simulate.Config{Worlds: 200, Kinds: []simulate.Kind{simulate.Crash, simulate.Drop}, Failures: 1, Set: careless})
	said := strings.Join(notes.said, "\n")
	for _, want := range []string{"the parcel was carried twice", "these accidents suffice", "crash", "carried once was broken"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in:\n%s", want, said)
		}
	}
}

func TestSimulateIsQuietWhereNothingIsBroken(t *testing.T) {
	notes := &recorder{TB: t}
	agenttest.Simulate(notes, simulate.Config{Worlds: 10, Set: careless})
	if len(notes.said) > 0 {
		t.Errorf("%q", notes.said)
	}
}
