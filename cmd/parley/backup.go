package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/store/sqlite"
)

// backedUp is what backup prints.
type backedUp struct {
	Store  string `json:"store"`
	Backup string `json:"backup"`
	Bytes  int64  `json:"bytes"`
}

func (p process) backupCommand() *cobra.Command {
	var db string
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy a store into one file, also while a host runs",
		Long: `Copy a store into a new file: the store as it is at one moment, compact and
durable. A host may be running and does not wait. Only you may read the file: it
holds the keys of the agents. Never copy the files of a store by hand while a
host runs, for what is committed stands in two of them.

-o json prints {"store", "backup", "bytes"}.`,
		Example: "  parley backup parley-monday.db && parley store check --db parley-monday.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := os.Stat(db); err != nil {
				return fmt.Errorf("back up store: %w", err)
			}
			if err := sqlite.Backup(c.Context(), db, args[0]); err != nil {
				return err
			}
			info, err := os.Stat(args[0])
			if err != nil {
				return err
			}
			out := backedUp{db, args[0], info.Size()}
			return show(c, out, func() [][]string {
				return [][]string{{"STORE", "BACKUP", "BYTES"}, {out.Store, out.Backup, strconv.FormatInt(out.Bytes, 10)}}
			})
		},
	}
	dbFlag(c, &db)
	return c
}

// restored is what restore prints.
type restored struct {
	Store      string `json:"store"`
	Backup     string `json:"backup"`
	Generation int64  `json:"generation"`
}

func (p process) restoreCommand() *cobra.Command {
	var db string
	c := &cobra.Command{
		Use:   "restore BACKUP",
		Short: "Make a store from a backup",
		Long: `Make the store that --db names from a backup, which is checked whole first and
not changed. There must be no store yet, nor what a host left of one: move them
away, so that nothing is lost by mistake. A backup may be of an older version.

Restore only a store that is lost. The restored one is another body of its
agents, with a generation of its own: peers refuse what it says in exchanges
from before the backup, since what the old body said later is not known here,
and those end by their deadlines. Keys of effects that had ended still stand.

-o json prints {"store", "backup", "generation"}, 0 if no host ever used it. The
exit code is 8 if the backup is damaged.`,
		Example: "  parley restore --db parley.db parley-monday.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); err != nil {
				return fmt.Errorf("restore store: %w", err)
			}
			meta, err := sqlite.Restore(c.Context(), args[0], db, p.now())
			if err != nil {
				return err
			}
			out := restored{db, args[0], meta.Generation}
			return show(c, out, func() [][]string {
				return [][]string{{"STORE", "BACKUP", "GENERATION"}, {out.Store, out.Backup, strconv.FormatInt(out.Generation, 10)}}
			})
		},
	}
	dbFlag(c, &db)
	return c
}
