package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/guard/schema"
)

func Example() {
	dir, err := os.MkdirTemp("", "market-watch")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Setenv("PARLEY_DB", filepath.Join(dir, "parley.db"))
	os.Unsetenv("OPENAI_BASE_URL")
	os.Unsetenv("OPENAI_API_KEY")
	main()
	// Output:
	// subscribing to NOK
	//  1  NOK 10.00
	//  2  NOK 10.04
	//  3  NOK 10.01
	//  4  NOK 9.48
	//     -5.3 %: news. NOK loses its largest customer.
	//  5  NOK 9.51
	//  6  NOK 9.05
	//     -4.8 %: noise. Nothing was written about it.
	//  7  NOK 9.03
	//  8  NOK 8.90
	//     below 9.00: enough
	// the watcher cancels
	// the market confirms that it has stopped
	// the conversation ended CANCELLED
}

func TestAWatchReadsAsWrittenDown(t *testing.T) {
	for range 2 { // from run to run nothing differs
		synctest.Test(t, func(t *testing.T) {
			watcher := agent.New("watcher")
			model := agenttest.NewScript(
				agenttest.Calls(agenttest.Call("headlines", Move{"NOK", 4, 1001, 948})),
				agenttest.Calls(agenttest.Call("inform", Opinion{Cause: "news", Notes: "A customer has left."})),
				agenttest.Calls(agenttest.Call("inform", Opinion{Cause: "noise"})))
			hosts := agenttest.Hosts(t, watcher, market(time.Second), analyst(model))
			conversation, err := follow(t.Context(), io.Discard, watcher, Paper{"NOK"}, 900)
			if err != nil {
				t.Fatal(err)
			}
			if err := conclude(t.Context(), io.Discard, hosts[0], watcher, conversation); err != nil {
				t.Fatal(err)
			}
			agenttest.Golden(t, filepath.Join("testdata", "watch.golden"), conversation, hosts...)
			agenttest.GoldenTrace(t, filepath.Join("testdata", "watch.trace.golden"), conversation, hosts[0])
			opened, err := hosts[0].Store().Conversations(t.Context(), watcher.URI(), 10)
			if err != nil || len(opened) != 3 {
				t.Fatalf("the watcher opened %v, %v; want the subscription and two questions", opened, err)
			}
			agenttest.Golden(t, filepath.Join("testdata", "explain.golden"), opened[1].ID, hosts...)
		})
	}
}

func TestAWatcherThatStaysSeesTheMarketClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watcher := agent.New("watcher")
		noise := agenttest.Calls(agenttest.Call("inform", Opinion{Cause: "noise"}))
		hosts := agenttest.Hosts(t, watcher, market(time.Minute), analyst(agenttest.NewScript(noise, noise)))
		var out bytes.Buffer
		conversation, err := follow(t.Context(), &out, watcher, Paper{"NOK"}, 1)
		if err == nil {
			err = conclude(t.Context(), &out, hosts[0], watcher, conversation)
		}
		if err != nil || !strings.HasSuffix(out.String(), "12  NOK 9.08\nthe conversation ended COMPLETED\n") {
			t.Errorf("%v after\n%s", err, out.String())
		}
	})
}

func TestAPriceOfNothingIsNotPublished(t *testing.T) {
	var refused error
	watcher := agent.New("watcher")
	broken := agent.New("market", agent.Publish(Quotes, func(_ context.Context, p Paper, emit func(Quote) error) error {
		refused = emit(Quote{Number: 1, Symbol: p.Symbol})
		return emit(Quote{Number: 1, Symbol: p.Symbol, Cents: 1000})
	}))
	agenttest.Host(t, watcher, broken)
	var out bytes.Buffer
	if _, err := follow(t.Context(), &out, watcher, Paper{"NOK"}, 1); err != nil || out.String() != " 1  NOK 10.00\n" {
		t.Errorf("%v after %q", err, out.String())
	}
	if invalid, ok := errors.AsType[*schema.Invalid](refused); !ok || invalid.Violations[0].Pointer != "/cents" {
		t.Errorf("telling it gave %v, want the pointer /cents", refused)
	}
}
