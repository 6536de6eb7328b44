package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// conversation is one line of conversation ls.
type conversation struct {
	Owner    string   `json:"owner"`
	ID       string   `json:"id"`
	Protocol string   `json:"protocol"`
	Peers    []string `json:"peers"`
	State    string   `json:"state"` // live or ended
	OpenedAt string   `json:"opened_at"`
	EndedAt  string   `json:"ended_at,omitempty"`
	Messages int      `json:"messages"`
}

// log is what conversation show prints of one owner.
type log struct {
	Owner   string  `json:"owner"`
	ID      string  `json:"id"`
	Entries []entry `json:"entries"`
}

type entry struct {
	Index     int64           `json:"index"`
	At        string          `json:"at"`
	Kind      string          `json:"kind"`
	Event     string          `json:"event"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Peer      string          `json:"peer"`
	MessageID string          `json:"message_id,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Note      json.RawMessage `json:"note,omitempty"`
	Envelope  json.RawMessage `json:"envelope,omitempty"`
}

func (p process) conversationCommand() *cobra.Command {
	return group("conversation", "Look at the conversations in a store, and cancel one", conversationLs(), conversationShow(),
		conversationWatch(), p.conversationCancel(), conversationReplay(), conversationExport(), conversationDiff())
}

func conversationLs() *cobra.Command {
	var db, owner string
	var limit int
	c := &cobra.Command{
		Use:   "ls",
		Short: "List conversations, the newest first",
		Long: `List conversations, the one that was opened last first. A host may be running;
nothing is written. A conversation between two agents of one store is listed
once for each.

-o json prints {"conversations": [{"owner", "id", "protocol", "peers", "state",
"opened_at", "ended_at", "messages"}]}. The state is live or ended; a live one
has no ended_at. Times are RFC 3339.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			uri, err := ownerURI(owner)
			if err != nil {
				return err
			}
			if limit < 1 {
				return &usageError{fmt.Errorf("limit %d: want at least 1", limit)}
			}
			s, err := inspect(c.Context(), db)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			found, err := s.Conversations(c.Context(), uri, limit)
			if err != nil {
				return err
			}
			var list []conversation
			for _, f := range found {
				list = append(list, conversation{
					Owner: f.Owner, ID: f.ID, Protocol: f.Protocol, Peers: f.Peers, State: string(f.State),
					OpenedAt: moment(f.OpenedAt), EndedAt: moment(f.EndedAt), Messages: f.Messages,
				})
			}
			return showList(c, "conversations", list, func() [][]string { return conversationRows(list) })
		},
	}
	dbFlag(c, &db)
	c.Flags().StringVar(&owner, "owner", "", "only those of this agent: its URI, or its name under local (default: all)")
	c.Flags().IntVar(&limit, "limit", 20, "at most so many")
	return c
}

func conversationRows(list []conversation) [][]string {
	rows := [][]string{{"OWNER", "ID", "PROTOCOL", "PEERS", "STATE", "OPENED", "ENDED", "MESSAGES"}}
	for _, l := range list {
		rows = append(rows, []string{l.Owner, l.ID, l.Protocol, strings.Join(l.Peers, ","), l.State,
			l.OpenedAt, l.EndedAt, strconv.Itoa(l.Messages)})
	}
	return rows
}

func conversationShow() *cobra.Command {
	var db, owner string
	var envelopes bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Print the log of a conversation",
		Long: `Print the log of a conversation, as each of its agents in the store has it. A
host may be running; nothing is written.

-o json prints {"logs": [{"owner", "id", "entries": [{"index", "at", "kind",
"event", "from", "to", "peer", "message_id", "reason", "note", "envelope"}]}]}. The
kind is sent, received, rejected or fired; bound, reduced and concluded are
about the conversation as a whole and have a note, as has absent, that a peer was
told that its message had never come, and noted, what a peer that speaks another
protocol said while nothing was asked. Events and states are those of the
transition tables: !act is sent, ?act received, #timer fires. A timer has no
message_id, only a rejected message has a reason. An envelope has no content if
its labels have a privacy tag other than public and internal.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeConversation(&db, 1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			sides, err := readSides(c, db, owner, args[0])
			if err != nil {
				return err
			}
			var logs []log
			for _, s := range sides {
				l := log{Owner: s.owner, ID: s.id, Entries: []entry{}}
				for _, e := range s.log {
					l.Entries = append(l.Entries, printed(e, envelopes))
				}
				logs = append(logs, l)
			}
			return showList(c, "logs", logs, func() [][]string { return logRows(logs, envelopes) })
		},
	}
	dbFlag(c, &db)
	c.Flags().StringVar(&owner, "owner", "", "only the log of this agent: its URI, or its name under local (default: all)")
	c.Flags().BoolVar(&envelopes, "envelopes", false, "with the messages themselves, which hold what agents said")
	return c
}

func printed(e store.Entry, envelopes bool) entry {
	out := entry{Index: e.Index, At: moment(e.At), Kind: string(e.Kind), Event: string(e.Event), From: string(e.From),
		To: string(e.To), Peer: e.Peer, MessageID: e.MessageID, Reason: e.Reason, Note: e.Note}
	if envelopes {
		out.Envelope = permitted(e.Envelope)
	}
	return out
}

func logRows(logs []log, envelopes bool) [][]string {
	heading := []string{"OWNER", "INDEX", "TIME", "KIND", "EVENT", "STATES", "PEER", "MESSAGE", "REASON OR NOTE"}
	if envelopes {
		heading = append(heading, "ENVELOPE")
	}
	rows := [][]string{heading}
	for _, l := range logs {
		for _, e := range l.Entries {
			rows = append(rows, []string{l.Owner, strconv.FormatInt(e.Index, 10), e.At, e.Kind, e.Event,
				around(e.From, e.To), e.Peer, e.MessageID, e.Reason + string(e.Note), string(e.Envelope)})
		}
	}
	return rows
}

// around are the states around an entry; one of the conversation as a whole has none.
func around(from, to string) string {
	if to == "" {
		return ""
	}
	return from + "→" + to
}

// ownerURI reads the name of an agent; a bare one is of the authority local.
func ownerURI(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if !strings.Contains(name, "://") {
		name = envelope.URI{Authority: "local", Name: name}.String()
	}
	if _, err := envelope.ParseURI(name); err != nil {
		return "", &usageError{err}
	}
	return name, nil
}
