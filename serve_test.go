package parley_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
)

// porter answers with a greeting.
func porter() *agent.Agent {
	return agent.New("porter", agent.Handle(greet, func(_ context.Context, n Name) (Greeting, error) {
		return Greeting{Text: agent.Text("Good evening, " + n.Name + ".")}, nil
	}))
}

// freeAddr is an address of this machine where nobody listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestAgentsOfTwoServersSpeakOverTheNetworkAtTheAddressesThatWereGiven(t *testing.T) {
	_, port, _ := net.SplitHostPort(freeAddr(t))
	addr := net.JoinHostPort("localhost", port) // which the card gives as a number
	t.Setenv("PARLEY_DB", filepath.Join(t.TempDir(), "visitor.db"))
	t.Setenv("PARLEY_PEERS", "porter=http://"+addr)
	visitor := agent.New("visitor")
	here, err := parley.Start(t.Context(), visitor)
	if err != nil {
		t.Fatal(err) // though nobody listens there yet
	}
	defer here.Stop(context.WithoutCancel(t.Context()))
	t.Setenv("PARLEY_DB", filepath.Join(t.TempDir(), "porter.db"))
	t.Setenv("PARLEY_PEERS", "")
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- parley.Serve(ctx, addr, porter()) }()
	g, err := agent.Ask(t.Context(), visitor, "porter", greet, Name{Name: "Ada"})
	if err != nil || g.Text != "Good evening, Ada." {
		t.Errorf("%q, %v", g.Text, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

func TestAnAddressThatOtherMachinesReachIsNotServedWithoutAuthentication(t *testing.T) {
	t.Setenv("PARLEY_DB", filepath.Join(t.TempDir(), "parley.db"))
	err := parley.Serve(t.Context(), "0.0.0.0:0", porter())
	if _, ok := errors.AsType[*a2a.ExposedError](err); !ok {
		t.Errorf("it ended with %v", err)
	}
}

func TestAListOfPeersThatCannotBeReadIsToldAtTheStart(t *testing.T) {
	t.Setenv("PARLEY_DB", filepath.Join(t.TempDir(), "parley.db"))
	for list, want := range map[string]string{"porter": "must be a name", "=http://x": "must be a name", "a=http://x,a=http://y": "twice", "Not A Name=http://x": "peer"} {
		t.Setenv("PARLEY_PEERS", list)
		if _, err := parley.Start(t.Context(), agent.New("visitor")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
}

func TestWhatDoesNotStartOrServeLeavesTheStoreToTheNextHost(t *testing.T) {
	t.Setenv("PARLEY_DB", filepath.Join(t.TempDir(), "parley.db"))
	t.Setenv("PARLEY_PEERS", "porter=ftp://porter.example")
	if _, err := parley.Start(t.Context(), agent.New("visitor")); err == nil || !strings.Contains(err.Error(), "ftp://porter.example") {
		t.Errorf("it started with %v", err)
	}
	t.Setenv("PARLEY_PEERS", "")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for range 2 { // the second one finds what the first one left
		err := parley.Serve(t.Context(), taken.Addr().String(), porter())
		if err == nil || !strings.Contains(err.Error(), taken.Addr().String()) || errors.Is(err, store.ErrInUse) {
			t.Errorf("it ended with %v, want an error that names the address", err)
		}
	}
}
