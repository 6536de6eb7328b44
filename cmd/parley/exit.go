package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
	"github.com/parley-agents/parley/transcript"
)

// The exit codes of every verb.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitViolation   = 4
	exitTimeout     = 5
	exitDenied      = 6
	exitUnreachable = 7
	exitDiverged    = 8
	exitInterrupted = 130
)

// exitRow says what a code means and which errors end with it.
type exitRow struct {
	code    int
	meaning string
	match   func(error) bool
}

// exits is the table of exit codes. The first row that matches an error counts.
func exits() []exitRow {
	return []exitRow{
		{exitOK, "ok", func(err error) bool { return err == nil }},
		{exitUsage, "wrong usage", func(err error) bool { return is[*usageError](err) || is[*a2a.AddressError](err) }},
		{exitInterrupted, "interrupted", among(context.Canceled)},
		{exitTimeout, "a timeout or deadline passed", func(err error) bool {
			return among(context.DeadlineExceeded)(err) || is[*timeoutError](err)
		}},
		{exitNotFound, "not found", func(err error) bool {
			return among(store.ErrNotFound, fs.ErrNotExist)(err) || peerEnds(exitNotFound)(err)
		}},
		{exitViolation, "a rule of the protocol, the guard or a schema was violated", func(err error) bool {
			return is[*violationError](err) || is[*schema.Invalid](err) || is[*envelope.ShapeError](err) || peerEnds(exitViolation)(err)
		}},
		{exitDenied, "not allowed", func(err error) bool {
			return among(fs.ErrPermission)(err) || modelFailed(err, llm.ErrorUnauthorized) || peerEnds(exitDenied)(err)
		}},
		{exitUnreachable, "unreachable", func(err error) bool {
			return modelFailed(err, llm.ErrorUnavailable, llm.ErrorRateLimit) || peerEnds(exitUnreachable)(err)
		}},
		{exitDiverged, "a replay went another way, or a store is damaged", func(err error) bool {
			return is[*transcript.Divergence](err) || is[*sqlite.DamagedError](err)
		}},
		{exitFailed, "failed otherwise", func(error) bool { return true }},
	}
}

// usageError is a mistake in the arguments.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// violationError is data that breaks a rule, after its verb has reported it.
type violationError struct{ text string }

func (e *violationError) Error() string { return e.text }

// timeoutError is time that ran out elsewhere, after its verb has reported it.
type timeoutError struct{ text string }

func (e *timeoutError) Error() string { return e.text }

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func among(targets ...error) func(error) bool {
	return func(err error) bool {
		for _, target := range targets {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}
}

func modelFailed(err error, kinds ...llm.ErrorKind) bool {
	failed, ok := errors.AsType[*llm.Error](err)
	return ok && slices.Contains(kinds, failed.Kind)
}

// report says on stderr what went wrong and returns the exit code.
func report(stderr io.Writer, err error) int {
	for _, row := range exits() {
		if !row.match(err) {
			continue
		}
		switch row.code {
		case exitOK:
		case exitInterrupted:
			fmt.Fprintln(stderr, "parley: interrupted")
		default:
			fmt.Fprintln(stderr, "parley:", printable(err.Error()))
		}
		return row.code
	}
	return exitFailed
}

// exitHelp is the table for people.
func exitHelp() string {
	var text strings.Builder
	text.WriteString("Exit codes:")
	for code := range exitInterrupted + 1 {
		for _, row := range exits() {
			if row.code == code {
				fmt.Fprintf(&text, "\n  %-3d  %s", code, row.meaning)
			}
		}
	}
	return text.String()
}
