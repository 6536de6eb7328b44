package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/parley-agents/parley/examples/trip-planner/internal/trip"
)

// printText shows a report to a person: the itinerary first.
func printText(out io.Writer, r trip.Report) {
	switch {
	case r.Itinerary != nil:
		printItinerary(out, *r.Itinerary)
	case r.Question != "":
		fmt.Fprintf(out, "%s\n\nAnswer with: trip-planner --continue %s \"…\"\n", r.Question, r.Conversation)
	case r.Unknown:
		fmt.Fprintf(out, "It is not known whether the trip is booked: look before you ask again. %s\n", r.Error)
	case len(r.Effects) > 0:
		fmt.Fprintf(out, "The plan failed, but something was booked: see the effects. %s\n", cmp.Or(r.Notes, r.Error))
	default:
		fmt.Fprintf(out, "No trip was booked. %s\n", cmp.Or(r.Notes, r.Error))
	}
	if r.Itinerary != nil && r.Notes != "" {
		fmt.Fprintf(out, "  Note: %s\n", r.Notes)
	}
	for _, e := range r.Interrupted {
		fmt.Fprintf(out, "\nAn earlier run was interrupted (conversation %s). It ended: %s %s%s\n", e.Conversation, e.Status, e.Question, e.Error)
		if e.Itinerary != nil {
			printItinerary(out, *e.Itinerary)
		}
	}
	if len(r.Timeline) > 0 {
		printTimeline(out, r)
	}
	printProtocol(out, r)
	fmt.Fprintln(out, "\nProcesses")
	for _, p := range r.Processes {
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("  %s: pid %d %s", p.Agent, p.PID, p.URL), " "))
	}
	fmt.Fprintf(out, "\nModel: %s, %d tokens in, %d out\n", r.Model, r.Usage.InputTokens, r.Usage.OutputTokens)
	fmt.Fprintf(out, "Trace: %s\nConversation: %s\n", r.TraceID, r.Conversation)
}

func printItinerary(out io.Writer, i trip.Itinerary) {
	f := i.Flight
	fmt.Fprintf(out, "Booked for EUR %.2f\n", i.Total)
	fmt.Fprintf(out, "  Flight %s  %s → %s  %s – %s  EUR %.2f  reference %s\n", f.Number, f.From, f.To, f.Departs, f.Arrives, f.Price, f.Reference)
	if h := i.Hotel; h != nil {
		fmt.Fprintf(out, "  Hotel %q %s  %s to %s  rooms %d  EUR %.2f  reference %s\n", h.Name, strings.Repeat("*", h.Stars), h.CheckIn, h.CheckOut, h.Rooms, h.Price, h.Reference)
	}
}

func printTimeline(out io.Writer, r trip.Report) {
	fmt.Fprintln(out, "\nTimeline (each act, the state in which it left its sender's side, and how often it was sent)")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	start := r.Timeline[0].At
	for _, l := range r.Timeline {
		note := ""
		if l.Attempt > 1 {
			note = fmt.Sprintf("attempt %d", l.Attempt)
		}
		if l.Reason != "" {
			note = strings.TrimSpace(note + " " + l.Reason)
		}
		fmt.Fprintf(w, "  +%.3fs\t%s → %s\t%s\t%s\t%s\t%s\n", l.At.Sub(start).Seconds(), l.From, l.To, l.Act, l.About, l.State, note)
	}
	// A tabwriter fails only when out does, and then there is nobody to tell.
	_ = w.Flush()
}

// printProtocol says what the rules did about accidents, without a model.
func printProtocol(out io.Writer, r trip.Report) {
	var did []string
	for _, p := range r.Restarts {
		did = append(did, fmt.Sprintf("the process of %s, pid %d, ended (%s); pid %d went on from its file", p.Agent, p.PID, p.Ended, p.Next))
	}
	for _, c := range []struct{ name, text string }{
		{"resend", "a message was sent again under the same id: %d time(s)"},
		{"duplicate", "a message that had come before was answered from the store: %d time(s)"},
		{"repair", "a malformed reply of the model was repaired: %d time(s)"},
	} {
		if n := r.Protocol[c.name]; n > 0 {
			did = append(did, fmt.Sprintf(c.text, n))
		}
	}
	if n := r.Protocol["orders"]; n > 0 {
		did = append(did, fmt.Sprintf("what a hotel wrote ordered the planner to pay elsewhere: %d time(s), obeyed %d time(s)", n, r.Protocol["obeyed"]))
	}
	if len(did) > 0 {
		fmt.Fprintln(out, "\nWhat the protocol did")
		for _, line := range did {
			fmt.Fprintln(out, "  "+line)
		}
	}
	if len(r.Effects) > 0 {
		fmt.Fprintln(out, "\nEffects")
		for _, e := range r.Effects {
			fmt.Fprintf(out, "  %s: %d under key %s\n", e.Kind, e.Times, e.Key)
		}
	}
}
