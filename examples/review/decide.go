package main

import (
	"path"
	"slices"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

// Decision is what the author does with a change after a review.
type Decision string

// The decisions.
const (
	Merge    Decision = "merge it"
	Mend     Decision = "mend it"
	AskAgain Decision = "ask again"
)

// decide is the author's own judgement, and says why; a person could make it as
// well. It looks at what was found, not at how many found it: one rejection
// outweighs any number of approvals, and who said nothing has not approved.
func decide(g agent.Gathered[Opinion]) (Decision, string) {
	for _, c := range slices.Concat(g.Dissent, g.Contributions) {
		if c.Value.Verdict == Reject {
			return Mend, path.Base(c.Member) + " found a blocker"
		}
	}
	if g.Terminal != protocol.TerminalCompleted {
		return AskAgain, "the review ended " + string(g.Terminal)
	}
	return Merge, "nobody found a blocker"
}
