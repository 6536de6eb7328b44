package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Replayer is a Model that answers from a cassette. Create it with Replay. It is a
// Streamer, which tells a recorded reply at once, and safe for concurrent use.
type Replayer struct {
	// Settle must be that of the Recorder. Default: nothing is taken out.
	Settle func(Request) Request

	recordings []recording
	lines      []int            // the line of each recording
	byKey      map[string][]int // recordings by key, oldest first

	mu    sync.Mutex
	asked map[string]int // how often each key was asked for
}

// Replay reads a cassette to its end. An error names the line that is not what a
// Recorder writes.
func Replay(r io.Reader) (*Replayer, error) {
	p := &Replayer{byKey: map[string][]int{}, asked: map[string]int{}}
	source := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := source.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("cassette: line %d: %w", number, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := p.add(line, number); err != nil {
				return nil, fmt.Errorf("cassette: line %d: %w", number, err)
			}
		}
		if err == io.EOF {
			return p, nil
		}
	}
}

func (p *Replayer) add(line []byte, number int) error {
	var entry recording
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&entry); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON object")
	}
	if (entry.Reply == nil) == (entry.Failure == nil) {
		return errors.New("neither a reply nor a failure, or both")
	}
	request, err := canonical(entry.Request)
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	if key := keyOf(request); entry.Key != key {
		return fmt.Errorf("key: want that of the request, %s, got %q", key, entry.Key)
	}
	p.byKey[entry.Key] = append(p.byKey[entry.Key], len(p.recordings))
	p.recordings, p.lines = append(p.recordings, entry), append(p.lines, number)
	return nil
}

// Complete returns what r met when it was recorded, at once. A request that was
// recorded more than once gets its replies in their order, each once. Any other
// request is an *Error of kind bad-request that wraps a *Miss.
func (p *Replayer) Complete(ctx context.Context, r Request) (*Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, &Error{Kind: ErrorUnavailable, Err: err}
	}
	request, err := keep(r, p.Settle)
	if err != nil {
		return nil, &Error{Kind: ErrorBadRequest, Err: err}
	}
	entry, miss := p.find(request)
	switch {
	case miss != nil:
		return nil, &Error{Kind: ErrorBadRequest, Err: miss}
	case entry.Failure != nil:
		return nil, entry.Failure.error()
	}
	return entry.Reply.response(), nil
}

// Stream is Complete, followed by the parts of the reply.
func (p *Replayer) Stream(ctx context.Context, r Request, each func(Part) error) (*Response, error) {
	reply, err := p.Complete(ctx, r)
	if err == nil {
		err = tellAll(reply, each)
	}
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// Describe says that this is not a language model.
func (p *Replayer) Describe() string { return "a cassette: recorded replies, not a language model" }

// Left returns how many recordings were not asked for yet.
func (p *Replayer) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := len(p.recordings)
	for key, times := range p.asked {
		left -= min(times, len(p.byKey[key]))
	}
	return left
}

// find takes the next recording of a request.
func (p *Replayer) find(request json.RawMessage) (*recording, *Miss) {
	key := keyOf(request)
	places := p.byKey[key]
	if len(places) == 0 {
		return nil, p.miss(request)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked[key] == len(places) {
		return nil, &Miss{Key: key, Times: len(places), Line: p.lines[places[len(places)-1]]}
	}
	next := places[p.asked[key]]
	p.asked[key]++
	return &p.recordings[next], nil
}
