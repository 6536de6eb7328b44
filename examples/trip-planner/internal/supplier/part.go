package supplier

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// The names of the suppliers.
const (
	Flights = "flights"
	Hotels  = "hotels"
)

// Command is the first argument of a process that plays a part.
const Command = "supplier"

// Part is what a supplier is told when it is started.
type Part struct {
	// Name says which supplier it is: Flights or Hotels.
	Name string
	// Dir is where it keeps its store and its ledger.
	Dir string
	// Delay is how long the systems behind it take to answer.
	Delay time.Duration
	// Injection lets every hotel's note order the reader to pay elsewhere.
	Injection bool
	// Points are where it waits to be killed, each once.
	Points []Point
	// Verbose has it log what its host does.
	Verbose bool
}

// Args are the arguments that ParsePart reads.
func (p Part) Args() []string {
	args := []string{p.Name, "--data", p.Dir, "--delay", p.Delay.String()}
	if len(p.Points) > 0 {
		names := make([]string, len(p.Points))
		for i, at := range p.Points {
			names[i] = string(at)
		}
		args = append(args, "--wait", strings.Join(names, ","))
	}
	if p.Injection {
		args = append(args, "--injection")
	}
	if p.Verbose {
		args = append(args, "--verbose")
	}
	return args
}

// ParsePart reads what Args wrote.
func ParsePart(args []string) (Part, error) {
	if len(args) == 0 || args[0] != Flights && args[0] != Hotels {
		return Part{}, fmt.Errorf("a supplier is %s or %s", Flights, Hotels)
	}
	p := Part{Name: args[0]}
	f := flag.NewFlagSet(Command, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&p.Dir, "data", "", "where it keeps its store")
	f.DurationVar(&p.Delay, "delay", 0, "how long its systems take")
	f.BoolVar(&p.Injection, "injection", false, "its notes give orders")
	f.BoolVar(&p.Verbose, "verbose", false, "log what its host does")
	f.Func("wait", "where it waits to be killed", func(list string) error {
		for name := range strings.SplitSeq(list, ",") {
			if !slices.Contains(Points(), Point(name)) {
				return fmt.Errorf("point %q is unknown", name)
			}
			p.Points = append(p.Points, Point(name))
		}
		return nil
	})
	if err := f.Parse(args[1:]); err != nil {
		return Part{}, fmt.Errorf("supplier %s: %w", p.Name, err)
	}
	if p.Dir == "" || f.NArg() > 0 {
		return Part{}, fmt.Errorf("supplier %s: want --data and nothing that is no flag", p.Name)
	}
	return p, nil
}
