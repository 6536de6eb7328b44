package agent

import (
	"context"

	"github.com/parley-agents/parley/llm"
)

// tell tells whoever watches the exchange what its model does.
func (t *turn) tell(e Event) { t.job.host.bus.tell(t.job.key, e) }

// complete asks the model. What it writes is streamed only when somebody
// watches, since endpoints differ most in how they stream, and when no layer
// may want to change it.
func (t *turn) complete(ctx context.Context, r llm.Request) (*llm.Response, error) {
	if t.job.agent.layered() || !t.job.host.bus.watched(t.job.key) {
		return t.job.agent.model.Complete(ctx, r)
	}
	return llm.Stream(ctx, t.job.agent.model, r, func(p llm.Part) error {
		if p.Text != "" || p.Reasoning != "" {
			t.tell(&Delta{Text: p.Text, Reasoning: p.Reasoning})
		}
		return nil
	})
}
