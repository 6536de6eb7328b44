package envelope

import "testing"

func TestSalvageFindsWhomToTell(t *testing.T) {
	data := edit(t, seal(t, act(Request)), func(m map[string]any) {
		m["performative"] = "order"
		m["content"] = 7
	})
	got, ok := Salvage(data)
	if !ok || got != (Salvaged{planner, flights, id(1), id(2)}) {
		t.Errorf("got %+v, %v", got, ok)
	}
	data = edit(t, seal(t, act(Request)), func(m map[string]any) {
		m["message_id"] = "1"
		m["conversation_id"] = []any{}
	})
	if got, ok = Salvage(data); !ok || got.Sender != planner || got.MessageID != "" || got.ConversationID != "" {
		t.Errorf("got %+v, %v", got, ok)
	}
}

func TestSalvageGivesUpWithoutASender(t *testing.T) {
	for _, data := range []string{``, `{`, `[]`, `{}`, `{"sender":"Planner"}`, `{"sender":7}`, `{"sender":"` + planner + `","sender":"` + planner + `"}`} {
		if got, ok := Salvage([]byte(data)); ok {
			t.Errorf("%s: told %s", data, got.Sender)
		}
	}
}
