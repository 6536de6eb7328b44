package transcript_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/parley-agents/parley/transcript"
)

func TestDatesOfTheECMAScriptFormatAreRead(t *testing.T) {
	day := time.Date(2027, 3, 14, 0, 0, 0, 0, time.UTC)
	nine := day.Add(9 * time.Hour)
	for text, want := range map[string]time.Time{
		"2027":                           time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
		"2027-03":                        time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
		"2027-03-14":                     day,
		"2027-02-30":                     time.Date(2027, 3, 2, 0, 0, 0, 0, time.UTC),
		"+002027-03-14":                  day,
		"-000001-12-31":                  time.Date(-1, 12, 31, 0, 0, 0, 0, time.UTC),
		"+275760-09-13":                  time.Date(275760, 9, 13, 0, 0, 0, 0, time.UTC),
		"-271821-04-20":                  time.Date(-271821, 4, 20, 0, 0, 0, 0, time.UTC),
		"2027-03T09:00Z":                 time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC),
		"2027-03-14T09:00":               nine,
		"2027-03-14T09:00:00":            nine,
		"2027-03-14T09:00:00Z":           nine,
		"2027-03-14t09:00:00z":           nine,
		"2027-03-14T24:00:00.000Z":       day.AddDate(0, 0, 1),
		"2027-03-14T09:00:00.5Z":         nine.Add(500 * time.Millisecond),
		"2027-03-14T09:00:00.123999999Z": nine.Add(123 * time.Millisecond),
		"2027-03-14T09:00:00+05:30":      nine.Add(-5*time.Hour - 30*time.Minute),
		"2027-03-14T09:00-23:59":         nine.Add(23*time.Hour + 59*time.Minute),
	} {
		var got transcript.Time
		if err := got.UnmarshalJSON(encode(t, text)); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v (%v), want %v", text, got, err, want)
		}
	}
}

func TestOtherDatesAreNotRead(t *testing.T) {
	for _, text := range []string{
		"", "noon", "5", "20270314", "2027-3-14", "2027-00", "2027-13", "2027-03-00", "2027-03-32", "2027-03-14T", "2027-03-14T09",
		"2027-03-14T09:0", "2027-03-14T25:00Z", "2027-03-14T24:00:01Z", "2027-03-14T24:00:00.001Z", "2027-03-14T09:60Z",
		"2027-03-14T09:00:60Z", "2027-03-14T09:00:00.Z", "2027-03-14T09:00:00,5Z", "2027-03-14T09:00+24:00", "2027-03-14T09:00+01:60",
		"2027-03-14T09:00+0100", "2027-03-14T09:00+01", "2027-03-14T09:00ZZ", "2027-03-14Z", "2027-03-14 09:00Z", " 2027-03-14", "2027-03-14 ",
		"-000000-01-01", "+2027-03-14", "+275760-09-13T00:00:00.001Z", "-271821-04-19", "Sun, 14 Mar 2027 09:00:00 GMT", "٢٠٢٧-03-14",
	} {
		var got transcript.Time
		if err := got.UnmarshalJSON(encode(t, text)); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if err := json.Unmarshal([]byte(`{"observedAt":5}`), new(transcript.Trace)); err == nil {
		t.Error("a number is read as a date")
	}
}

func TestATimeIsWrittenInUTCWithMilliseconds(t *testing.T) {
	at := time.Date(2027, 3, 14, 9, 0, 0, 1_999_999, time.FixedZone("", 3600))
	if got := string(encode(t, transcript.At(at))); got != `"2027-03-14T08:00:00.001Z"` {
		t.Error(got)
	}
	for _, year := range []int{-1, 10_000} {
		if _, err := json.Marshal(transcript.At(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC))); err == nil {
			t.Errorf("the year %d is written", year)
		}
	}
}

func TestATraceIsReadAsItWasWritten(t *testing.T) {
	data := encode(t, trace())
	if got := transcript.Validate(data); !got.Valid {
		t.Fatalf("%+v", got)
	}
	var read transcript.Trace
	must(t, json.Unmarshal(data, &read))
	if again := encode(t, read); string(again) != string(data) {
		t.Errorf("got %s, want %s", again, data)
	}
}

func TestAListIsNeverNull(t *testing.T) {
	empty := trace()
	empty.Gathers, empty.Messages[1].GatherID, empty.Messages[2].GatherID = nil, nil, nil
	if got := transcript.Validate(encode(t, empty)); !got.Valid {
		t.Errorf("%+v", got)
	}
}
