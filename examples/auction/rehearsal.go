package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-agents/parley/llm/rehearsal"
)

// rules are what the models say when there is none: the same program talks to
// a real endpoint when OPENAI_BASE_URL or OPENAI_API_KEY is set. Each rule
// knows its turn by what it is offered to do.
func rules() []rehearsal.Rule { return []rehearsal.Rule{bid, deliver, judge} }

// bid looks at the rate and proposes its price.
func bid(r rehearsal.Request) (rehearsal.Reply, bool) {
	var load Load
	if !r.Offers("propose") || !quoted(r.Last(rehearsal.User).Text, &load) {
		return rehearsal.Reply{}, false
	}
	rate, looked := returned[Rate](r, "rate")
	switch {
	case !looked:
		return call("rate", nil)
	case load.Kilos > rate.FreeKilos:
		return call("refuse", map[string]string{"code": "capacity", "reason": "no-truck"})
	}
	return call("propose", Offer{Euros: (load.Kilos*rate.EurosPerTonne + 999) / 1000, Days: rate.Days, Truck: rate.Truck})
}

// deliver books the truck and gives its reference. The first message of the
// user is the call, the second one the offer.
func deliver(r rehearsal.Request) (rehearsal.Reply, bool) {
	first := slices.IndexFunc(r.Messages, func(m rehearsal.Message) bool { return m.Role == rehearsal.User })
	var load Load
	if !r.Offers("book_truck") || !quoted(r.Messages[first].Text, &load) {
		return rehearsal.Reply{}, false
	}
	truck, booked := returned[Booked](r, "book_truck")
	if !booked {
		return call("book_truck", Order{load.Kilos})
	}
	return call("inform", Haulage{Status: "booked", Reference: truck.Reference})
}

var within = regexp.MustCompile(`within ([0-9]+) days`)

// judge ranks what arrives in time by price.
func judge(r rehearsal.Request) (rehearsal.Reply, bool) {
	limit := within.FindStringSubmatch(r.Last(rehearsal.System).Text)
	if !r.Offers("agree") || limit == nil {
		return rehearsal.Reply{}, false
	}
	days, _ := strconv.Atoi(limit[1])
	euros := map[string]int{}
	var ranking []string
	for i, text := range data(r.Last(rehearsal.User).Text) {
		var o Offer
		if json.Unmarshal([]byte(text), &o) == nil && o.Days <= days {
			handle := fmt.Sprintf("bid%d", i+1)
			ranking, euros[handle] = append(ranking, handle), o.Euros
		}
	}
	if len(ranking) == 0 {
		return call("refuse", map[string]string{"code": "permanent", "reason": "too-slow"})
	}
	slices.SortStableFunc(ranking, func(a, b string) int { return euros[a] - euros[b] })
	return call("agree", map[string]any{"ranking": ranking})
}

// data is what others said in a message: JSON, each on a line of its own.
func data(text string) (list []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "{") {
			list = append(list, line)
		}
	}
	return list
}

func quoted(text string, v any) bool {
	list := data(text)
	return len(list) > 0 && json.Unmarshal([]byte(list[0]), v) == nil
}

// returned reads what a tool returned; false if it was not called.
func returned[T any](r rehearsal.Request, tool string) (T, bool) {
	var outcome struct{ Result T }
	text, called := r.Result(tool)
	return outcome.Result, called && quoted(text, &outcome)
}

func call(name string, arguments any) (rehearsal.Reply, bool) {
	return rehearsal.Reply{Calls: []rehearsal.Call{{Name: name, Arguments: arguments}}}, true
}
