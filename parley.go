// Package parley runs LLM agents whose conversations are enforced by a
// protocol. It is the one place where defaults meet: the packages beside it
// are usable on their own.
//
// A model never writes to the wire. It picks one of the moves that the
// conversation allows now; the runtime checks the move, mends it if it can,
// asks again if it must, seals it into an envelope, commits it and delivers
// it. What a peer says is data, never an order.
package parley

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/sqlite"
)

// DefaultDB is the file that Start keeps everything in when the environment
// variable PARLEY_DB names no other.
const DefaultDB = "parley.db"

// Start runs the agents on one host of this process, with its store in the
// SQLite file that PARLEY_DB names, else in DefaultDB. The agents reach each
// other by name, and those of other processes over A2A at the addresses that
// agent.Peer and the environment variable PARLEY_PEERS give:
// "hotels=https://hotels.example/desk,flights=http://localhost:8081". It returns
// when the host is ready, whether or not the others are; ctx bounds the start
// alone. Stop the host with Host.Stop. A second host on the same file is refused
// with store.ErrInUse.
func Start(ctx context.Context, agents ...*agent.Agent) (*agent.Host, error) {
	peers, err := peersOf(os.Getenv("PARLEY_PEERS"))
	if err != nil {
		return nil, fmt.Errorf("starting parley: %w", err)
	}
	path := os.Getenv("PARLEY_DB")
	if path == "" {
		path = DefaultDB
	}
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("starting parley: %w", err)
	}
	h := agent.NewHost(agent.Config{Store: s, Peers: peers, Dial: a2a.Dialer(a2a.DialConfig{})}, agents...)
	if err := h.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return h, nil
}

// Serve starts the agents as Start does and serves them over A2A at the TCP
// address, such as "localhost:8080": the first one at the root, each one under
// its name. It returns when ctx has ended and everything has been stopped in
// order, which gives nil, or with the error that ended it before. Callers of this
// machine need not say who they are, so an address that other machines reach is
// refused; serve them with a2a.NewServer, which knows how callers prove who they
// are.
func Serve(ctx context.Context, addr string, agents ...*agent.Agent) error {
	h, err := Start(ctx, agents...)
	if err != nil {
		return err
	}
	s, err := a2a.NewServer(h, a2a.Config{})
	if err == nil {
		err = s.ListenAndServe(ctx, addr)
	}
	return errors.Join(err, h.Stop(context.WithoutCancel(ctx)))
}

// peersOf reads the addresses of peers: name=url, separated by commas.
func peersOf(list string) (map[string]string, error) {
	peers := map[string]string{}
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		name, url, ok := strings.Cut(entry, "=")
		if name, url = strings.TrimSpace(name), strings.TrimSpace(url); !ok || name == "" || url == "" {
			return nil, fmt.Errorf("PARLEY_PEERS: %q must be a name, = and a URL", entry)
		}
		if peers[name] != "" {
			return nil, fmt.Errorf("PARLEY_PEERS: %s is given twice", name)
		}
		peers[name] = url
	}
	return peers, nil
}
