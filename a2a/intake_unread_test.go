package a2a

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store/memory"
)

func TestAnEnvelopeThatCannotBeReadIsItsSendersFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, nil, answers(booked))
		ann := client{t, s, planner}
		whole := must(parted(must(envelope.Seal(ann.opens(book, envelope.Request), []byte(seat))).Bytes(), ""))
		for name, x := range map[string]struct {
			header  string
			receipt bool
		}{
			"nothing":              {`{}`, false},
			"no object":            {`5`, false},
			"no sender":            {`{"a":1}`, false},
			"somebody and no more": {`{"sender":"` + planner + `","receiver":"` + flights + `","message_id":"` + fresh() + `","conversation_id":"` + fresh() + `"}`, true},
			"a member twice":       {strings.Replace(string(whole.header), "{", `{"hop":0,`, 1), false},
			"a member missing":     {strings.Replace(string(whole.header), `"salt"`, `"salt_"`, 1), true},
		} {
			metadata := wire.Metadata{ExtensionURI: json.RawMessage(x.header)}
			_, sent := s.SendMessage(t.Context(), ann.call(true), &wire.SendMessageRequest{Message: wire.Message{
				MessageID: fresh(), Role: wire.User, Parts: []wire.Part{{Data: json.RawMessage(seat)}}, Metadata: metadata}})
			_, cancelled := s.CancelTask(t.Context(), ann.call(true), &wire.CancelTaskRequest{ID: taskID(fresh(), flights), Metadata: metadata})
			for op, err := range map[string]error{"sent": sent, "cancelled": cancelled} {
				e, ok := errors.AsType[*wire.Error](err)
				if !ok || e.Kind != wire.InvalidParams || x.receipt != (len(receiptsIn(e)) == 1) {
					t.Errorf("%s, %s: %v", name, op, err)
				}
			}
		}
	})
}

func TestALongNameOfATaskIsNotSaidBackWhole(t *testing.T) {
	s := newService(agent.NewHost(agent.Config{Store: memory.New()}, agent.New("flights")), flights)
	_, err := s.GetTask(t.Context(), wire.Call{Caller: planner}, &wire.GetTaskRequest{ID: strings.Repeat("\x01", 1<<20)})
	if kindOf(err) != wire.TaskNotFound || len(err.Error()) > 512 {
		t.Errorf("%d bytes of %s", len(err.Error()), kindOf(err))
	}
}
