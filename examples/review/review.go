package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

// round is one review by some of the reviewers.
type round struct {
	members []string
	change  Change
	// quorum is how many contributions end the wait, and no more than that: who
	// had not answered by then is missing, and in favour of nothing.
	quorum int
	within time.Duration
}

// run asks the reviewers and prints what they said, then what the author makes
// of it. A gather that has what it needs returns when those who answered have
// acknowledged the fence, after which nothing counts any more.
func (r round) run(ctx context.Context, out io.Writer, author *agent.Agent) (agent.Gathered[Opinion], error) {
	fmt.Fprintf(out, "%s: %s\n", r.change.File, r.change.Summary)
	item(out, "asked", fmt.Sprintf("%s; %d contributions are enough", strings.Join(r.members, ", "), r.quorum))
	terms := agent.GatherTerms{Policy: protocol.PolicyQuorum, Quorum: r.quorum, Reducer: protocol.ReducerPreserveDissent}
	g, err := agent.Gather(ctx, author, r.members, Review, r.change, terms, agent.Within(r.within))
	if unmet, ok := errors.AsType[*protocol.UnmetError](err); ok { // not nothing: there is a part
		item(out, "not met", unmet.Error())
	} else if err != nil {
		return g, err
	}
	report(out, g)
	if err == nil {
		item(out, "fence", "acknowledged by all who answered")
	}
	decision, why := decide(g)
	fmt.Fprintln(out, "A majority proves nothing and silence approves nothing, so the author reads what was found")
	fmt.Fprintf(out, "and decides: %s, because %s.\n", decision, why)
	return g, nil
}
