package a2a

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
)

func TestATaskThatHasNoRoomForMoreMessagesSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{t, begin(t, nil, agent.Spend(agent.Budget{Messages: 6}), answers(func(ctx context.Context) (Booking, error) { <-ctx.Done(); return Booking{}, ctx.Err() })), stranger}
		send := func(id, task string, p wire.Part) (*wire.SendMessageResponse, error) {
			none := 0
			return c.s.SendMessage(t.Context(), c.call(false), &wire.SendMessageRequest{
				Message:       wire.Message{MessageID: id, TaskID: task, Role: wire.User, Parts: []wire.Part{p}},
				Configuration: wire.SendConfiguration{ReturnImmediately: true, HistoryLength: &none}})
		}
		opened, err := send("m", "", wire.Part{Data: []byte(seat)})
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for ; err == nil && taken < 20; taken++ {
			_, err = send(fmt.Sprint("n", taken), opened.Task.ID, text("and a window seat"))
		}
		if kindOf(err) != wire.Overloaded {
			t.Errorf("after %d messages: %v", taken, err)
		}
		if _, err := send("n0", opened.Task.ID, text("and a window seat")); err != nil {
			t.Errorf("one that it has taken, again: %v", err)
		}
	})
}
