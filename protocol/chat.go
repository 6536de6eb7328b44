package protocol

// Text is free text in a contract: what a person or a peer wrote in its own
// words. It is data wherever it goes; its only way into a prompt is quoted.
type Text string

// Said is one thing that was said in a chat.
type Said struct {
	Text Text `json:"text" jsonschema:"maxLength=65536"`
}

// ChatName is the name of the built-in contract that takes text and returns
// text.
const ChatName = "parley.chat/v1"

// Chat is that contract. Talking may lead to effects, so it is a request; its
// key follows from the message.
func Chat() Contract[Said, Said] { return chat }

var chat = Request[Said, Said](ChatName)
