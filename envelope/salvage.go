package envelope

import "github.com/parley-agents/parley/internal/strictjson"

// Salvaged is what a receipt about an unreadable envelope needs. A member that cannot be read is empty.
type Salvaged struct{ Sender, Receiver, MessageID, ConversationID string }

// Salvage reads from bytes that Decode refused what a receipt about them needs. It reports false if they are not strict
// JSON or name no sender: then there is nobody to tell. Nothing else about the message can be trusted, not even that the
// named sender sent it.
func Salvage(data []byte) (Salvaged, bool) {
	members, err := strictjson.Object(data, limits)
	if err != nil {
		return Salvaged{}, false
	}
	var s Salvaged
	for _, m := range members {
		if m.Value[0] != '"' {
			continue
		}
		text := unquote(m.Value)
		switch {
		case m.Name == "sender" && isAgent(text):
			s.Sender = text
		case m.Name == "receiver" && isAgent(text):
			s.Receiver = text
		case m.Name == "message_id" && isUUID(text):
			s.MessageID = text
		case m.Name == "conversation_id" && isUUID(text):
			s.ConversationID = text
		}
	}
	return s, s.Sender != ""
}
