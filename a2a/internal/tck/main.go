package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const (
	figures = "docs/a2a-conformance.json"
	page    = "docs/a2a-conformance.md"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "tck:", err)
		}
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("tck", flag.ContinueOnError)
	kit := flags.String("kit", "", "the folder of the kit; none: only draw the tables again")
	python := flags.String("python", "python3", "the Python that has what the kit needs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *kit != "" {
		r, err := runKit(ctx, out, *kit, *python)
		if err != nil {
			return err
		}
		if err := r.write(figures); err != nil {
			return err
		}
	}
	r, err := read(figures)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	drawn, err := draw(string(old), r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(drawn), 0o644); err != nil {
		return err
	}
	return unexplained(r)
}
