package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// The verdicts of a check.
const (
	statusOK   = "ok"
	statusWarn = "warn"
	statusFail = "fail"
)

// finding is the result of one check.
type finding struct {
	Code   string `json:"code"` // stable
	Status string `json:"status"`
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"` // what to do about it
}

// errUnwell ends a doctor that found something wrong and has said so.
var errUnwell = errors.New("a check failed")

// modelTimeout bounds the one call of --model.
const modelTimeout = 30 * time.Second

func (p process) doctorCommand() *cobra.Command {
	var db string
	var model, deep bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the store, what waits in it, the clock and the model's settings",
		Long: `Check the store, what waits in it, the clock and the model's settings. A host
may be running. The folder of the store gets a small file for a moment; the
store itself is only read. Nothing goes over the network without --model.

Each line is ok, warn or fail, with a code that stays the same and a hint. One
fail makes the exit code 1.

-o json prints {"findings": [{"code", "status", "text", "hint"}]}. The codes:
  store.file         the file is there and opens
  store.schema       this program knows its schema
  store.journal      the file has a write-ahead log
  store.durable      a store in this folder is durable (synchronous=FULL)
  store.permissions  others cannot read it: it holds the agents' keys
  store.wal          the write-ahead log is not longer than 64 MiB
  store.filesystem   it lies on a local file system that has 100 MiB left
  store.integrity    everything in it holds together (--deep)
  work.dead-letters  nothing was given up
  work.overdue       no timer is a minute late
  work.commands      no command of an operator waits for longer than a minute
  work.outbox        no message is a minute late or under way for ten
  work.webhooks      no webhook of a client failed five times in a row
  clock              the clock is not behind the store's
  model.settings     an endpoint is configured, or the model is rehearsed
  model.answer       the endpoint answers (--model)`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list := p.examine(c.Context(), db, model, deep)
			if err := c.Context().Err(); err != nil {
				return err
			}
			err := showList(c, "findings", list, func() [][]string {
				rows := [][]string{{"STATUS", "CODE", "WHAT", "HINT"}}
				for _, f := range list {
					rows = append(rows, []string{f.Status, f.Code, f.Text, f.Hint})
				}
				return rows
			})
			for _, f := range list {
				if err == nil && f.Status == statusFail {
					err = fmt.Errorf("%w: %s", errUnwell, f.Code)
				}
			}
			return err
		},
	}
	dbFlag(c, &db)
	c.Flags().BoolVar(&deep, "deep", false, "read the whole store and see that it holds together")
	c.Flags().BoolVar(&model, "model", false, "make one small call to the model's endpoint")
	return c
}

// examine makes every check, in the order of their codes in the help.
func (p process) examine(ctx context.Context, db string, call, deep bool) []finding {
	list := p.examineStore(ctx, db)
	list = append(list, p.examineFilesystem(db))
	if deep {
		list = append(list, integrity(ctx, db))
	}
	list = append(list, p.examineWork(ctx, db)...)
	list = append(list, p.examineClock(db))
	list = append(list, modelSettings())
	if call {
		ctx, cancel := context.WithTimeout(ctx, modelTimeout)
		defer cancel()
		list = append(list, modelAnswer(ctx))
	}
	return list
}
