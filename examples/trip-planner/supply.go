package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
)

// supply is the main function of a supplier's process. Its parent gives it the
// listener that outlives it, and closes its standard input when it is to end, or
// by dying.
func supply(args []string) error {
	p, err := supplier.ParsePart(args)
	if err != nil {
		return usage("%v", err)
	}
	file := os.NewFile(3, "listener") // the first one beside the standard ones
	ln, err := net.FileListener(file)
	if err != nil {
		return usage("supplier %s: only a trip planner can start it: %v", p.Name, err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("supplier %s: %w", p.Name, err)
	}
	if supplier.Run(context.Background(), p, ln, os.Stdin, os.Stdout, logger(p.Verbose).With("host", p.Name)) != nil {
		return errFailed // the parent was told
	}
	return nil
}
