package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/protocol"
)

func (p process) protocolCommand() *cobra.Command {
	return group("protocol", "Show and check the rules of conversations", protocolLs(), protocolShow(), protocolCheck())
}

// shippedProtocol is one line of protocol ls.
type shippedProtocol struct {
	Name    string     `json:"name"`
	Opens   []string   `json:"opens"`
	Effects bool       `json:"effects"`
	States  roleCounts `json:"states"`
}

type roleCounts struct {
	Initiator   int `json:"initiator"`
	Participant int `json:"participant"`
}

func protocolLs() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the interaction protocols",
		Long: `List the interaction protocols: which act opens an exchange, whether what is
asked for has effects and so carries a key, and how many states each role has.

-o json prints {"protocols": [{"name", "opens", "effects",
"states": {"initiator", "participant"}}]}.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			var list []shippedProtocol
			rows := [][]string{{"NAME", "OPENS WITH", "EFFECTS", "INITIATOR", "PARTICIPANT"}}
			for _, p := range protocol.All() {
				s := shippedProtocol{p.Name, openings(p), effects(p), roleCounts{
					len(states(p.Table(protocol.Initiator))), len(states(p.Table(protocol.Participant))),
				}}
				list = append(list, s)
				rows = append(rows, []string{s.Name, strings.Join(s.Opens, ", "), yes(s.Effects),
					strconv.Itoa(s.States.Initiator) + " states", strconv.Itoa(s.States.Participant) + " states"})
			}
			return showList(c, "protocols", list, func() [][]string { return rows })
		},
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// openings are the acts that open an exchange of the protocol.
func openings(p *protocol.Protocol) (acts []string) {
	for _, u := range p.Table(protocol.Initiator).Sends(protocol.Start) {
		acts = append(acts, string(u.Performative))
	}
	return acts
}

// effects reports whether the contracts of the protocol have effects.
func effects(p *protocol.Protocol) bool {
	type empty = protocol.Empty
	const name = "any/v1"
	for _, c := range []protocol.Declared{
		protocol.Request[empty, empty](name), protocol.Query[empty, empty](name), protocol.NewAuction[empty, empty, empty](name),
		protocol.NewStream[empty, empty](name), protocol.NewOffer[empty](name), protocol.NewGathering[empty, empty](name),
	} {
		if c.Protocol() == p.Name {
			return c.Effects()
		}
	}
	return false
}

// states are the states of the table: the live ones in its order, then those
// that end.
func states(t *protocol.Table) (list []protocol.State) {
	var ends []protocol.State
	add := func(list *[]protocol.State, s protocol.State) {
		if !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for _, row := range t.Rows() {
		add(&list, row.From)
		if row.To.Done() {
			add(&ends, row.To)
		}
	}
	slices.Sort(ends)
	return append(list, ends...)
}

// protocolNames are the names under which a protocol is found: the full ones.
func protocolNames() (names []string) {
	for _, p := range protocol.All() {
		names = append(names, p.Name)
	}
	return names
}

// namedProtocol finds a protocol by its name, with or without its version.
func namedProtocol(name string) (*protocol.Protocol, error) {
	for _, p := range protocol.All() {
		if short, _, _ := strings.Cut(p.Name, "/"); name == p.Name || name == short {
			return p, nil
		}
	}
	return nil, &usageError{fmt.Errorf("there is no protocol %q: want %s", name, strings.Join(protocolNames(), ", "))}
}

// completeProtocol offers the names of the protocols to a shell.
func completeProtocol(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return protocolNames(), cobra.ShellCompDirectiveNoFileComp
}
