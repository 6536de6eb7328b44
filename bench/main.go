// Command bench measures Parley's store and host against their bounds and
// against other queues. It is a module of its own, so that whoever uses Parley
// never downloads what it is compared with.
//
//	go run . [-quick] [-dir folder] [-cpuprofile file] [name …]
//
// It measures all there is, or what is named, and exits with 1 if a gate does
// not hold. docs/benchmarks.md explains the gates.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"

	"github.com/parley-agents/parley/internal/measure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, os.Stdout, os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if !ok {
		stop()
		os.Exit(1)
	}
}

// run reads the arguments and measures. It reports whether every gate held.
func run(ctx context.Context, w io.Writer, args []string) (ok bool, err error) {
	c := measure.Config{Also: []measure.Benchmark{versusGoqite}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(w)
	quick := flags.Bool("quick", false, "measure less, for a first look")
	flags.StringVar(&c.Dir, "dir", "", "the folder to make the stores in (default: the temporary folder)")
	profile := flags.String("cpuprofile", "", "write a profile of the CPU to this file")
	flags.Usage = func() { usage(flags, c) }
	if err := flags.Parse(args); err != nil {
		return errors.Is(err, flag.ErrHelp), err
	}
	c.Scale = measure.Full()
	if *quick {
		c.Scale = measure.Quick()
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if err := pprof.StartCPUProfile(f); err != nil {
			return false, err
		}
		defer pprof.StopCPUProfile()
	}
	return c.Measure(ctx, w, flags.Args())
}

func usage(flags *flag.FlagSet, c measure.Config) {
	fmt.Fprintln(flags.Output(), "usage: bench [flags] [name …]\n\nThe benchmarks, all unless some are named:")
	for _, b := range c.Benchmarks() {
		fmt.Fprintf(flags.Output(), "  %-20s %s\n", b.Name, b.About)
	}
	fmt.Fprintln(flags.Output(), strings.TrimSpace("\nThe flags:"))
	flags.PrintDefaults()
}
