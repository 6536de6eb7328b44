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

	"github.com/parley-agents/parley/internal/measure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if kind := os.Getenv(serveKind); kind != "" {
		if err := serve(context.WithoutCancel(ctx), kind, os.Getenv(serveFolder), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	ok, err := run(ctx, os.Stdout, os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if !ok {
		stop()
		os.Exit(1)
	}
}

// plan is what the arguments ask for.
type plan struct {
	config  measure.Config
	names   []string
	profile string
}

// run reads the arguments and measures. It reports whether every gate held.
func run(ctx context.Context, w io.Writer, args []string) (ok bool, err error) {
	p, err := read(w, args)
	if err != nil {
		return errors.Is(err, flag.ErrHelp), err
	}
	return p.run(ctx, w)
}

// read reads the arguments. What is wrong with them, or the help that they ask
// for, is printed to w.
func read(w io.Writer, args []string) (p plan, err error) {
	p.config.Also = []measure.Benchmark{versusGoqite, sends, streams, cards}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(w)
	quick := flags.Bool("quick", false, "measure less, for a first look")
	flags.StringVar(&p.config.Dir, "dir", "", "the folder to make the stores in (default: the temporary folder)")
	flags.StringVar(&p.profile, "cpuprofile", "", "write a profile of the processor to this file, and those of servers beside it")
	flags.Usage = func() { usage(flags, p.config) }
	if err := flags.Parse(args); err != nil {
		return p, err
	}
	p.config.Scale = measure.Full()
	if *quick {
		p.config.Scale = measure.Quick()
	}
	p.names = flags.Args()
	return p, nil
}

func usage(flags *flag.FlagSet, c measure.Config) {
	w := flags.Output()
	fmt.Fprint(w, "usage: bench [flags] [name …]\n\nThe benchmarks, all unless some are named:\n")
	for _, b := range c.Benchmarks() {
		fmt.Fprintf(w, "  %-20s %s\n", b.Name, b.About)
	}
	fmt.Fprint(w, "\nThe flags:\n")
	flags.PrintDefaults()
}

func (p plan) run(ctx context.Context, w io.Writer) (ok bool, err error) {
	if p.profile != "" {
		f, err := os.Create(p.profile)
		if err != nil {
			return false, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return false, err
		}
		defer pprof.StopCPUProfile()
		if err := os.Setenv(serveProfile, p.profile); err != nil {
			return false, err
		}
	}
	return p.config.Measure(ctx, w, p.names)
}
