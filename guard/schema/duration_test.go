package schema_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/parley-agents/parley/guard/schema"
)

func ExampleMilliseconds() {
	type Wait struct {
		Timeout schema.Milliseconds `json:"timeout_ms" jsonschema:"minimum=0,maximum=60000"`
	}
	s, err := schema.For[Wait]("acme.wait/v1")
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := schema.Encode(s, Wait{Timeout: schema.InMilliseconds(1500 * time.Millisecond)})
	fmt.Println(string(data), err)
	w, err := schema.Decode[Wait](s, data)
	fmt.Println(w.Timeout.Duration(), err)
	// Output:
	// {"timeout_ms":1500} <nil>
	// 1.5s <nil>
}

func ExampleInMilliseconds() {
	fmt.Println(schema.InMilliseconds(time.Nanosecond), schema.InMilliseconds(2*time.Second))
	// Output: 1 2000
}

func TestADurationThatDoesNotFitIsTheLongestThereIs(t *testing.T) {
	if d := schema.Milliseconds(math.MaxInt64).Duration(); d <= 0 || d < math.MaxInt64/2 {
		t.Errorf("the longest became %v", d)
	}
	if d := schema.Milliseconds(math.MinInt64).Duration(); d >= 0 {
		t.Errorf("the shortest became %v", d)
	}
}
