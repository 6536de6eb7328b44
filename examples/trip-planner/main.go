// Command trip-planner books a trip that was described in plain words: a
// planner, a flights and a hotels agent negotiate it under protocol. Each is a
// process of its own, and they speak A2A with each other.
//
//	go run ./examples/trip-planner "two of us from Helsinki to Lisbon on 12 March for 4 nights, under 900 euros"
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
	"github.com/parley-agents/parley/store"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == supplier.Command {
		os.Exit(exitCode(os.Stderr, supply(os.Args[2:])))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := command(os.Stdin, os.Stdout).ExecuteContext(ctx)
	if code := exitCode(os.Stderr, err); code != 0 {
		stop()
		os.Exit(code)
	}
}

// errFailed is a failure that was reported already.
var errFailed = errors.New("the trip was not booked")

// exitCode says what went wrong and maps it to the exit codes of the CLI.
func exitCode(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFailed):
		return 1
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "interrupted")
		return 130
	}
	fmt.Fprintln(stderr, "trip-planner:", err)
	if _, ok := errors.AsType[*usageError](err); ok {
		return 2
	}
	if errors.Is(err, store.ErrNotFound) {
		return 3
	}
	return 1
}

// usageError is a mistake in the arguments.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

func command(stdin io.Reader, stdout io.Writer) *cobra.Command {
	r := &run{stdin: stdin, stdout: stdout}
	c := &cobra.Command{
		Use:           "trip-planner SENTENCE",
		Short:         "Book a trip that is described in plain words",
		Example:       `  trip-planner "two of us from Helsinki to Lisbon on 12 March for 4 nights, under 900 euros" --yes`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, args []string) error { return r.run(c.Context(), args) },
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage("%v", err) })
	f := c.Flags()
	f.BoolVar(&r.yes, "yes", false, "book the best offer without asking")
	f.StringVar(&r.resume, "continue", "", "answer the question of an earlier conversation; the answer is the argument")
	f.StringVar(&r.faults, "faults", "", "accidents, separated by commas: restart-hotel, drop-reply, bad-json, injection")
	f.StringVar(&r.transcript, "transcript", "", "write every log entry to this file, a JSON object a line")
	f.StringVarP(&r.output, "output", "o", "text", "text or json")
	f.StringVar(&r.dir, "data", "", "where the agents keep their stores (default: a folder of the user's cache)")
	f.StringVar(&r.today, "today", "", "the traveller's day, as 2026-03-01 (default: today)")
	f.BoolVar(&r.verbose, "verbose", false, "log what the hosts do to standard error")
	return c
}
