package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/parley-agents/parley/internal/measure"
)

// maxShare is how much of the processor time that a2a-go takes for a request
// Parley may take.
const maxShare = 1.0 / 3

// sends compares servers that answer the same bytes, each in its own process.
var sends = measure.Benchmark{
	Name:  "a2a-send",
	About: "a SendMessage and its completed task: Parley on a durable store, a2a-go v2.2.1 in memory, bare net/http",
	Measure: func(ctx context.Context, r *measure.Run) (gates []measure.Gate, err error) {
		s := &sending{run: r, id: strconv.FormatInt(time.Now().UnixNano(), 36), caller: newCaller(64)}
		defer func() { err = errors.Join(err, s.stop()) }()
		if err := s.start(ctx); err != nil {
			return nil, err
		}
		for _, callers := range []int{1, 16, 64} {
			g, err := s.compare(ctx, callers)
			if err != nil {
				return nil, err
			}
			if callers > 1 {
				gates = append(gates, g)
			}
		}
		return gates, nil
	},
}

// sending is the comparison at work.
type sending struct {
	fleet
	run    *measure.Run
	id     string
	caller *caller
}

// start starts the servers, and shows each one message: the bare one answers as
// many bytes as Parley did.
func (s *sending) start(ctx context.Context) error {
	answer := 0
	for _, kind := range []string{"parley", "a2a-go", "a2a-go-brief", "bare"} {
		server, err := s.add(ctx, s.run, kind, serveBytes+"="+strconv.Itoa(answer))
		if err != nil {
			return err
		}
		body, err := s.send(ctx, server, s.caller.number.Add(1))
		if err != nil {
			return err
		}
		if kind == "parley" {
			answer = len(body)
			s.run.Printf("a message of %d bytes, an answer of %d", len(message(s.id, 1)), answer)
		}
	}
	return nil
}

// compare measures the servers by turns.
func (s *sending) compare(ctx context.Context, callers int) (measure.Gate, error) {
	found := map[string][]load{}
	for round := range s.run.Rounds + 1 {
		for _, server := range s.list {
			l, err := s.caller.drive(ctx, server, callers, s.run.Window, func(ctx context.Context, number int64) error {
				_, err := s.send(ctx, server, number)
				return err
			})
			if err != nil {
				return measure.Gate{}, fmt.Errorf("%s with %d callers: %w", server.kind, callers, err)
			}
			if round > 0 { // the first one warms up
				found[server.kind] = append(found[server.kind], l)
			}
		}
	}
	for _, server := range s.list {
		s.run.Printf("%2d callers  %-12s %s", callers, server.kind, sum(found[server.kind]))
	}
	of := func(kind string) []float64 { return collect(found[kind], load.each) }
	return measure.AtMost(fmt.Sprintf("a2a-send-cpu-%d", callers), of("parley"), of("a2a-go"), maxShare), nil
}

// send makes one call, whose message has an id of its own.
func (s *sending) send(ctx context.Context, to *remote, number int64) ([]byte, error) {
	answer, err := s.caller.call(ctx, to.url, message(s.id, number))
	if err == nil && !bytes.Contains(answer, []byte(completed)) {
		err = fmt.Errorf("%s answered %.300s", to.kind, answer)
	}
	return answer, err
}

// message is a call that is answered at once.
func message(run string, number int64) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%[1]d,"method":"SendMessage","params":{"message":{"messageId":"%[2]s-%[1]d",`+
		`"role":"ROLE_USER","parts":[{"text":"What will the weather be in Graz tomorrow?"}]}}}`, number, run)
}

// sum tells the medians of some rounds.
func sum(rounds []load) string {
	mid := func(of func(load) float64) float64 { return measure.Median(collect(rounds, of)) }
	quantile := func(q float64) func(load) float64 {
		return func(l load) float64 { return float64(l.quantile(q).Microseconds()) / 1000 }
	}
	text := fmt.Sprintf("%6.0f requests/s, p50 %7.2f ms, p99 %7.2f ms, %5.0f µs of processor, %5.0f allocations and %6.1f KB for each, %5.1f KB written",
		mid(load.perSecond), mid(quantile(0.5)), mid(quantile(0.99)), mid(load.each),
		mid(func(l load) float64 { return float64(l.counts.Allocs) / float64(l.requests) }),
		mid(func(l load) float64 { return float64(l.counts.Bytes) / float64(l.requests) / 1000 }),
		mid(func(l load) float64 { return float64(l.written) / float64(l.requests) / 1000 }))
	if rounds[0].counts.Commits > 0 {
		text += fmt.Sprintf("; %.1f write sets, %.2f commits, each synced",
			mid(func(l load) float64 { return float64(l.counts.Sets) / float64(l.requests) }),
			mid(func(l load) float64 { return float64(l.counts.Commits) / float64(l.requests) }))
	}
	return text
}

func collect(rounds []load, of func(load) float64) []float64 {
	values := make([]float64, len(rounds))
	for i, l := range rounds {
		values[i] = of(l)
	}
	return values
}
