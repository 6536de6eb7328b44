package repair

import (
	"bytes"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/llm"
)

// answerSchema is the shape of an answer. What the value must be is checked in its place.
const answerSchema = `{"type":"object","additionalProperties":false,"required":["ptr","value"],` +
	`"properties":{"ptr":{"type":"string"},"value":{}}}`

// merge puts an answer in its place and judges the whole. If the answer is of no use, the draft stays as it was.
func (s *session) merge(q question, response *llm.Response) (Mended, draft) {
	useless := func(want string) (Mended, draft) {
		return Mended{Outcome: NeedsModel, Violations: []Violation{{Rule: "reply", Pointer: q.Ptr, Want: want}}}, s.draft
	}
	raw := []byte(response.Text)
	switch len(response.Calls) {
	case 0:
	case 1:
		call := response.Calls[0]
		if _, ok := MatchFunction(call.Name, []string{functionName}); !ok {
			return useless("a call of " + functionName)
		}
		raw = []byte(call.Arguments)
	default:
		return useless("one call")
	}
	if bytes.Contains(raw, []byte(q.nonce)) {
		return useless("an answer without the mark")
	}
	o := s.attempt.Options
	o.Finish = response.Finish
	node, ok := answered(raw, q.Ptr, o)
	if !ok {
		if q.Ptr != "" || len(bytes.TrimSpace(raw)) == 0 {
			return useless("the replacement of one place")
		}
		// Some models give the value without the wrapping.
		mended, d := mend(raw, s.attempt.Schema, o)
		if mended.Outcome != OK && mended.Outcome != Repaired {
			return useless("the replacement of one place")
		}
		return mended, d
	}
	whole, ok := s.placed(q.Ptr, node)
	if !ok {
		return useless("a value within the limits")
	}
	v := value{tree: whole}
	if q.Ptr != "" {
		v.fixes = s.draft.fixes // they still hold outside the replaced part
	}
	return fit(v, s.attempt.Schema, o)
}

// answered reads {"ptr":…,"value":…} for one place.
func answered(raw []byte, ptr string, o Options) (any, bool) {
	shape, err := schema.Parse([]byte(answerSchema))
	if err != nil {
		return nil, false
	}
	o.Exact = func(string) bool { return true }
	mended := Mend(raw, shape, o)
	if mended.Outcome != OK && mended.Outcome != Repaired {
		return nil, false
	}
	tree, err := strictjson.Tree(mended.Value, limits)
	if err != nil {
		return nil, false
	}
	object, _ := tree.(map[string]any)
	return object["value"], object["ptr"] == ptr
}

// placed returns a copy of the draft's tree with a node in its place; false if the whole breaks the strict limits.
func (s *session) placed(ptr string, node any) (any, bool) {
	whole := node
	if ptr != "" {
		copied, err := strictjson.Tree(canonical(s.draft.tree), limits)
		if err != nil {
			return nil, false
		}
		var ok bool
		if whole, ok = replace(copied, ptr, node); !ok {
			return nil, false
		}
	}
	checked, err := strictjson.Tree(canonical(whole), limits)
	return checked, err == nil
}
