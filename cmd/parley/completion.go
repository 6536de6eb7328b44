package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/store"
)

// completions is how many names a shell is offered.
const completions = 50

// completeFrom offers a shell what list finds in the store at *db, for the
// first few arguments. Without a store it offers nothing.
func completeFrom(db *string, arguments int, list func(context.Context, store.Store) ([]string, error)) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= arguments {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s, err := inspect(c.Context(), *db)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer s.Close()
		names, err := list(c.Context(), s)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var offered []string
		for _, name := range names {
			if strings.HasPrefix(name, begun) {
				offered = append(offered, name)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// complete offers a shell the words of a flag.
func complete(c *cobra.Command, flag string, words []string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the command has no such flag
	}
}

// described is a name with what a shell says beside it.
func described(name, what string) string { return printable(name) + "\t" + printable(what) }

// completeConversation offers the newest conversations.
func completeConversation(db *string, arguments int) cobra.CompletionFunc {
	return completeFrom(db, arguments, func(ctx context.Context, s store.Store) (names []string, err error) {
		found, err := s.Conversations(ctx, "", completions)
		seen := map[string]bool{}
		for _, f := range found {
			if !seen[f.ID] {
				seen[f.ID] = true
				names = append(names, described(f.ID, f.Protocol+", "+string(f.State)))
			}
		}
		return names, err
	})
}
