package agent

import (
	"context"

	"github.com/parley-agents/parley/guard/schema"
)

// ToolOption says what running a tool twice would mean.
type ToolOption interface{ applyTool(*tool) }

type repeat string

func (r repeat) applyTool(t *tool) { t.repeat = r }

// A tool that declares neither is run at most once: if the process dies while
// it runs, the model is told that its outcome is unknown.
const (
	// ReadOnly: the tool has no effects and may run again.
	ReadOnly repeat = "read-only"
	// Keyed: the tool makes its effect with EffectKey, so running it again
	// with the same key has no second effect.
	Keyed repeat = "keyed"
)

// tool is a Go function that the agent's model may call.
type tool struct {
	name        string
	description string
	input       *schema.Schema
	repeat      repeat
	run         func(ctx context.Context, input []byte) ([]byte, error)
}

// Tool gives the agent's model a Go function. The schema of its parameters
// comes from In; what it returns reaches the model as data. An error made with
// Refuse or Fail is told to the model by its code and reason, the text of any
// other stays in the host's log. A tool that is not ReadOnly is not offered to a
// model that bids in an auction: nothing has effects before the award.
//
// The name is of letters, digits, _ and -, at most 64 characters, without a
// double underscore, and none of the performatives.
func Tool[In, Out any](name, description string, fn func(ctx context.Context, in In) (Out, error), opts ...ToolOption) Option {
	return option(func(a *Agent) {
		if !toolName.MatchString(name) {
			a.fault("tool name %q is not of letters, digits, _ and -, at most 64", name)
			return
		}
		in, err := schema.For[In]("tool." + a.name + "." + name + "/v1")
		if err != nil {
			a.fault("tool %s: %w", name, err)
			return
		}
		t := &tool{name: name, description: description, input: in}
		t.run = func(ctx context.Context, input []byte) ([]byte, error) {
			v, err := schema.Decode[In](in, input)
			if err != nil {
				return nil, err
			}
			out, err := fn(ctx, v)
			if err != nil {
				return nil, err
			}
			return canonical(out)
		}
		for _, o := range opts {
			o.applyTool(t)
		}
		a.tools = append(a.tools, t)
	})
}
