package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/transcript"
)

func conversationExport() *cobra.Command {
	var db, owner, file string
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write the trace of an ended conversation",
		Long: `Write the trace (version 2.0.0, JSON) of an ended conversation from the log of
the agent that opened it, as parley trace validate reads it. The log is replayed
first, and the trace judged last: what is written is valid. A participant's log
shows one exchange of what may have been many, and has no trace.

Contents are not in a trace, only their digests. A host may be running; nothing
is written to the store. The format of -o does not matter: a trace is JSON.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeConversation(&db, 1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			sides, err := readSides(c, db, owner, args[0])
			if err != nil {
				return err
			}
			r := initiators(sides)
			trace, err := transcript.Export(r.log, r.exchanges)
			if err != nil {
				return fmt.Errorf("export: %w", err)
			}
			if file == "" {
				return writeJSON(c.OutOrStdout(), trace)
			}
			var text bytes.Buffer
			if err := writeJSON(&text, trace); err != nil {
				return err
			}
			return os.WriteFile(file, text.Bytes(), 0o600)
		},
	}
	dbFlag(c, &db)
	c.Flags().StringVar(&owner, "owner", "", "the agent that opened it: its URI, or its name under local (default: found)")
	c.Flags().StringVarP(&file, "file", "f", "", "write the trace to this file (default: standard output)")
	return c
}
