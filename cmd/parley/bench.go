package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/internal/measure"
)

// errSlow is what bench ends with when a gate did not hold.
var errSlow = errors.New("a gate did not hold")

func (p process) benchCommand() *cobra.Command {
	var config measure.Config
	var quick bool
	var names []string
	var about strings.Builder
	for _, b := range config.Benchmarks() {
		names = append(names, b.Name)
		fmt.Fprintf(&about, "\n  %-20s %s", b.Name, b.About)
	}
	c := &cobra.Command{
		Use:   "bench [NAME...]",
		Short: "Measure the store and the host on this machine",
		Long: `Measure the store and the host on this machine, in stores of their own that are
removed again, and hold what is found to bounds. It takes minutes; --quick
measures less. What is printed is text in every format of -o; a line of a gate is
GATE name value bound PASS or FAIL. The exit code is 1 if a gate did not hold.

All is measured, or what is named:` + about.String(),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range args {
				if !slices.Contains(names, name) {
					return &usageError{fmt.Errorf("there is no benchmark %q: want %s", name, choices(names))}
				}
			}
			config.Scale = measure.Full()
			if quick {
				config.Scale = measure.Quick()
			}
			held, err := config.Measure(c.Context(), c.OutOrStdout(), args)
			if err == nil && !held {
				err = errSlow
			}
			return err
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "measure less, for a first look")
	c.Flags().StringVar(&config.Dir, "dir", "", "the folder to make the stores in: its disk is measured (default: the temporary folder)")
	return c
}
