package strictjson

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"
)

func TestWhatIsBuiltIsReadBack(t *testing.T) {
	east := time.Date(2026, 1, 1, 1, 0, 0, 1000, time.FixedZone("", 2*60*60))
	const odd = "a \"name\" \\ of\n<others>"
	o := Builder("before").Open().Text("absent", "").Text("text", odd).Foreign(odd).Open().Number("zero", 0).Shut()
	o = o.Count("absent", 0).Count("most", math.MaxInt64).Number("least", math.MinInt64).Flag("absent", false).Flag("flag", true).Boolean("no", false)
	o = o.Time("absent", time.Time{}).Time("time", east).Bytes("absent", nil).Bytes("bytes", []byte{0xfb, 0xff}).Texts("absent", []string{})
	o = o.Texts("texts", []string{"", odd}).Raw("absent", "").Raw("raw", "null").Shut()
	var got map[string]json.RawMessage
	if err := json.Unmarshal(o[len("before"):], &got); err != nil {
		t.Fatalf("%s: %v", o, err)
	}
	quoted := `"a \"name\" \\ of\n<others>"`
	want := map[string]json.RawMessage{}
	for name, value := range map[string]string{"text": quoted, odd: `{"zero":0}`, "most": "9223372036854775807", "least": "-9223372036854775808",
		"flag": "true", "no": "false", "time": `"2025-12-31T23:00:00.000001Z"`, "bytes": `"-_8"`, "texts": `["",` + quoted + `]`, "raw": "null"} {
		want[name] = json.RawMessage(value)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s, want %s", o, want)
	}
}
