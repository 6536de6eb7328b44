package rehearsal

import (
	"encoding/json"
	"testing"
)

func schema(t *testing.T, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGenericFillsTheFirstFunctionItCanOrAsksForWhatIsMissing(t *testing.T) {
	type object = map[string]any
	convert := Function{Name: "convert", Parameters: schema(t, object{"required": []string{"amount", "unit"},
		"properties": object{"amount": object{"type": "number"}, "unit": object{"enum": []string{"metre", "mile"}}}})}
	look := Function{Name: "look_up", Parameters: schema(t, object{"required": []string{"place_name"},
		"properties": object{"place_name": object{"type": "string"}, "day": object{"type": "string"}}})}
	inform := Function{Name: "inform", Parameters: schema(t, object{"required": []string{"text"}, "properties": object{"text": object{"type": "string"}}})}
	for name, tt := range map[string]struct {
		functions []Function
		said      string
		calls     string
		text      string
	}{
		"number and choice":        {[]Function{inform, convert}, "convert 12.5 Miles please", `{"amount":12.5,"unit":"mile"}`, ""},
		"first that can be filled": {[]Function{convert, look}, "where is Oulu", `{"place_name":"Oulu"}`, ""},
		"quoted wins":              {[]Function{look}, `"the old town" in Tallinn`, `{"place_name":"the old town"}`, ""},
		"last capitalised run":     {[]Function{look}, "from Turku to New York", `{"place_name":"New York"}`, ""},
		"whole text":               {[]Function{look}, "somewhere warm", `{"place_name":"somewhere warm"}`, ""},
		"missing number":           {[]Function{convert}, "how many miles", "", "Which amount?"},
		"missing text":             {[]Function{look}, " ", "", "Which place name?"},
		"nothing to call":          {[]Function{inform}, "hello", "", "I heard: hello"},
	} {
		t.Run(name, func(t *testing.T) {
			reply, ok := Generic(Request{Functions: tt.functions, Choice: "auto", Messages: []Message{{Role: User, Text: tt.said}}})
			if !ok {
				t.Fatal("no answer")
			}
			got := ""
			if len(reply.Calls) == 1 {
				got = string(schema(t, reply.Calls[0].Arguments))
			}
			if got != tt.calls || reply.Text != tt.text {
				t.Errorf("calls %s and says %q, want %s and %q", got, reply.Text, tt.calls, tt.text)
			}
		})
	}
}

func TestGenericTellsAResultInOneSentence(t *testing.T) {
	for result, want := range map[string]string{
		`{"outcome":"ok","result":{"city":"Oulu","celsius":-3}}`: "Celsius is -3 and city is Oulu.",
		`{"outcome":"failed","reason":"unknown-city"}`:           "That did not work: failed unknown-city.",
		`{"outcome":"retry","hint":"which year?"}`:               "which year?",
		`{"outcome":"ok","result":{}}`:                           "Done.",
		`not JSON`:                                               "Answer is not JSON.",
	} {
		reply, _ := Generic(Request{Choice: "auto", Messages: []Message{{Role: User, Text: "x"}, {Role: Tool, Text: result}}})
		if reply.Text != want {
			t.Errorf("%s is told as %q, want %q", result, reply.Text, want)
		}
	}
}

func TestGenericGivesAResultWhereACallIsRequired(t *testing.T) {
	inform := Function{Name: "inform", Parameters: json.RawMessage(`{"required":["city"],"properties":{"city":{"type":"string"}}}`)}
	reply, _ := Generic(Request{Choice: "required", Functions: []Function{inform},
		Messages: []Message{{Role: User, Text: "x"}, {Role: Tool, Text: `{"outcome":"ok","result":{"city":"Oulu"}}`}}})
	if len(reply.Calls) != 1 || string(schema(t, reply.Calls[0].Arguments)) != `{"city":"Oulu"}` {
		t.Errorf("replied %+v", reply)
	}
}
