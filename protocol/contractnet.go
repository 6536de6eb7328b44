package protocol

// The contract net protocol: a call for proposals, a proposal or a refusal, an
// award or a rejection, and the result. One table per bidder. In late a
// proposal has come after the decision and is turned down at once, so that its
// bidder frees what it held; in lapsed and lateaward it is the award that comes
// after the proposal's own deadline. A cfp on a proposed row is the next round
// and rejects the proposal before it; how many rounds there are is a member of
// the exchange.
const (
	contractNetInitiator = `
start      | !cfp→called
awarded    | !cancel→cancelling, ?cancel→done:withdrawn, ?failure→done:failed, ?inform→done:ok, ?inform~→awarded
called     | !cancel→cancelling, ?cancel→done:withdrawn, ?failure→done:failed, ?nack!→done:refused, ?not-understood→done:refused, ?propose→proposed, ?refuse→done:refused, #reply-by→expired
cancelling | ?cancel→done:withdrawn, ?failure→done:failed, ?inform→done:ok, ?inform.c→done:cancelled, ?inform~→cancelling, ?not-understood→done:refused, ?propose→cancelling, ?refuse→done:refused, #cancel-by→done:unknown
expired    | !cancel→cancelling, ?cancel→done:withdrawn, ?failure→done:failed, ?not-understood→done:refused, ?propose→late, ?refuse→done:refused, #grace→done:timed_out
late       | !refuse→done:rejected, ?cancel→done:withdrawn
proposed   | !agree→awarded, !cancel→cancelling, !cfp→called, !refuse→done:rejected, ?cancel→done:withdrawn
`
	contractNetParticipant = `
start      | ?cancel→cancelling, ?cfp→called
awarded    | !failure→done:failed, !inform→done:ok, !inform~→awarded, ?cancel→cancelling, #reply-by→lateaward
called     | !failure→done:failed, !not-understood→done:refused, !propose→proposed, !refuse→done:refused, ?cancel→cancelling, #reply-by→overdue
cancelling | !failure→done:failed, !inform→done:ok, !inform.c→done:cancelled, ?agree→cancelling, ?cfp→cancelling
lapsed     | ?agree→lateaward, ?cancel→cancelling, ?cfp→called, ?refuse→done:rejected, #grace→done:expired
lateaward  | !failure→done:failed, ?cancel→cancelling
overdue    | !refuse→done:expired, ?cancel→cancelling
proposed   | !cancel→done:withdrawn, ?agree→awarded, ?cancel→cancelling, ?cfp→called, ?refuse→done:rejected, #reply-by→lapsed
`
)
