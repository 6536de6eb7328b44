package protocol

// The request protocol: work that has effects. After agree the participant
// owes an inform or a failure. The rows in cancelling that accept agree,
// partial informs and refusals are the ones that a cancel crossing an answer
// needs.
const (
	requestInitiator = `
start      | !request→requested
agreed     | !cancel→cancelling, ?failure→done:failed, ?inform→done:ok, ?inform~→agreed
cancelling | ?agree→cancelling, ?failure→done:failed, ?inform→done:ok, ?inform.c→done:cancelled, ?inform~→cancelling, ?not-understood→done:refused, ?refuse→done:refused, #cancel-by→done:unknown
requested  | !cancel→cancelling, ?agree→agreed, ?nack!→done:refused, ?not-understood→done:refused, ?refuse→done:refused
`
	requestParticipant = `
start      | ?cancel→cancelling, ?request→received
agreed     | !failure→done:failed, !inform→done:ok, !inform~→agreed, ?cancel→cancelling, #reply-by→failing
cancelling | !failure→done:failed, !inform→done:ok, !inform.c→done:cancelled, ?request→cancelling
failing    | !failure→done:failed, ?cancel→cancelling
overdue    | !refuse→done:expired, ?cancel→cancelling
received   | !agree→agreed, !not-understood→done:refused, !refuse→done:refused, ?cancel→cancelling, #reply-by→overdue
`
)
