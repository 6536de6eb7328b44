package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// check is a rule about what the agent says that no schema can express. It
// judges the acts that carry values of one Go type.
type check struct {
	of  reflect.Type
	run func(ctx context.Context, content []byte) error
}

// Check adds a rule to what the agent says under a contract that it answers,
// beyond what the schema says: that an end lies after a start, that a total is
// a sum. It judges every result, bid, item or contribution whose Go type is
// Out, before any Layer sees it. The text of its error is told to the model as data, at most
// 1000 bytes of it, and the model may try again until its nudges are spent,
// which ends the exchange as failure(permanent, check); the peer never sees the
// text. From a Go handler it is an error like any other. Several checks are
// called in the order given, up to the first that fails; a panic ends the
// exchange as failure(permanent, handler-panic). A check for a contract that
// the agent does not answer is reported when its host starts.
func Check[Out any](c Contract, fn func(ctx context.Context, out Out) error) Option {
	return option(func(a *Agent) {
		capability := c.Name().Capability()
		if a.checks == nil {
			a.checks = map[string][]check{}
		}
		a.checks[capability] = append(a.checks[capability], check{reflect.TypeFor[Out](), func(ctx context.Context, content []byte) error {
			var out Out
			if err := json.Unmarshal(content, &out); err != nil {
				return fmt.Errorf("reading what %s says: %w", c.Name(), err)
			}
			return fn(ctx, out)
		}})
	})
}

// checked runs the checks of what a phase made. The content is canonical and
// fits its schema.
func (a *Agent) checked(ctx context.Context, o *offer, p phase, content []byte) error {
	if len(a.checks) == 0 {
		return nil
	}
	for _, c := range a.checks[o.Name.Capability()] {
		if c.of != o.made(p) {
			continue
		}
		if err := c.run(ctx, content); err != nil {
			return err
		}
	}
	return nil
}

// RetryError is a tool's answer that the model should ask differently.
type RetryError struct{ Hint string }

func (e *RetryError) Error() string { return "ask differently: " + e.Hint }

// Retry is the error of a tool that was called with arguments it cannot use as
// they are: the hint, such as "which year?", is told to the model as data from
// the tool, at most 1000 bytes of it, and the model may call again within its
// limits. It is not a failure of the tool.
func Retry(hint string) error { return &RetryError{Hint: hint} }

// maxHint bounds, in bytes, what a check or a tool tells the model to mend.
const maxHint = 1000

// shown is a hint as it can be quoted: text without control characters.
func shown(hint string) string {
	hint = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(hint, "\uFFFD"))
	if len(hint) > maxHint {
		hint = strings.ToValidUTF8(hint[:maxHint], "")
	}
	return hint
}
