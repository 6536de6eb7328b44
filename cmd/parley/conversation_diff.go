package main

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/transcript"
)

// difference is one line that only one of two conversations has.
type difference struct {
	Peer   string `json:"peer,omitempty"`
	Index  int64  `json:"index"`
	Mine   string `json:"mine,omitempty"`
	Theirs string `json:"theirs,omitempty"`
}

// errDiffers is what diff ends with when it has found something.
var errDiffers = errors.New("the conversations differ")

func conversationDiff() *cobra.Command {
	var db, other, owner string
	c := &cobra.Command{
		Use:   "diff ID OTHER",
		Short: "Compare what was said in two conversations",
		Long: `Compare two conversations, such as two runs of the same thing: which acts, which
contents, which outcomes. Ids, times, salts and digests do not count. The logs
compared are those of the agent that opened each, unless --owner names another.
The other conversation may be in another store. A host may be running; nothing
is written. The exit code is 0 if they say the same and 1 if not.

-o json prints {"differences": [{"peer", "index", "mine", "theirs"}]}, by
exchange; an entry without a peer is about the conversation as a whole.`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: completeConversation(&db, 2),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if other == "" {
				other = db
			}
			mine, err := readSides(c, db, owner, args[0])
			if err != nil {
				return err
			}
			theirs, err := readSides(c, other, owner, args[1])
			if err != nil {
				return err
			}
			found, err := transcript.Diff(initiators(mine).log, initiators(theirs).log)
			if err != nil {
				return err
			}
			var list []difference
			for _, d := range found {
				list = append(list, difference{d.Peer, d.Index, d.Mine, d.Theirs})
			}
			err = showList(c, "differences", list, func() [][]string { return differenceRows(list) })
			if err == nil && len(found) > 0 {
				err = errDiffers
			}
			return err
		},
	}
	dbFlag(c, &db)
	c.Flags().StringVar(&other, "with", "", "the store of the other conversation (default: the same)")
	c.Flags().StringVar(&owner, "owner", "", "whose logs: a URI, or a name under local (default: whoever opened each)")
	return c
}

func differenceRows(list []difference) [][]string {
	rows := [][]string{{"PEER", "INDEX", "", "WHAT"}}
	for _, d := range list {
		sign, what := "-", d.Mine
		if d.Mine == "" {
			sign, what = "+", d.Theirs
		}
		rows = append(rows, []string{d.Peer, strconv.FormatInt(d.Index, 10), sign, what})
	}
	return rows
}
