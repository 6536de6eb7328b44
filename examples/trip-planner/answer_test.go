package main

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/parley-agents/parley/examples/trip-planner/internal/trip"
)

func TestATravellerIsAskedAtTheTerminalUntilTheInputEnds(t *testing.T) {
	var out bytes.Buffer
	typed := make(chan string, 1)
	r := &run{stdout: &out, answers: typed}
	typed <- "4 nights"
	if said, err := r.answer(t.Context(), "How long?"); err != nil || said != "4 nights" || out.String() != "How long?\n> " {
		t.Errorf("answer = %q, %v after %q", said, err, out.String())
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, err := r.answer(ctx, "How long?"); !errors.Is(err, enough) || r.over.Load() {
		t.Errorf("answer = %v, want the cause of the end", err)
	}
	close(typed)
	if _, err := r.answer(t.Context(), "How long?"); !errors.Is(err, trip.ErrNoAnswer) || !r.over.Load() {
		t.Errorf("answer = %v, want that there is none", err)
	}
}
