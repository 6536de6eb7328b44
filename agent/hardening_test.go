package agent_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

func TestNobodyGetsATokenForANameThatHeOnlyWrote(t *testing.T) {
	flights := answers(func(context.Context, Seat) (Booking, error) { return Booking{Reference: "R1"}, nil })
	planner, a, _ := pair(t, nil, flights)
	for name, data := range map[string]string{
		"malformed": fmt.Sprintf(`{"sender":%q,"receiver":%q,"conversation_id":%q,"message_id":%q}`, flights.URI(), planner.URI(), fresh(), fresh()),
		"no reply":  fmt.Sprintf(`{"sender":%q,"receiver":%q}`, flights.URI(), planner.URI()),
	} {
		replies, err := a.Deliver(t.Context(), []byte(data))
		if name == "malformed" && (err != nil || len(replies) != 1) {
			t.Fatalf("%s: %v, %v", name, replies, err)
		}
		for _, r := range replies {
			e, err := envelope.Decode(r)
			if err != nil {
				t.Fatal(err)
			}
			if e.Auth() != "" {
				t.Errorf("%s: the answer carries a token for %s", name, e.Receiver())
			}
		}
	}
}

// full is a store on a disk that fills up: once armed, nothing is written.
type full struct {
	store.Store
	armed atomic.Bool
	tries atomic.Int64
}

var errFull = errors.New("database or disk is full")

func (f *full) Commit(ctx context.Context, w store.WriteSet) error {
	if f.armed.Load() {
		f.tries.Add(1)
		return errFull
	}
	return f.Store.Commit(ctx, w)
}

func TestAFullDiskEndsInAnHonestUnknownAndNotInACircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &full{Store: open(t, filepath.Join(t.TempDir(), "a.db"))}
		planner := agent.New("planner")
		a := begin(t, nil, disk, planner)
		b := begin(t, nil, nil, answers(func(context.Context, Seat) (Booking, error) {
			<-time.After(time.Second)
			return Booking{Reference: "R1"}, nil
		}))
		agent.Introduce(a, b)
		x, err := agent.Start(t.Context(), planner, "flights", book, seat, agent.Within(20*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		disk.armed.Store(true)
		_, err = x.Wait(t.Context())
		if _, ok := errors.AsType[*protocol.UnknownError](err); !ok {
			t.Errorf("Wait = %v, want unknown", err)
		}
		if n := disk.tries.Load(); n > 500 {
			t.Errorf("%d writes were tried in half a minute", n)
		}
		disk.armed.Store(false)
	})
}

func TestHostsThatKnowEachOtherBeforeTheyStartDoNotWaitForEachOther(t *testing.T) {
	for range 20 {
		one, two := agent.New("one"), agent.New("two")
		a := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "a.db"))}, one)
		b := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "b.db"))}, two)
		agent.Introduce(a, b)
		started := make(chan error, 2)
		for _, h := range []*agent.Host{a, b} {
			go func() { started <- h.Start(t.Context()) }()
		}
		for range 2 {
			if err := <-started; err != nil {
				t.Fatal(err)
			}
		}
		for _, h := range []*agent.Host{a, b} {
			if err := h.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAFailureThatMayPassLeavesItsKeyFreeAndTheEffectKeyEqual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keys []string
		planner, _, _ := pair(t, nil, answers(func(ctx context.Context, _ Seat) (Booking, error) {
			keys = append(keys, agent.EffectKey(ctx))
			if len(keys) == 1 {
				return Booking{}, agent.Fail(envelope.CodeTransient, "supplier-down")
			}
			return Booking{Reference: "R1"}, nil
		}))
		_, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Key("k"))
		if failed, ok := errors.AsType[*protocol.FailedError](err); !ok || failed.Code != envelope.CodeTransient {
			t.Fatalf("first: %v", err)
		}
		out, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Key("k"))
		if err != nil || out.Reference != "R1" {
			t.Fatalf("second: %v, %v", out, err)
		}
		if len(keys) != 2 || keys[0] != keys[1] {
			t.Errorf("effect keys %v, want one twice", keys)
		}
	})
}
