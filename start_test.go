package parley_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

type Name struct {
	Name string `json:"name"`
}

type Greeting struct {
	Text agent.Text `json:"text"`
}

var greet = protocol.Query[Name, Greeting]("acme.greet/v1")

func ExampleStart() {
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Setenv("PARLEY_DB", filepath.Join(dir, "parley.db"))
	ctx := context.Background()
	visitor := agent.New("visitor")
	host, err := parley.Start(ctx, visitor, agent.New("porter", agent.Handle(greet, func(_ context.Context, n Name) (Greeting, error) {
		return Greeting{Text: agent.Text("Good evening, " + n.Name + ".")}, nil
	})))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer host.Stop(ctx)
	g, err := agent.Ask(ctx, visitor, "porter", greet, Name{Name: "Ada"})
	fmt.Println(g.Text, err)
	// Output: Good evening, Ada. <nil>
}

func TestASecondHostOnTheSameFileIsRefused(t *testing.T) {
	t.Setenv("PARLEY_DB", filepath.Join(t.TempDir(), "parley.db"))
	host, err := parley.Start(t.Context(), agent.New("one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parley.Start(t.Context(), agent.New("two")); !errors.Is(err, store.ErrInUse) {
		t.Errorf("the second start gave %v, want store.ErrInUse", err)
	}
	if err := host.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := parley.Start(t.Context(), agent.New("two"))
	if err != nil {
		t.Fatalf("after the first host stopped: %v", err)
	}
	if err := again.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
