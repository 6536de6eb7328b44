package protocol

// The subscribe protocol: partial informs until one of the two has had enough.
// The participant's lease ends what nobody listens to any more.
const (
	subscribeInitiator = `
start      | !request→requested
active     | !cancel→cancelling, ?failure→done:failed, ?inform→done:ended, ?inform~→active
cancelling | ?agree→cancelling, ?failure→done:failed, ?inform→done:ended, ?inform.c→done:cancelled, ?inform~→cancelling, ?not-understood→done:refused, ?refuse→done:refused, #cancel-by→done:unknown
requested  | !cancel→cancelling, ?agree→active, ?failure→done:failed, ?nack!→done:refused, ?not-understood→done:refused, ?refuse→done:refused
`
	subscribeParticipant = `
start      | ?cancel→cancelling, ?request→received
active     | !failure→done:failed, !inform→done:ended, !inform~→active, ?cancel→cancelling, #lease→failing
cancelling | !failure→done:failed, !inform→done:ended, !inform.c→done:cancelled, ?request→cancelling
failing    | !failure→done:failed, ?cancel→cancelling
overdue    | !refuse→done:expired, ?cancel→cancelling
received   | !agree→active, !failure→done:failed, !not-understood→done:refused, !refuse→done:refused, ?cancel→cancelling, #reply-by→overdue
`
)
