package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/protocol/explore"
)

// checkedProtocol is one line of protocol check.
type checkedProtocol struct {
	Protocol              string          `json:"protocol"`
	Channel               explore.Channel `json:"channel"`
	Configurations        int             `json:"configurations"`
	Deadlocks             int             `json:"deadlocks"`
	CannotFinish          int             `json:"cannot_finish"`
	FalseSuccesses        int             `json:"false_successes"`
	UnspecifiedReceptions []string        `json:"unspecified_receptions"`
	UnfiredRows           []string        `json:"unfired_rows"`
	JointOutcomes         []string        `json:"joint_outcomes"`
}

// flaw is a property that does not hold.
type flaw struct {
	Protocol string           `json:"protocol"`
	Channel  explore.Channel  `json:"channel,omitempty"`
	Property explore.Property `json:"property"`
	What     string           `json:"what"`
	Run      []string         `json:"run,omitempty"`
}

func protocolCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check [NAME]",
		Short: "Explore everything that can happen in a protocol",
		Long: fmt.Sprintf(`Explore everything that can happen between the two sides of a protocol, or of
every protocol, over channels that hold %d messages in each direction. On fifo
they arrive in order, on loss some do not arrive, on reorder they arrive in any
order; on each of them a cancel may overtake.

What is checked: something can happen until both sides have ended; from
everywhere they can end; who asked ends ok only if who answered did; what
arrives in order finds a row in the table of the receiver's state; every row is
taken in some run on some channel. What loss and reorder bring to a state that
has no row for it is listed and is no fault: it is refused, and the state stays
as it is.

-o json prints {"checks": [{"protocol", "channel", "configurations",
"deadlocks", "cannot_finish", "false_successes", "unspecified_receptions",
"unfired_rows", "joint_outcomes"}], "flaws": [{"protocol", "channel",
"property", "what", "run"}]}. A flaw comes with a shortest run that shows it; a
row that is never taken has neither channel nor run. The exit code is 0 if
there are no flaws, else %d.`, explore.Capacity, exitViolation),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeProtocol,
		RunE: func(c *cobra.Command, args []string) error {
			protocols := protocol.All()
			if len(args) > 0 {
				p, err := namedProtocol(args[0])
				if err != nil {
					return err
				}
				protocols = []*protocol.Protocol{p}
			}
			var tables []explore.Tables
			for _, p := range protocols {
				tables = append(tables, explore.Of(p))
			}
			return check(c, tables)
		},
	}
}

// check explores the tables and prints what it found; flaws are an error too.
func check(c *cobra.Command, tables []explore.Tables) error {
	out := struct {
		Checks []checkedProtocol `json:"checks"`
		Flaws  []flaw            `json:"flaws"`
	}{Flaws: []flaw{}}
	for _, t := range tables {
		if err := c.Context().Err(); err != nil {
			return err
		}
		reports, flaws := explore.Check(t)
		for _, r := range reports {
			out.Checks = append(out.Checks, checkedProtocol{
				Protocol: r.Protocol, Channel: r.Channel, Configurations: r.Configurations, Deadlocks: len(r.Deadlocks),
				CannotFinish: len(r.CannotFinish), FalseSuccesses: len(r.FalseSuccesses), UnspecifiedReceptions: texts(r.UnspecifiedReceptions),
				UnfiredRows: texts(r.UnfiredRows), JointOutcomes: texts(r.JointOutcomes),
			})
		}
		for _, f := range flaws {
			out.Flaws = append(out.Flaws, flaw{f.Protocol, f.Channel, f.Property, f.What, texts(f.Run)})
		}
	}
	err := show(c, out, func() [][]string { return checkRows(out.Checks) })
	if err != nil || len(out.Flaws) == 0 {
		return err
	}
	return &violationError{flawed(out.Flaws)}
}

// flawed says the first flaw of each property and protocol in one line.
func flawed(flaws []flaw) string {
	var list []string
	said := map[string]bool{}
	for _, f := range flaws {
		about := f.Protocol + string(f.Property)
		if said[about] {
			continue
		}
		said[about] = true
		text := fmt.Sprintf("%s breaks %q: %s", f.Protocol, f.Property, f.What)
		if f.Channel != "" {
			text += fmt.Sprintf(" on %s, after %s", f.Channel, strings.Join(f.Run, ", "))
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

func checkRows(checks []checkedProtocol) [][]string {
	rows := [][]string{{"PROTOCOL", "CHANNEL", "CONFIGURATIONS", "DEADLOCKS", "CANNOT FINISH", "FALSE SUCCESSES", "REFUSED", "OUTCOMES"}}
	for _, k := range checks {
		rows = append(rows, []string{k.Protocol, string(k.Channel), strconv.Itoa(k.Configurations), strconv.Itoa(k.Deadlocks),
			strconv.Itoa(k.CannotFinish), strconv.Itoa(k.FalseSuccesses), strconv.Itoa(len(k.UnspecifiedReceptions)), strconv.Itoa(len(k.JointOutcomes))})
	}
	return rows
}

// texts writes each of the values; the list is never nil.
func texts[T fmt.Stringer](values []T) []string {
	list := make([]string, 0, len(values))
	for _, v := range values {
		list = append(list, v.String())
	}
	return list
}
