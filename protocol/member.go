package protocol

// The gather protocol: one member of a gather, from the opening request to the
// acknowledged fence. A cancel does not end it, only the fence does: a member
// that has stopped waits for it, and so does one that the cancel reached before
// the request. A coordinator that never fences leaves its members orphaned.
const (
	gatherInitiator = `
start       | !request→open
abstained   | !cancel→cancelled, !fence→fencing
cancelled   | !fence→fencing, ?failure→cancelled, ?inform.c→cancelled, ?inform~→cancelled, ?not-understood→cancelled, ?refuse→cancelled
contributed | !cancel→cancelled, !fence→fencing
fencing     | ?ack→done:closed, ?failure→fencing, ?inform.c→fencing, ?inform~→fencing, ?not-understood→fencing, ?refuse→fencing, #ack-by→done:blocked
missing     | !cancel→cancelled, !fence→fencing, ?failure→missing, ?inform~→missing, ?not-understood→missing, ?refuse→missing
open        | !cancel→cancelled, ?failure→abstained, ?inform~→contributed, ?nack!→missing, ?not-understood→abstained, ?refuse→abstained, #gather-by→missing
`
	gatherParticipant = `
start    | ?cancel→stopping, ?fence→ackit, ?request→asked
ackit    | !ack→done:closed, ?cancel→ackit, ?request→ackit
asked    | !failure→given, !inform~→given, !not-understood→given, !refuse→given, ?cancel→stopping, ?fence→ackit, #gather-by→given
given    | ?cancel→stopping, ?fence→ackit, #lease→done:orphaned
stopped  | ?fence→ackit, ?request→stopped, #lease→done:orphaned
stopping | !failure→stopped, !inform.c→stopped, ?fence→ackit, ?request→stopping
`
)
