package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley"
)

// command is the tree of verbs.
func (p process) command() *cobra.Command {
	root := group("parley", "Look after a Parley installation")
	root.Long = root.Short + `.

-o json prints what the help of a verb says; -o jsonl prints the elements of a
list one a line, and anything else on one line.

` + exitHelp()
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.PersistentFlags().StringP("output", "o", formatTable, choices(formats()))
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if f := format(c); !slices.Contains(formats(), f) {
			return fmt.Errorf("output %q: want %s", f, choices(formats()))
		}
		if verb, ok := c.Context().Value(running{}).(*running); ok {
			verb.started = true
		}
		return nil
	}
	root.AddCommand(p.versionCommand(), p.doctorCommand(), p.repairCommand(), p.schemaCommand(), p.conversationCommand(),
		p.inboxCommand(), p.outboxCommand(), p.dlqCommand(), p.orderCommand(), p.backupCommand(), p.restoreCommand(),
		p.sendCommand(), p.peerCommand(), p.storeCommand(), p.benchCommand(), p.traceCommand(), p.protocolCommand(), simulation())
	sayArguments(root)
	return root
}

// sayArguments makes every verb say which arguments it takes when it is given
// others: cobra counts them and does not name them.
func sayArguments(c *cobra.Command) {
	for _, verb := range c.Commands() {
		sayArguments(verb)
	}
	fits := c.Args
	if fits == nil || c.HasSubCommands() {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		switch {
		case fits(c, args) == nil:
			return nil
		case len(args) == 0:
			return fmt.Errorf("no argument: want %s", c.UseLine())
		}
		return fmt.Errorf("arguments %s: want %s", strings.Trim(fmt.Sprintf("%q", args), "[]"), c.UseLine())
	}
}

// group is a command that only holds verbs; alone it shows its help.
func group(use, short string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("there is no %q in %q: see %s --help", args[0], c.CommandPath(), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(verbs...)
	return c
}

// dbFlag adds the flag that names the store.
func dbFlag(c *cobra.Command, path *string) {
	fallback := os.Getenv("PARLEY_DB")
	if fallback == "" {
		fallback = parley.DefaultDB
	}
	c.Flags().StringVar(path, "db", fallback, "the SQLite file of the store (environment: PARLEY_DB)")
}
