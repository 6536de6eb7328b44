package repair_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/repair"
)

func forecastSchema() *schema.Schema {
	s, err := schema.Parse([]byte(`{
		"type": "object", "additionalProperties": false, "required": ["city", "days"],
		"properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 14}}}`))
	if err != nil {
		panic(err)
	}
	return s
}

func ExampleMend() {
	raw := "<think>Oulu, then.</think>\n```json\n{'city': 'Oulu', days: 4,}\n```"
	mended := repair.Mend([]byte(raw), forecastSchema(), repair.Options{Finish: llm.FinishStop})
	fmt.Println(mended.Outcome, string(mended.Value))
	for _, fix := range mended.Fixes {
		fmt.Println(fix.Op, fix.Offset)
	}
	// Output:
	// repaired {"city":"Oulu","days":4}
	// reasoning 0
	// fence 27
	// quotes 36
	// quotes 44
	// bare-key 52
	// trailing-comma 59
}

func ExampleMend_cut() {
	mended := repair.Mend([]byte(`{"city":"Oulu","days":1`), forecastSchema(), repair.Options{Finish: llm.FinishStop})
	fmt.Println(mended.Outcome, mended.Violations[0]) // it may have been 12
	// Output: needs-model truncated
}

func ExampleMatchFunction() {
	known := []string{"search", "book"}
	fmt.Println(repair.MatchFunction("default_api:search", known))
	fmt.Println(repair.MatchFunction("seach", known))
	// Output:
	// search true
	//  false
}

// corrector is a model that knows how long a forecast may be.
type corrector struct{}

func (corrector) Complete(context.Context, llm.Request) (*llm.Response, error) {
	return &llm.Response{
		Calls:  []llm.Call{{ID: "1", Name: "repair", Arguments: `{"ptr":"/days","value":14}`}},
		Finish: llm.FinishCalls,
		Usage:  llm.Usage{InputTokens: 240, OutputTokens: 12},
	}, nil
}

func ExampleRepairer_Fix() {
	r := repair.Repairer{Model: corrector{}, Observe: func(e repair.Event) { fmt.Println(e.Kind, e.Outcome) }}
	result, err := r.Fix(context.Background(), repair.Attempt{
		Raw:     []byte(`{"city":"Oulu","days":30}`),
		Schema:  forecastSchema(),
		Options: repair.Options{Finish: llm.FinishCalls},
		Usage:   llm.Usage{OutputTokens: 15},
	})
	if gaveUp, ok := errors.AsType[*repair.GaveUp](err); ok {
		fmt.Println("no value:", gaveUp)
		return
	}
	if err != nil {
		fmt.Println("the model was not reached:", err)
		return
	}
	fmt.Println(string(result.Value), result.Tries, result.Violations[0])
	// Output:
	// mend needs-model
	// re-ask repaired
	// {"city":"Oulu","days":14} 1 maximum at /days
}
