package protocol

import _ "embed" // for the documents

// BuiltIn is a content schema that every agent knows, whatever its contracts.
type BuiltIn struct {
	// Name is what an envelope's member schema carries, "parley.agree/v1".
	Name string
	// Document is the JSON Schema (draft 2020-12); its $id is "urn:schema:"
	// and the name.
	Document []byte
}

var (
	//go:embed schemas/agree.json
	agreeDocument string
	//go:embed schemas/refusal.json
	refusalDocument string
	//go:embed schemas/failure.json
	failureDocument string
	//go:embed schemas/cancel.json
	cancelDocument string
	//go:embed schemas/chat.json
	chatDocument string
	//go:embed schemas/chat-result.json
	chatResultDocument string
	//go:embed schemas/fence.json
	fenceDocument string
	//go:embed schemas/advertise.json
	advertiseDocument string
	//go:embed schemas/outcome.json
	outcomeDocument string
	//go:embed schemas/outcome-result.json
	outcomeResultDocument string
	//go:embed schemas/question.json
	questionDocument string
	//go:embed schemas/question-result.json
	questionResultDocument string
)

// BuiltIns lists the built-in content schemas: those of acts that say nothing
// beyond themselves, which admit exactly the empty object, those of Chat, of a
// gather's fence, of an advertisement, of looking at an outcome and of asking
// back.
func BuiltIns() []BuiltIn {
	return []BuiltIn{
		{AgreeSchema, []byte(agreeDocument)},
		{RefusalSchema, []byte(refusalDocument)},
		{FailureSchema, []byte(failureDocument)},
		{CancelSchema, []byte(cancelDocument)},
		{Chat().Name().Input(), []byte(chatDocument)},
		{Chat().Name().Result(), []byte(chatResultDocument)},
		{FenceSchema, []byte(fenceDocument)},
		{AdvertiseSchema, []byte(advertiseDocument)},
		{OutcomeName, []byte(outcomeDocument)},
		{declare(OutcomeName, QueryV1).name.Result(), []byte(outcomeResultDocument)},
		{QuestionName, []byte(questionDocument)},
		{Question.Name().Result(), []byte(questionResultDocument)},
	}
}
