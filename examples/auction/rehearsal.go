package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/llm/rehearsal"
)

// What the models say when there is none: the same programs talk to a real
// endpoint when OPENAI_BASE_URL or OPENAI_API_KEY is set.
func rules() []rehearsal.Rule { return []rehearsal.Rule{bid, deliver, judge} }

// quoted are the JSON values that others said in a text.
func quoted(text string) (list []json.RawMessage) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "{") {
			list = append(list, json.RawMessage(line))
		}
	}
	return list
}

// load is what a carrier was called for.
func load(r rehearsal.Request) (l Load) {
	for _, m := range r.Messages {
		if data := quoted(m.Text); m.Role == rehearsal.User && len(data) > 0 && json.Unmarshal(data[0], &l) == nil && l.Kilos > 0 {
			return l
		}
	}
	return l
}

// returned reads what a tool returned; false if it was not called.
func returned[T any](r rehearsal.Request, tool string) (out T, ok bool) {
	text, called := r.Result(tool)
	var outcome struct{ Result T }
	if data := quoted(text); called && len(data) > 0 {
		ok = json.Unmarshal(data[0], &outcome) == nil
	}
	return outcome.Result, ok
}

func call(name string, arguments any) (rehearsal.Reply, bool) {
	return rehearsal.Reply{Calls: []rehearsal.Call{{Name: name, Arguments: arguments}}}, true
}

func bid(r rehearsal.Request) (rehearsal.Reply, bool) {
	if !r.Offers("propose") {
		return rehearsal.Reply{}, false
	}
	rate, looked := returned[Rate](r, "rate")
	l := load(r)
	switch {
	case !looked:
		return call("rate", nil)
	case l.Kilos > rate.FreeKilos:
		return call("refuse", map[string]string{"code": "capacity", "reason": "no-truck"})
	}
	return call("propose", Offer{Euros: (l.Kilos*rate.EurosPerTonne + 999) / 1000, Days: rate.Days})
}

func deliver(r rehearsal.Request) (rehearsal.Reply, bool) {
	if !r.Offers("book_truck") {
		return rehearsal.Reply{}, false
	}
	truck, booked := returned[Booked](r, "book_truck")
	if !booked {
		return call("book_truck", Truck{load(r).Kilos})
	}
	return call("inform", Haulage{Status: "booked", Reference: truck.Reference})
}

// judge ranks what arrives within four days by price.
func judge(r rehearsal.Request) (rehearsal.Reply, bool) {
	if !r.Offers("agree") {
		return rehearsal.Reply{}, false
	}
	type ranked struct {
		handle string
		Offer
	}
	var fit []ranked
	for i, data := range quoted(r.Last(rehearsal.User).Text) {
		var o Offer
		if json.Unmarshal(data, &o) == nil && o.Days <= 4 {
			fit = append(fit, ranked{fmt.Sprintf("bid%d", i+1), o})
		}
	}
	if len(fit) == 0 {
		return call("refuse", map[string]string{"code": "permanent", "reason": "too-slow"})
	}
	slices.SortStableFunc(fit, func(a, b ranked) int { return a.Euros - b.Euros })
	var handles []string
	for _, f := range fit {
		handles = append(handles, f.handle)
	}
	return call("agree", map[string]any{"ranking": handles})
}
