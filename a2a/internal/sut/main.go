// Command sut is the agent that the official compatibility kit of A2A is run
// against (a2a/internal/tck does it): an agent of Parley whose behaviour follows
// from the id of the message, as the kit's scenarios want it. It is built on what
// every user of Parley has.
//
//	go run ./a2a/internal/sut [-addr host:port] [-db file] [-offers all|least|strict] [-ids fresh|kept]
//
// It prints "listening on URL" when it does, and ends at an interrupt.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "sut:", err)
		}
		stop()
		os.Exit(1)
	}
}

// run serves the agent until ctx ends.
func run(ctx context.Context, out io.Writer, args []string) (err error) {
	flags := flag.NewFlagSet("sut", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:9999", "where it listens")
	file := flags.String("db", "", "the file of its store; none: one that goes when it ends")
	offers := flags.String("offers", "all", "what the agent offers beside the core: all, least, or the least to whoever knows an extension: strict")
	ids := flags.String("ids", "fresh", "the ids of messages: fresh ones for the kit's, or kept as they come")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !slices.Contains([]string{"all", "least", "strict"}, *offers) || *ids != "fresh" && *ids != "kept" {
		return errors.New("-offers is all, least or strict, and -ids is fresh or kept")
	}
	if *file == "" {
		dir, err := os.MkdirTemp("", "parley-sut")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		*file = filepath.Join(dir, "sut.db")
	}
	db, err := sqlite.Open(ctx, *file)
	if err != nil {
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	host := agent.NewHost(agent.Config{Store: db, Log: quiet, Drain: -1}, underTest())
	if err := host.Start(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	defer func() { err = errors.Join(err, host.Stop(context.WithoutCancel(ctx))) }()
	ln, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	cfg := a2a.Config{BaseURL: "http://" + ln.Addr().String(), Read: read, Show: show, Direct: direct, Log: quiet}
	if *offers == "all" {
		cfg.AllowPrivateWebhooks, cfg.ExtendedCard = true, extended
	} else {
		cfg.NoStreams, cfg.NoPush = true, true
	}
	if *offers == "strict" {
		cfg.Extensions = []wire.AgentExtension{{URI: required, Required: true}}
	}
	server, err := a2a.NewServer(host, cfg)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer server.Close()
	handler := server.Handler()
	if *ids == "fresh" {
		handler = &door{inside: handler}
	}
	fmt.Fprintln(out, "listening on", cfg.BaseURL)
	return serve(ctx, ln, handler)
}

// required is an extension that the kit looks for and does not activate.
const required = "urn:a2a:tck:required-extension"

// serve serves until ctx ends.
func serve(ctx context.Context, ln net.Listener, handler http.Handler) error {
	web := &http.Server{Handler: handler}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		err := web.Close()
		<-ended
		return err
	}
}

// extended is the card for callers who are known; all are, here.
func extended(_ context.Context, _, _ string, public *wire.AgentCard) (*wire.AgentCard, error) {
	public.Description += " It says more to those it knows."
	return public, nil
}
