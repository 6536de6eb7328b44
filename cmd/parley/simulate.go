package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/agent/simulate"
)

func simulation() *cobra.Command {
	var (
		config       simulate.Config
		faults, only string
		export       string
	)
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Play worlds full of accidents and look for broken promises",
		Long: fmt.Sprintf(`Play worlds in which a few agents on hosts of their own do each other's errands,
while messages are lost, doubled, late and forged, hosts crash at every call of
their store and of their transport or stop in order, disks fail and clocks jump. The hosts are
the real ones; time, randomness and the network are the simulator's, so one seed
is one run.

When the accidents are over, every world must come to rest and keep these
promises:
%s
--faults takes a list of %s, or all, or none. The first world has the seed
of --seed, each next one the next seed. A world that breaks a promise is cut down
to few accidents that suffice; --seed, --worlds 1 and --only with them play it
again, and --export writes the traces of its conversations.

-o json prints {"worlds", "seconds", "terminals", "outcomes", "violations",
"effects_over_once", "unfinished", "digest_mismatches", "messages", "accidents",
"crashes", "stops", "forgeries", "result_digest", "failures": [{"seed", "violations":
[{"property", "detail"}], "faults"}]}. All but seconds is the same in every run.
The exit code is 0 if every promise was kept, else %d.`, promises(), kinds(), exitViolation),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if config.Kinds, err = simulate.ParseKinds(faults); err != nil {
				return &usageError{err}
			}
			if c.Flags().Changed("only") {
				config.Only = []simulate.Fault{}
				for name := range strings.SplitSeq(only, ",") {
					if name = strings.TrimSpace(name); name != "" {
						config.Only = append(config.Only, simulate.Fault(name))
					}
				}
			}
			if config.Worlds < 1 {
				return &usageError{fmt.Errorf("--worlds is %d, expected at least 1", config.Worlds)}
			}
			return playWorlds(c, config, export)
		},
	}
	c.Flags().IntVar(&config.Worlds, "worlds", 100, "how many worlds to play")
	c.Flags().Uint64Var(&config.Seed, "seed", 1, "seed of the first world")
	c.Flags().StringVar(&faults, "faults", "all", "what may go wrong")
	c.Flags().StringVar(&config.Protocol, "protocol", "", "speak this protocol only")
	c.Flags().StringVar(&only, "only", "", "let only these accidents happen, as a failure names them")
	c.Flags().StringVar(&export, "export", "", "write the traces of worlds that broke a promise into this folder")
	c.Flags().BoolVar(&config.NoLedger, "no-ledger", false, "forget which effects were had, to see what is found then")
	return c
}

func playWorlds(c *cobra.Command, config simulate.Config, export string) error {
	// Worlds leave much behind and keep little.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	r, err := simulate.Run(c.Context(), config)
	if err != nil {
		if c.Context().Err() != nil {
			return err
		}
		return &usageError{err}
	}
	if export != "" {
		if err := exportWorlds(export, r.Failures); err != nil {
			return err
		}
	}
	if err := show(c, r, func() [][]string { return worldRows(r) }); err != nil || len(r.Failures) == 0 {
		return err
	}
	f := r.Failures[0]
	return &violationError{fmt.Sprintf("world %d breaks %s: %s; play it again with --worlds 1 --seed %d --only %q",
		f.Seed, f.Violations[0].Property, f.Violations[0].Detail, f.Seed, joined(f.Faults))}
}

func joined(faults []simulate.Fault) string {
	var list []string
	for _, f := range faults {
		list = append(list, string(f))
	}
	return strings.Join(list, ",")
}

// exportWorlds writes the traces of failed worlds, each into a file of its own.
func exportWorlds(folder string, failures []simulate.Failure) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, f := range failures {
		for i, trace := range f.Traces {
			data, err := json.MarshalIndent(trace, "", "  ")
			if err != nil {
				return err
			}
			name := filepath.Join(folder, fmt.Sprintf("%d-%d.json", f.Seed, i+1))
			if err := os.WriteFile(name, append(data, '\n'), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func worldRows(r simulate.Result) [][]string {
	rows := [][]string{{"WHAT", "COUNT"}}
	add := func(what string, n int) { rows = append(rows, []string{what, strconv.Itoa(n)}) }
	add("worlds", r.Worlds)
	add("messages", r.Messages)
	add("accidents", r.Accidents)
	add("crashes", r.Crashes)
	add("stops", r.Stops)
	add("forgeries", r.Forgeries)
	for _, t := range slices.Sorted(maps.Keys(r.Terminals)) {
		add("conversations "+t, r.Terminals[t])
	}
	add("effects over once", r.EffectsOverOnce)
	add("unfinished exchanges", r.Unfinished)
	add("digests that differ", r.DigestMismatches)
	for _, p := range slices.SortedFunc(maps.Keys(r.Violations), byNumber) {
		if r.Violations[p] > 0 {
			add("broken "+p, r.Violations[p])
		}
	}
	return append(rows, []string{"result digest", r.Digest})
}

// promises lists what every world must keep, a line each.
func promises() string {
	var text strings.Builder
	properties := simulate.Properties()
	for _, p := range slices.SortedFunc(maps.Keys(properties), byNumber) {
		fmt.Fprintf(&text, "  %-4s %s\n", p, properties[p])
	}
	return text.String()
}

// byNumber puts P2 before P10.
func byNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func kinds() string {
	var list []string
	for _, k := range simulate.Kinds() {
		list = append(list, string(k))
	}
	return strings.Join(list, ", ")
}
