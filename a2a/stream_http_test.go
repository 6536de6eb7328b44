package a2a

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
)

func TestATaskIsSubscribedToAfterARestartAndTellsItsEnd(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			gate, runs := make(chan struct{}), atomic.Int64{}
			d := onDisk(t, Config{}, gated(gate, &runs))
			c := d.as(stranger, binding)
			task := c.sends(uttering("m-1", "hello"))
			synctest.Wait()
			d.restart()
			f := c.follows(task.ID)
			synctest.Wait()
			close(gate)
			list := states(f.wait(t))
			if list[0] == "task TASK_STATE_COMPLETED" || list[len(list)-1] != "TASK_STATE_COMPLETED" || list[len(list)-2] != "artifact" {
				t.Errorf("told are %v", list)
			}
			_, err := c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: task.ID})
			is(t, err, wire.UnsupportedOperation, "")
		})
	})
}

func TestFiveThousandEventsReachAReaderBesideOneThatStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5000
		gate := make(chan struct{})
		d := newDesk(t, agent.Config{}, Config{}, ticking(n, gate)...)
		c := d.as(stranger, wire.JSONRPC)
		task := c.sends(giving("m-1", seat))
		// Its connection has no room, and it takes nothing of it but the answer's head.
		if _, err := c.SubscribeToTask(t.Context(), wire.Call{}, &wire.SubscribeRequest{ID: task.ID}); err != nil {
			t.Fatal(err)
		}
		f := c.follows(task.ID)
		synctest.Wait()
		close(gate)
		if got := numbers(t, f.wait(t)); len(got) != n || got[n-1] != n-1 {
			t.Errorf("%d events came", len(got))
		}
		if got := c.reads(task.ID); got.Status.State != wire.Completed || len(got.Artifacts) != maxArtifacts {
			t.Errorf("it is %s with %d artifacts", got.Status.State, len(got.Artifacts))
		}
	})
}

func TestLongLinesPassBothWays(t *testing.T) {
	bindings(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, Config{}, echoes())
			c := d.as(stranger, binding)
			m := uttering("m-1", strings.Repeat("é", 32_000))
			stream, err := c.SendStreamingMessage(t.Context(), wire.Call{}, &wire.SendMessageRequest{Message: m, Metadata: wire.Metadata{"a": raw(strings.Repeat("x", 1<<20))}})
			if err != nil {
				t.Fatal(err)
			}
			f := &follower{done: make(chan struct{})}
			go f.read(stream)
			events := f.wait(t)
			if list := states(events); !strings.HasSuffix(list[len(list)-1], "TASK_STATE_COMPLETED") {
				t.Fatalf("told are %v", list)
			}
			if got := c.sends(m); len(*got.Artifacts[0].Parts[0].Text) != len("You said ")+64_000 {
				t.Errorf("the answer has %d bytes", len(*got.Artifacts[0].Parts[0].Text))
			}
		})
	})
}
