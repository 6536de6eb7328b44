package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/parley-agents/parley/internal/measure"
)

// maxStretch is how much longer a stream of sixteen times as many chunks may
// take.
const maxStretch = 20

var streams = measure.Benchmark{
	Name:  "a2a-stream",
	About: "one task that streams its result in many chunks, each durable before it is sent; a2a-go v2.2.1 in memory beside it",
	Measure: func(ctx context.Context, r *measure.Run) (gates []measure.Gate, err error) {
		s := &streaming{run: r, caller: newCaller(1)}
		defer func() { err = errors.Join(err, s.stop()) }()
		for _, kind := range []string{"parley", "a2a-go"} {
			if _, err := s.add(ctx, r, kind); err != nil {
				return nil, err
			}
		}
		return s.compare(ctx)
	},
}

// streaming is that benchmark at work.
type streaming struct {
	fleet
	run    *measure.Run
	caller *caller
}

// compare measures streams of all lengths by turns.
func (s *streaming) compare(ctx context.Context) ([]measure.Gate, error) {
	parley, other := map[int][]float64{}, map[int][]float64{}
	for range s.run.Rounds {
		for i, chunks := range s.run.Chunks {
			took, err := s.stream(ctx, s.list[0], chunks)
			if err != nil {
				return nil, err
			}
			parley[chunks] = append(parley[chunks], took.Seconds())
			if i > 1 { // what a2a-go takes grows with the square
				continue
			}
			if took, err = s.stream(ctx, s.list[1], chunks); err != nil {
				return nil, err
			}
			other[chunks] = append(other[chunks], took.Seconds())
		}
	}
	for _, chunks := range s.run.Chunks {
		took := measure.Median(parley[chunks])
		text := fmt.Sprintf("%5d chunks  parley %8.1f ms, %4.0f µs for each", chunks, took*1e3, took*1e6/float64(chunks))
		if len(other[chunks]) > 0 {
			took := measure.Median(other[chunks])
			text += fmt.Sprintf("   a2a-go %8.1f ms, %4.0f µs for each", took*1e3, took*1e6/float64(chunks))
		}
		s.run.Printf("%s", text)
	}
	var gates []measure.Gate
	for _, few := range s.run.Chunks {
		if many := 16 * few; len(parley[many]) > 0 {
			gates = append(gates, measure.AtMost(fmt.Sprintf("a2a-stream-%d-to-%d", many, few), parley[many], parley[few], maxStretch))
		}
	}
	return gates, nil
}

// stream is how long a stream takes from its request to its end. Every chunk must
// have come.
func (s *streaming) stream(ctx context.Context, from *remote, chunks int) (time.Duration, error) {
	id := strconv.FormatInt(time.Now().UnixNano(), 36)
	request, err := newCall(from.url, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"%s",`+
		`"role":"ROLE_USER","parts":[{"data":{"count":%d,"text":"a part of the result, about as long as a sentence"}}]}}}`, id, chunks))
	if err != nil {
		return 0, err
	}
	began := time.Now()
	response, err := s.caller.client.Do(request.WithContext(ctx))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s answered %s", from.kind, response.Status)
	}
	got, ended := 0, false
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 64<<20) // a snapshot may be long
	for lines.Scan() {
		// The first event may show some chunks already, in the task itself.
		got += bytes.Count(lines.Bytes(), []byte(`"artifactId"`))
		ended = ended || bytes.Contains(lines.Bytes(), []byte(completed))
	}
	took := time.Since(began)
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("reading the stream of %s: %w", from.kind, err)
	}
	if got < chunks || !ended {
		return 0, fmt.Errorf("%s streamed %d of %d chunks, and ended: %v", from.kind, got, chunks, ended)
	}
	return took, nil
}
