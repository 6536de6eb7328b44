package a2a

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
)

func flightsOrHotels(name string) bool { return name == "flights" || name == "hotels" }

func TestAPathLeadsToOnePlace(t *testing.T) {
	for _, c := range []struct {
		method, path string
		want         place
	}{
		{"POST", "", place{face: rpcFace}},
		{"POST", "flights", place{agent: "flights", face: rpcFace}},
		{"POST", "flights/", place{agent: "flights", face: rpcFace}},
		{"GET", "hotels/.well-known/agent-card.json", place{agent: "hotels", face: cardFace}},
		{"HEAD", ".well-known/agent-card.json", place{face: cardFace}},
		{"GET", "tasks/t%2F1", place{face: restFace, route: wire.Route{Method: wire.GetTask, Task: "t/1"}}},
		{"GET", "tasks/t%3Acancel", place{face: restFace, route: wire.Route{Method: wire.GetTask, Task: "t:cancel"}}},
		{"POST", "tasks/t:cancel", place{face: restFace, route: wire.Route{Method: wire.CancelTask, Task: "t"}}},
		{"POST", "tasks/t:subscribe", place{face: restFace, route: wire.Route{Method: wire.SubscribeToTask, Task: "t"}}},
		{"POST", "acme/message:send", place{face: restFace, route: wire.Route{Method: wire.SendMessage, Tenant: "acme"}}},
		{"GET", "flights/acme/tasks", place{agent: "flights", face: restFace, route: wire.Route{Method: wire.ListTasks, Tenant: "acme"}}},
		{"GET", "flights/hotels/tasks", place{agent: "flights", face: restFace, route: wire.Route{Method: wire.ListTasks, Tenant: "hotels"}}},
		{"GET", "hotels/tasks", place{agent: "hotels", face: restFace, route: wire.Route{Method: wire.ListTasks}}},
		{"GET", "tasks/tasks", place{face: restFace, route: wire.Route{Method: wire.GetTask, Task: "tasks"}}},
	} {
		if got, _, ok := parsePath(c.method, c.path, flightsOrHotels); !ok || got != c.want {
			t.Errorf("%s %q: %+v, %v, want %+v", c.method, c.path, got, ok, c.want)
		}
	}
}

func TestAPathThatLeadsNowhereIsNotFoundAndAWrongMethodIsNamed(t *testing.T) {
	s := newSite(t, Config{}, &scripted{})
	for _, path := range []string{"/acme", "/acme/", "/flights/acme", "/tasks/", "//tasks", "/a/b/tasks", "/.well-known/agent.json", "/acme/.well-known/agent-card.json", "/message:dance"} {
		for _, method := range []string{"GET", "POST"} {
			if r := s.ask(method, path, ""); r.StatusCode != http.StatusNotFound || r.fault(t) == nil {
				t.Errorf("%s %s: %d %s", method, path, r.StatusCode, r.body)
			}
		}
	}
	for _, c := range []struct{ method, path, allow string }{
		{"GET", "/", "POST"}, {"GET", "/message:send", "POST"}, {"PUT", "/tasks", "GET"}, {"POST", wire.CardPath, "GET, HEAD"},
		{"DELETE", "/tasks/t:subscribe", "GET, POST"}, {"PATCH", "/tasks/t/pushNotificationConfigs/c", "DELETE, GET"},
		{"OPTIONS", "/flights/tasks/t:cancel", "POST"},
	} {
		if r := s.ask(c.method, c.path, ""); r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, allows %q", c.method, c.path, r.StatusCode, r.Header.Get("Allow"))
		}
	}
}

func TestATenantIsPartOfTheRequestInEveryOperation(t *testing.T) {
	var got wire.Object
	cfg := withExtended()
	var tenant string
	cfg.Authorize = func(_ context.Context, a Access) error { tenant = a.Tenant; return nil }
	s := newSite(t, cfg, &scripted{called: func(_ wire.Method, _ wire.Call, r wire.Object) { got = r }})
	for _, op := range operations {
		got = nil
		if r := s.ask(op.verb, "/flights/acme"+op.path, op.restBody); r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", op.method, r.StatusCode, r.body)
			continue
		}
		if tenant != "acme" {
			t.Errorf("%s: authorized for tenant %q", op.method, tenant)
		}
		if op.method != wire.GetExtendedAgentCard && !strings.Contains(string(wire.Encode(got)), `"tenant":"acme"`) {
			t.Errorf("%s: %s", op.method, wire.Encode(got))
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, op := range operations {
		f.Add(op.verb, op.path[1:])
		f.Add(op.verb, "flights/acme"+op.path)
	}
	f.Add("POST", "%zz/%2f/:")
	f.Fuzz(func(t *testing.T, method, path string) {
		p, allow, ok := parsePath(method, path, flightsOrHotels)
		if ok != strings.Contains(" "+strings.Join(allow, " ")+" ", " "+method+" ") || ok && len(allow) == 0 {
			t.Errorf("%s %q: %v, allows %v", method, path, ok, allow)
		}
		if p.agent != "" && !flightsOrHotels(p.agent) {
			t.Errorf("%q is not an agent", p.agent)
		}
		if !ok || p.face != restFace {
			return
		}
		if !p.route.Method.Known() {
			t.Errorf("%s %q is the operation %q", method, path, p.route.Method)
		}
		// What was read can be written, and is read again as the same.
		again := p.agent
		if p.route.Tenant != "" {
			again += "/" + url.PathEscape(p.route.Tenant)
		}
		if p.route.Method == wire.GetTask && p.agent != "" {
			again += "/tasks/" + strings.ReplaceAll(url.PathEscape(p.route.Task), ":", "%3A")
			if q, _, ok := parsePath(method, again, flightsOrHotels); !ok || q != p {
				t.Errorf("%q gives %+v, %q gives %+v", path, p, again, q)
			}
		}
	})
}
