package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOnlyVersion1Point0IsSpoken(t *testing.T) {
	for _, tt := range []struct{ header, query string }{{"1.0", ""}, {" 1.0 ", ""}, {"1.0.1", ""}, {"", "1.0"}, {"1.0", "0.3"}, {"1.0.10", ""}} {
		if err := CheckVersion(tt.header, tt.query); err != nil {
			t.Errorf("%q %q: %v", tt.header, tt.query, err)
		}
	}
	for _, tt := range []struct{ header, query string }{
		{"", ""}, {"0.3", "1.0"}, {"99.0", ""}, {"1.1", ""}, {"1", ""}, {"1.", ""}, {"1.0.", ""}, {"1.0.x", ""}, {"1.00", ""},
		{"v1.0", ""}, {"1.0, 0.3", ""}, {"2.0", ""}, {"", "0.3"}, {strings.Repeat("9", 1000), ""},
	} {
		var e *Error
		if err := CheckVersion(tt.header, tt.query); !errors.As(err, &e) || e.Kind != VersionNotSupported || len(e.Message) > 200 ||
			e.Info["supportedVersions"] != "1.0" {
			t.Errorf("%q %q: got %v", tt.header, tt.query, err)
		}
	}
	if err := CheckVersion("", ""); !strings.Contains(err.Error(), `"0.3"`) {
		t.Errorf("no version: got %v", err)
	}
}

func TestExtensionsAreListedOnceInTheirOrder(t *testing.T) {
	got := ParseExtensions([]string{"b, a,,", "", " a ,c"})
	if want := []string{"b", "a", "c"}; !slices.Equal(got, want) || FormatExtensions(got) != "b,a,c" {
		t.Errorf("got %q, want %q", got, want)
	}
	if ParseExtensions(nil) != nil || FormatExtensions(nil) != "" {
		t.Error("none is not none")
	}
}

func TestAWaitIsSecondsOrADate(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"3": 3 * time.Second, "0": 0, "": 0, "-3": 0, "soon": 0, "1.5": 0, "99999999999999999999": 0,
		"Sun, 01 Mar 2026 12:00:30 GMT": 30 * time.Second,
		"Sun, 01 Mar 2026 11:59:30 GMT": 0,
	} {
		if got := ParseRetryAfter(value, now); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
	for d, want := range map[time.Duration]string{time.Millisecond: "1", time.Second: "1", 1001 * time.Millisecond: "2", 0: "0"} {
		if got := FormatRetryAfter(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
