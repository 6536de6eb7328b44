package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/store/sqlite"
)

func (p process) storeCommand() *cobra.Command {
	return group("store", "Check a store, and make its file smaller", storeCheck(), storeCompact())
}

// checkedStore is what store check prints.
type checkedStore struct {
	Store    string        `json:"store"`
	Sound    bool          `json:"sound"`
	Logs     int           `json:"logs"`
	Entries  int           `json:"entries"`
	Findings []brokenPlace `json:"findings"`
}

type brokenPlace struct {
	Code  string `json:"code"`
	Where string `json:"where"`
	What  string `json:"what"`
}

func storeCheck() *cobra.Command {
	var db string
	c := &cobra.Command{
		Use:   "check",
		Short: "Read a whole store and say what does not hold together",
		Long: `Read a whole store, or a backup of one, and say what does not hold together. A
host may be running; nothing is written, but while it reads, the host's
write-ahead log grows. The exit code is 8 if something was found.

-o json prints {"store", "sound", "logs", "entries", "findings": [{"code",
"where", "what"}]}. The codes:
  pages                   SQLite's own structures
  reference               a row refers to one that is not there
  chain                   a log has a gap, or an entry was changed
  body                    a message is not what its digest says
  exchange-without-log    an exchange has no log
  message-without-entry   a message of the outbox is not in the log
  timer-of-ended          an exchange that has ended has a timer
  line                    a message waits for none, or passes one by
  blob-without-referrer   a content belongs to nothing`,
		Example:           "  parley store check --db backup.db",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := os.Stat(db); err != nil {
				return fmt.Errorf("check store: %w", err)
			}
			report, err := sqlite.Check(c.Context(), db)
			if err != nil {
				return err
			}
			out := checkedStore{Store: db, Sound: len(report.Findings) == 0, Logs: report.Logs, Entries: report.Entries, Findings: []brokenPlace{}}
			for _, f := range report.Findings {
				out.Findings = append(out.Findings, brokenPlace{string(f.Code), f.Where, f.What})
			}
			err = show(c, out, func() [][]string {
				if out.Sound {
					return [][]string{{"sound: " + count(out.Entries, "entry", "entries") + " in " + count(out.Logs, "log", "logs")}}
				}
				rows := [][]string{{"CODE", "WHERE", "WHAT"}}
				for _, f := range out.Findings {
					rows = append(rows, []string{f.Code, f.Where, f.What})
				}
				return rows
			})
			if err == nil && !out.Sound {
				err = &sqlite.DamagedError{Path: db, Report: report}
			}
			return err
		},
	}
	dbFlag(c, &db)
	return c
}

// compacted is what store compact prints.
type compacted struct {
	Store string `json:"store"`
	Freed int64  `json:"freed_bytes"`
}

func storeCompact() *cobra.Command {
	var db string
	c := &cobra.Command{
		Use:   "compact",
		Short: "Make the file of a store as small as what is in it",
		Long: `Write the file of a store anew, as small as what is in it. No host may be running,
and the disk needs room for the store once more while it goes on. Nothing is
forgotten: that is what hosts do with what nobody needs any more.

-o json prints {"store", "freed_bytes"}.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := os.Stat(db); err != nil {
				return fmt.Errorf("compact store: %w", err)
			}
			freed, err := sqlite.Compact(c.Context(), db)
			if err != nil {
				return err
			}
			return show(c, compacted{db, freed}, func() [][]string {
				return [][]string{{"STORE", "FREED BYTES"}, {db, strconv.FormatInt(freed, 10)}}
			})
		},
	}
	dbFlag(c, &db)
	return c
}
