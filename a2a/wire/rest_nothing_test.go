package wire_test

import (
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
)

func TestABodyOfNullSaysNothing(t *testing.T) {
	var r wire.CancelTaskRequest
	err := wire.Route{Method: wire.CancelTask, Task: "t-1"}.Decode(nil, []byte(" null\n"), &r)
	if err != nil || r.ID != "t-1" {
		t.Errorf("got %+v, %v", r, err)
	}
	var m wire.SendMessageRequest
	if err := (wire.Route{Method: wire.SendMessage}).Decode(nil, []byte("null"), &m); err == nil {
		t.Error("a message is sent that is none")
	}
}
