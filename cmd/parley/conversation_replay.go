package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/transcript"
)

// replay is what the replay of one log came to.
type replay struct {
	Owner    string `json:"owner"`
	ID       string `json:"id"`
	Entries  int    `json:"entries"`
	Terminal string `json:"terminal,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Steps    []step `json:"steps,omitempty"`
	// Divergence is the first place where the record and the fold differ.
	Divergence *divergence `json:"divergence,omitempty"`
}

type step struct {
	Index  int64  `json:"index"`
	Kind   string `json:"kind"`
	Event  string `json:"event,omitempty"`
	Peer   string `json:"peer,omitempty"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Digest string `json:"digest"`
}

type divergence struct {
	Index    int64  `json:"index,omitempty"`
	Peer     string `json:"peer,omitempty"`
	Event    string `json:"event,omitempty"`
	What     string `json:"what"`
	Recorded string `json:"recorded"`
	Folded   string `json:"folded"`
}

func conversationReplay() *cobra.Command {
	var db, owner string
	var stepwise bool
	c := &cobra.Command{
		Use:   "replay ID",
		Short: "Fold the log of a conversation again and compare",
		Long: `Fold the log of a conversation, as each of its agents in the store has it,
through the transition tables again: every message is read, every state made
anew, and what comes of it compared with what was recorded. Nothing is executed
and nothing written; a host may be running.

A difference means that the store was changed by hand or written by other
rules. The first one is shown, and the exit code is 8. --step prints the state
and its digest after each entry.

-o json prints {"replays": [{"owner", "id", "entries", "terminal", "digest",
"steps", "divergence": {"index", "peer", "event", "what", "recorded",
"folded"}}]}. The terminal is that of the initiator's log, once the conversation
has ended.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeConversation(&db, 1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			sides, err := readSides(c, db, owner, args[0])
			if err != nil {
				return err
			}
			var list []replay
			var first error
			for _, r := range sides {
				done, err := replayed(r, stepwise)
				if first == nil {
					first = err
				}
				list = append(list, done)
			}
			return errors.Join(showList(c, "replays", list, func() [][]string { return replayRows(list, stepwise) }), first)
		},
	}
	dbFlag(c, &db)
	c.Flags().StringVar(&owner, "owner", "", "only the log of this agent: its URI, or its name under local (default: all)")
	c.Flags().BoolVar(&stepwise, "step", false, "entry by entry")
	return c
}

// replayed folds one side; the error is its *transcript.Divergence, if any.
func replayed(r side, stepwise bool) (replay, error) {
	out := replay{Owner: r.owner, ID: r.id, Entries: len(r.log)}
	if stepwise {
		for s, err := range transcript.Steps(r.log, r.exchanges) {
			if err != nil {
				break // Replay says it again
			}
			out.Steps = append(out.Steps, step{Index: s.Entry.Index, Kind: string(s.Entry.Kind), Event: string(s.Entry.Event), Peer: s.Entry.Peer,
				From: string(s.From), To: string(s.To), Digest: s.Digest.String()})
		}
	}
	done, err := transcript.Replay(r.log, r.exchanges)
	if d, ok := errors.AsType[*transcript.Divergence](err); ok {
		out.Divergence = &divergence{Index: d.Index, Peer: d.Peer, Event: string(d.Event), What: d.What, Recorded: d.Recorded, Folded: d.Folded}
		return out, fmt.Errorf("conversation %s at %s: %w", r.id, r.owner, err)
	}
	if err != nil {
		return out, fmt.Errorf("conversation %s at %s: %w", r.id, r.owner, err)
	}
	out.Terminal, out.Digest = string(done.Terminal), done.Digest.String()
	return out, nil
}

func replayRows(list []replay, stepwise bool) [][]string {
	if stepwise {
		rows := [][]string{{"OWNER", "INDEX", "KIND", "EVENT", "STATES", "PEER", "DIGEST", "DIVERGENCE"}}
		for _, r := range list {
			for _, s := range r.Steps {
				rows = append(rows, []string{r.Owner, strconv.FormatInt(s.Index, 10), s.Kind, s.Event, around(s.From, s.To), s.Peer, s.Digest})
			}
			if r.Divergence != nil {
				rows = append(rows, []string{r.Owner, "", "", "", "", "", "", r.Divergence.text()})
			}
		}
		return rows
	}
	rows := [][]string{{"OWNER", "ENTRIES", "TERMINAL", "DIGEST", "DIVERGENCE"}}
	for _, r := range list {
		rows = append(rows, []string{r.Owner, strconv.Itoa(r.Entries), r.Terminal, r.Digest, r.Divergence.text()})
	}
	return rows
}

// text is the divergence for people; of none it is empty.
func (d *divergence) text() string {
	if d == nil {
		return ""
	}
	return (&transcript.Divergence{Index: d.Index, Peer: d.Peer, Event: protocol.Event(d.Event), What: d.What, Recorded: d.Recorded, Folded: d.Folded}).Error()
}
