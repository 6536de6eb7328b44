package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/sqlite"
)

// cost is what one participant of a conversation costs.
type cost struct{ nanos, allocs, bytes float64 }

// maxGrowth is how much more a participant among a thousand may cost than one
// among ten.
const maxGrowth = 1.5

// What a participant costs must not depend on how many there are. Each line
// compares 1,000 participants with 10, as the median of rounds in which both
// sizes run one after the other.
func BenchmarkParticipants(b *testing.B) {
	for _, c := range []struct {
		name string
		hold func(ctx context.Context, from *agent.Agent, members []string) error
	}{
		{"contract-net", func(ctx context.Context, from *agent.Agent, members []string) error {
			_, err := agent.CallForProposals(ctx, from, members, haul, piano, agent.AuctionTerms[Job, Price]{Pick: cheapest}, agent.Within(5*time.Minute))
			return err
		}},
		{"gather", func(ctx context.Context, from *agent.Agent, members []string) error {
			_, err := agent.Gather(ctx, from, members, opinion, piano, agent.GatherTerms{}, agent.Within(5*time.Minute))
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var time, allocs, stored []float64
			for b.Loop() {
				few, many := hold(b, 10, 10, c.hold), hold(b, 1000, 1, c.hold)
				time = append(time, many.nanos/few.nanos)
				allocs = append(allocs, many.allocs/few.allocs)
				stored = append(stored, many.bytes/few.bytes)
			}
			b.ReportMetric(0, "ns/op")
			gate(b, c.name+"-time", time)
			gate(b, c.name+"-allocations", allocs)
			gate(b, c.name+"-stored-bytes", stored)
		})
	}
}

// gate prints whether the median of a ratio is within its bound.
func gate(b *testing.B, name string, ratios []float64) {
	slices.Sort(ratios)
	median := ratios[len(ratios)/2]
	verdict := "PASS"
	if median > maxGrowth {
		verdict = "FAIL"
	}
	b.ReportMetric(median, name+"-ratio")
	fmt.Printf("GATE %s-per-participant-1000-to-10 %.2f %.2f %s\n", name, median, maxGrowth, verdict)
}

// hold measures conversations with so many members, each a durable agent.
func hold(b *testing.B, members, times int, f func(context.Context, *agent.Agent, []string) error) cost {
	dir := b.TempDir()
	ctx := context.Background()
	names := make([]string, members)
	agents := make([]*agent.Agent, members)
	for i := range names {
		names[i] = fmt.Sprintf("member-%04d", i)
		agents[i] = agent.New(names[i],
			agent.Bid(haul, func(context.Context, Job) (Price, error) { return Price{i}, nil },
				func(context.Context, Job, Price) (Done, error) { return Done{By: names[i]}, nil }),
			agent.Contribute(opinion, func(context.Context, Job) (Price, error) { return Price{i}, nil }))
	}
	start := func(name string, agents ...*agent.Agent) *agent.Host {
		s, err := sqlite.Open(ctx, filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		h := agent.NewHost(agent.Config{Store: s, Log: slog.New(slog.DiscardHandler)}, agents...)
		if err := h.Start(ctx); err != nil {
			b.Fatal(err)
		}
		return h
	}
	coordinator := agent.New("coordinator")
	a, m := start("a.db", coordinator), start("m.db", agents...)
	agent.Introduce(a, m)
	var before, after runtime.MemStats
	size := stored(b, dir)
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	for range times {
		if err := f(ctx, coordinator, names); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	for _, h := range []*agent.Host{a, m} {
		if err := h.Stop(ctx); err != nil {
			b.Fatal(err)
		}
	}
	n := float64(members * times)
	return cost{nanos: float64(took) / n, allocs: float64(after.Mallocs-before.Mallocs) / n, bytes: float64(stored(b, dir)-size) / n}
}

// stored is how many bytes the stores in the folder take.
func stored(b *testing.B, dir string) int64 {
	files, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	var sum int64
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".db" {
			continue
		}
		info, err := f.Info()
		if err != nil {
			b.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}
