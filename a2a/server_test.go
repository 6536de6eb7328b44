package a2a

import (
	"net/http"
	"strings"
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
)

// operations are the eleven in both bindings: parameters of JSON-RPC, and
// method, path and body of HTTP+JSON.
var operations = []struct {
	method               wire.Method
	params               string
	verb, path, restBody string
}{
	{wire.SendMessage, aMessage, "POST", "/message:send", aMessage},
	{wire.SendStreamingMessage, aMessage, "POST", "/message:stream", aMessage},
	{wire.GetTask, `{"id":"t1"}`, "GET", "/tasks/t1", ""},
	{wire.ListTasks, `{}`, "GET", "/tasks", ""},
	{wire.CancelTask, `{"id":"t1"}`, "POST", "/tasks/t1:cancel", ""},
	{wire.SubscribeToTask, `{"id":"t1"}`, "GET", "/tasks/t1:subscribe", ""},
	{wire.CreatePushConfig, `{"taskId":"t1","url":"https://hook.example"}`, "POST", "/tasks/t1/pushNotificationConfigs", `{"url":"https://hook.example"}`},
	{wire.GetPushConfig, `{"taskId":"t1","id":"c1"}`, "GET", "/tasks/t1/pushNotificationConfigs/c1", ""},
	{wire.ListPushConfigs, `{"taskId":"t1"}`, "GET", "/tasks/t1/pushNotificationConfigs", ""},
	{wire.DeletePushConfig, `{"taskId":"t1","id":"c1"}`, "DELETE", "/tasks/t1/pushNotificationConfigs/c1", ""},
	{wire.GetExtendedAgentCard, `{}`, "GET", "/extendedAgentCard", ""},
}

// withExtended is a configuration in which all eleven can succeed.
func withExtended() Config {
	return Config{ExtendedCard: keepCard}
}

func TestEveryOperationIsServedInBothBindingsAtTheRootAndByName(t *testing.T) {
	var got []wire.Method
	s := newSite(t, withExtended(), &scripted{called: func(m wire.Method, _ wire.Call, _ wire.Object) { got = append(got, m) }})
	for _, op := range operations {
		for _, at := range []string{"", "/flights", "/hotels"} {
			got = nil
			for _, slash := range []string{"", "/"} {
				if r := s.rpc(at+slash, op.method, op.params); r.StatusCode != http.StatusOK || r.fault(t) != nil {
					t.Errorf("%s by JSON-RPC at %q: %d %s", op.method, at+slash, r.StatusCode, r.body)
				}
			}
			if r := s.ask(op.verb, at+op.path, op.restBody); r.StatusCode != http.StatusOK || r.fault(t) != nil {
				t.Errorf("%s at %s%s: %d %s", op.method, at, op.path, r.StatusCode, r.body)
			}
			if op.method != wire.GetExtendedAgentCard && (len(got) != 3 || got[0] != op.method || got[2] != op.method) {
				t.Errorf("%s at %q called %v", op.method, at, got)
			}
		}
	}
}

func TestEveryOperationRefusesEveryOtherVersion(t *testing.T) {
	s := newSite(t, withExtended(), &scripted{called: func(m wire.Method, _ wire.Call, _ wire.Object) { t.Errorf("%s was called", m) }})
	for _, op := range operations {
		for _, v := range []struct{ name, header, query string }{
			{"missing", "", ""}, {"header 99.0", "99.0", ""}, {"query 99.0", "", "99.0"}, {"header before query", "0.3", "1.0"}, {"1", "1", ""},
		} {
			query := ""
			if v.query != "" {
				query = "?A2A-Version=" + v.query
			}
			e := s.ask("POST", "/"+query, `{"jsonrpc":"2.0","id":7,"method":"`+string(op.method)+`","params":`+op.params+`}`,
				"A2A-Version", v.header).expect(t, http.StatusOK, wire.VersionNotSupported)
			if !strings.Contains(e.Message, wire.Version) {
				t.Errorf("%s, %s: %q does not name the version", op.method, v.name, e.Message)
			}
			s.ask(op.verb, op.path+query, op.restBody, "A2A-Version", v.header).expect(t, http.StatusBadRequest, wire.VersionNotSupported)
		}
	}
}

func TestTheVersionMayStandInTheQueryOrHaveAPatchNumber(t *testing.T) {
	s := newSite(t, withExtended(), &scripted{})
	for _, op := range operations {
		for _, v := range []struct{ header, query string }{{"", "?A2A-Version=1.0"}, {"1.0.1", ""}} {
			if r := s.ask(op.verb, op.path+v.query, op.restBody, "A2A-Version", v.header); r.StatusCode != http.StatusOK {
				t.Errorf("%s, %v: %d %s", op.method, v, r.StatusCode, r.body)
			}
			if r := s.rpc("/"+v.query, op.method, op.params, "A2A-Version", v.header); r.fault(t) != nil {
				t.Errorf("%s by JSON-RPC, %v: %d %s", op.method, v, r.StatusCode, r.body)
			}
		}
	}
}

func TestTheVersionIsJudgedBeforeAllElseThatARequestSays(t *testing.T) {
	s := newSite(t, Config{}, &scripted{})
	for name, r := range map[string]reply{
		"malformed":      s.ask("POST", "/", `{`, "A2A-Version", ""),
		"unknown method": s.rpc("/", "Dance", `{}`, "A2A-Version", ""),
		"media type":     s.rpc("/", wire.GetTask, `{}`, "A2A-Version", "", "Content-Type", "text/plain"),
		"parameters":     s.rpc("/", wire.GetTask, `[]`, "A2A-Version", "2.0"),
	} {
		t.Run(name, func(t *testing.T) { r.expect(t, http.StatusOK, wire.VersionNotSupported) })
	}
	s.ask("POST", "/message:send", `{`, "A2A-Version", "").expect(t, http.StatusBadRequest, wire.VersionNotSupported)
}

func TestAMethodThatNobodyKnowsIsRefusedAsTheProtocolHasIt(t *testing.T) {
	s := newSite(t, Config{}, &scripted{})
	for _, method := range []string{"LOCK", "FOO", "PATCH"} {
		for _, path := range []string{"", "/", "/tasks", "/flights", "/flights/tasks/t1", wire.CardPath} {
			r := s.ask(method, path, "")
			r.expect(t, http.StatusMethodNotAllowed, wire.MethodNotFound)
			if r.Header.Get("Allow") == "" || r.Header.Get(headerRequestID) == "" {
				t.Errorf("%s %s: %v", method, path, r.Header)
			}
		}
	}
}

func TestAQueryThatCannotBeReadIsNotReadInPart(t *testing.T) {
	s := newSite(t, Config{}, &scripted{called: func(m wire.Method, _ wire.Call, _ wire.Object) { t.Errorf("%s was called", m) }})
	for _, query := range []string{"contextId=a%zz", "contextId=a;status=TASK_STATE_WORKING", "%", "pageSize=1&contextId=%f"} {
		s.ask("GET", "/tasks?"+query, "").expect(t, http.StatusBadRequest, wire.InvalidParams)
	}
}
