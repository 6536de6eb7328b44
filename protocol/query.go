package protocol

// The query protocol: a question without effects. The participant may answer
// without agreeing first.
const (
	queryInitiator = `
start      | !request→requested
agreed     | !cancel→cancelling, ?failure→done:failed, ?inform→done:ok, ?inform~→agreed
cancelling | ?agree→cancelling, ?failure→done:failed, ?inform→done:ok, ?inform.c→done:cancelled, ?inform~→cancelling, ?not-understood→done:refused, ?refuse→done:refused, #cancel-by→done:unknown
requested  | !cancel→cancelling, ?agree→agreed, ?failure→done:failed, ?inform→done:ok, ?inform~→agreed, ?nack!→done:refused, ?not-understood→done:refused, ?refuse→done:refused
`
	queryParticipant = `
start      | ?cancel→cancelling, ?request→received
agreed     | !failure→done:failed, !inform→done:ok, !inform~→agreed, ?cancel→cancelling, #reply-by→failing
cancelling | !failure→done:failed, !inform→done:ok, !inform.c→done:cancelled, ?request→cancelling
failing    | !failure→done:failed, ?cancel→cancelling
overdue    | !refuse→done:expired, ?cancel→cancelling
received   | !agree→agreed, !failure→done:failed, !inform→done:ok, !inform~→agreed, !not-understood→done:refused, !refuse→done:refused, ?cancel→cancelling, #reply-by→overdue
`
)
