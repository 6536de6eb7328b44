package protocol

// The propose protocol: an offer of the initiator, which the participant
// accepts or rejects.
const (
	proposeInitiator = `
start      | !propose→proposed
cancelling | ?agree→done:accepted, ?failure→done:failed, ?inform→done:ok, ?inform.c→done:cancelled, ?not-understood→done:refused, ?refuse→done:refused, #cancel-by→done:unknown
proposed   | !cancel→cancelling, ?agree→done:accepted, ?failure→done:failed, ?nack!→done:refused, ?not-understood→done:refused, ?refuse→done:rejected
`
	proposeParticipant = `
start       | ?cancel→cancelling, ?propose→considering
cancelling  | !failure→done:failed, !inform→done:ok, !inform.c→done:cancelled, ?propose→cancelling
considering | !agree→done:accepted, !failure→done:failed, !not-understood→done:refused, !refuse→done:rejected, ?cancel→cancelling, #reply-by→overdue
overdue     | !refuse→done:expired, ?cancel→cancelling
`
)
