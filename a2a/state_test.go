package a2a

import (
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/protocol"
)

func TestEveryStateOfAParticipantIsAStateOfItsTask(t *testing.T) {
	for _, p := range protocol.All() {
		for _, r := range p.Table(protocol.Participant).Rows() {
			for _, s := range []protocol.State{r.From, r.To} {
				for _, asked := range []bool{false, true} {
					got := taskState(p.Name, s, asked)
					if got == "" {
						t.Errorf("%s: %s is no state of a task", p.Name, s)
					}
					if got.Terminal() != s.Done() {
						t.Errorf("%s: %s is %s: one has ended and the other has not", p.Name, s, got)
					}
					if asked && !s.Done() && got != wire.InputRequired {
						t.Errorf("%s: %s with an open question is %s", p.Name, s, got)
					}
				}
			}
		}
	}
	if got := taskState(protocol.RequestV1, "elsewhere", false); got != "" {
		t.Errorf("a state of no table is %s", got)
	}
}

func TestTheStateOfATaskSaysWhatWasDone(t *testing.T) {
	for _, tt := range []struct {
		protocol string
		state    protocol.State
		want     wire.TaskState
	}{
		{protocol.RequestV1, "received", wire.Submitted},
		{protocol.RequestV1, "agreed", wire.Working},
		{protocol.RequestV1, "done:ok", wire.Completed},
		{protocol.RequestV1, "done:refused", wire.Rejected},
		{protocol.RequestV1, "done:failed", wire.Failed},
		{protocol.RequestV1, "done:cancelled", wire.Canceled},
		{protocol.SubscribeV1, "done:ended", wire.Completed},
		{protocol.ContractNetV1, "proposed", wire.InputRequired},
		{protocol.ContractNetV1, "done:rejected", wire.Canceled},
		{protocol.ContractNetV1, "done:expired", wire.Rejected},
		{protocol.ProposeV1, "considering", wire.Submitted},
		{protocol.ProposeV1, "done:accepted", wire.Completed},
		{protocol.ProposeV1, "done:rejected", wire.Rejected},
		{protocol.GatherV1, "given", wire.InputRequired},
		{protocol.GatherV1, "ackit", wire.Working},
		{protocol.GatherV1, "done:closed", wire.Completed},
		{protocol.GatherV1, "done:orphaned", wire.Failed},
	} {
		if got := taskState(tt.protocol, tt.state, false); got != tt.want {
			t.Errorf("%s in %s: %s, want %s", tt.protocol, tt.state, got, tt.want)
		}
	}
}

func TestTheIDOfATaskFollowsFromItsConversationAndItsParticipant(t *testing.T) {
	const conversation = "019535d9-3df7-79fb-b466-000000000001"
	got := taskID(conversation, "agent://local/flights")
	for in, want := range map[string]string{
		conversation: "agktlwj564ogegoeixfphps6uwbcmjjb",
		"random-id":  "kjb3td6leqnrffzwo5kik3rkcntua566",
	} {
		if id := taskID(in, "agent://local/flights"); id != want {
			t.Errorf("%s: id %s, want %s", in, id, want)
		}
	}
	if !isTaskID(got) || isTaskID(got[1:]) || isTaskID("A"+got[1:]) || isTaskID("1"+got[1:]) {
		t.Error("the form of an id is not recognised")
	}
	if other := taskID(conversation, "agent://local/hotels"); other == got {
		t.Error("another participant's task has the same id")
	}
}
