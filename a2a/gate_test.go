package a2a

import (
	"net/http"
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
)

func TestARequestToANameThatIsNotTheServersIsRefused(t *testing.T) {
	s := newSite(t, Config{BaseURL: "https://agents.example/a2a", Hosts: []string{"Inner.example"}}, &scripted{})
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "LOCALHOST:99": 200, "127.0.0.1": 200, "[::1]:80": 200,
		"agents.example": 200, "agents.example:8443": 200, "inner.example": 200, "agents.example.": 200,
		"evil.example": 421, "127.0.0.1.evil.example": 421, "10.1.2.3": 421, "agents.example.evil.example": 421,
	} {
		if r := s.ask("GET", "/tasks", "", "Host", host); r.StatusCode != want {
			t.Errorf("Host %q: %d, want %d", host, r.StatusCode, want)
		}
	}
	s.ask("GET", wire.CardPath, "", "Host", "evil.example").expect(t, http.StatusMisdirectedRequest, wire.PermissionDenied)
	any := newSite(t, Config{Hosts: []string{"*"}}, &scripted{})
	if r := any.ask("GET", "/tasks", "", "Host", "evil.example"); r.StatusCode != http.StatusOK {
		t.Errorf("got %d", r.StatusCode)
	}
}

func TestThePagesOfOtherSitesMayNotCall(t *testing.T) {
	s := newSite(t, Config{Origins: []string{"https://console.example"}}, &scripted{})
	for _, c := range []struct {
		headers []string
		want    int
	}{
		{nil, 200},
		{[]string{"Origin", "https://evil.example"}, 403},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Origin", "null"}, 403},
		{[]string{"Sec-Fetch-Site", "same-origin"}, 200},
		{[]string{"Origin", "https://console.example", "Sec-Fetch-Site", "cross-site"}, 200},
	} {
		r := s.rpc("/", wire.SendMessage, aMessage, c.headers...)
		if r.StatusCode != c.want {
			t.Errorf("%v: %d %s, want %d", c.headers, r.StatusCode, r.body, c.want)
		}
	}
}

func TestNoOriginIsReflected(t *testing.T) {
	s := newSite(t, Config{Origins: []string{"https://console.example"}}, &scripted{})
	for origin, want := range map[string]string{"https://evil.example": "", "https://console.example": "https://console.example"} {
		for _, path := range []string{wire.CardPath, "/tasks"} {
			r := s.ask("GET", path, "", "Origin", origin)
			if got := r.Header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s from %s: allowed %q", path, origin, got)
			}
			if r.Header.Get("Access-Control-Allow-Credentials") != "" || r.Header.Get("Vary") != "Origin" {
				t.Errorf("%s from %s: %v", path, origin, r.Header)
			}
		}
	}
	ask := []string{"Access-Control-Request-Method", "POST", "Origin"}
	if r := s.ask("OPTIONS", "/", "", append(ask, "https://console.example")...); r.StatusCode != http.StatusNoContent || r.Header.Get("Access-Control-Allow-Methods") == "" {
		t.Errorf("got %d %v", r.StatusCode, r.Header)
	}
	if r := s.ask("OPTIONS", "/", "", append(ask, "https://evil.example")...); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("got %d", r.StatusCode)
	}
}

func TestAnOriginThatIsNoneIsAFaultOfTheConfiguration(t *testing.T) {
	_, err := newServer(Config{Origins: []string{"console.example"}}, nil, nil, &served{name: "a", uri: "agent://local/a"})
	if err == nil {
		t.Error("want an error")
	}
}
