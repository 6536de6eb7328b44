package rules

import (
	"encoding/json"
	"slices"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/llm/rehearsal"
)

// askBack is the function that asks the traveller while the trip stays open.
const askBack = "ask_back"

// maxAskedBack is how many questions are asked that way before the turn ends
// with one.
const maxAskedBack = 5

// heard takes up what the traveller was asked in this turn and answered. What
// was searched before an answer was searched for another trip, so it is left out.
// open says that another question may be asked that way.
func heard(r rehearsal.Request, asked *contract.PlanRequest) (after rehearsal.Request, open bool) {
	questions := map[string]string{}
	cut, n := 0, 0
	open = r.Offers(askBack)
	for i, m := range r.Messages {
		for _, c := range m.Calls {
			var q struct {
				Text string `json:"text"`
			}
			if m.Role == rehearsal.Assistant && c.Name == askBack && c.Decode(&q) == nil {
				questions[c.ID] = q.Text
			}
		}
		if m.Role != rehearsal.Tool || m.Name != askBack {
			continue
		}
		var o outcome
		var answer struct {
			Text string `json:"text"`
		}
		n++
		if json.Unmarshal(data(m.Text), &o) != nil || !o.ok() || json.Unmarshal(o.Result, &answer) != nil {
			open = false // nobody answers
			continue
		}
		asked.Earlier = append(asked.Earlier, contract.Answered{Question: agent.Text(questions[m.CallID]), Answer: agent.Text(answer.Text)})
		cut = i + 1
	}
	if cut > 0 {
		kept := slices.DeleteFunc(slices.Clone(r.Messages[:cut]), func(m rehearsal.Message) bool {
			return m.Role == rehearsal.Assistant || m.Role == rehearsal.Tool
		})
		r.Messages = append(kept, r.Messages[cut:]...)
	}
	return r, open && n < maxAskedBack
}

// ask asks the traveller while the trip stays open, if he can be asked, or ends
// with the question.
func (p *planner) ask(question string) (rehearsal.Reply, bool) {
	if !p.open {
		return ask(question)
	}
	return rehearsal.Reply{Calls: []rehearsal.Call{{Name: askBack, Arguments: map[string]any{"text": question}}}}, true
}
