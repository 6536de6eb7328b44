package wire

import (
	"errors"
	"net/url"
	"reflect"
	"testing"
)

func TestEveryPathNamesItsOperation(t *testing.T) {
	for path, want := range map[string]Route{
		"POST /message:send":                           {Method: SendMessage},
		"POST /message:stream":                         {Method: SendStreamingMessage},
		"GET /tasks":                                   {Method: ListTasks},
		"GET /tasks/t":                                 {Method: GetTask, Task: "t"},
		"POST /tasks/t:cancel":                         {Method: CancelTask, Task: "t"},
		"GET /tasks/t:subscribe":                       {Method: SubscribeToTask, Task: "t"},
		"POST /tasks/t:subscribe":                      {Method: SubscribeToTask, Task: "t"},
		"POST /tasks/t/pushNotificationConfigs":        {Method: CreatePushConfig, Task: "t"},
		"GET /tasks/t/pushNotificationConfigs":         {Method: ListPushConfigs, Task: "t"},
		"GET /tasks/t/pushNotificationConfigs/c":       {Method: GetPushConfig, Task: "t", Config: "c"},
		"DELETE /tasks/t/pushNotificationConfigs/c":    {Method: DeletePushConfig, Task: "t", Config: "c"},
		"GET /extendedAgentCard":                       {Method: GetExtendedAgentCard},
		"POST /acme/message:send":                      {Method: SendMessage, Tenant: "acme"},
		"GET /acme/tasks":                              {Method: ListTasks, Tenant: "acme"},
		"GET /acme/tasks/t":                            {Method: GetTask, Tenant: "acme", Task: "t"},
		"DELETE /a/tasks/t/pushNotificationConfigs/c":  {Method: DeletePushConfig, Tenant: "a", Task: "t", Config: "c"},
		"GET /tasks/tasks":                             {Method: GetTask, Task: "tasks"},
		"GET /tasks/tasks/t":                           {Method: GetTask, Tenant: "tasks", Task: "t"},
		"GET /tasks/a:b":                               {Method: GetTask, Task: "a:b"},
		"GET /tasks/a%3Acancel":                        {Method: GetTask, Task: "a:cancel"},
		"GET /tasks/a%2Fb%20c":                         {Method: GetTask, Task: "a/b c"},
		"GET /a%2Fb/tasks/t":                           {Method: GetTask, Tenant: "a/b", Task: "t"},
		"POST /tasks/a%3Asubscribe:cancel":             {Method: CancelTask, Task: "a:subscribe"},
		"GET /tasks/%C3%A9/pushNotificationConfigs/..": {Method: GetPushConfig, Task: "é", Config: ".."},
	} {
		method, target := cut(path)
		got, err := ParseRoute(method, target)
		if err != nil || got != want {
			t.Errorf("%s: got %+v (%v), want %+v", path, got, err, want)
		}
	}
}

func cut(line string) (method, target string) {
	for i := range line {
		if line[i] == ' ' {
			return line[:i], line[i+1:]
		}
	}
	return line, ""
}

func TestAnotherPathOrMethodIsNotFound(t *testing.T) {
	for _, path := range []string{
		"GET /", "GET ", "GET /message:send", "PUT /message:send", "POST /tasks", "POST /tasks/t", "GET /tasks/", "GET /tasks/t:cancel",
		"POST /tasks/:cancel", "DELETE /tasks/t", "GET /tasks/t/pushNotificationConfigs/", "GET /tasks//pushNotificationConfigs",
		"DELETE /tasks/t/pushNotificationConfigs", "PUT /tasks/t/pushNotificationConfigs/c", "GET //tasks/t", "GET /a/b/tasks/t",
		"GET /tasks/%zz", "GET /%zz/tasks/t", "GET /tasks/t/other", "GET /a/tasks/t/pushNotificationConfigs/c/d", "POST /extendedAgentCard",
	} {
		var e *Error
		if r, err := ParseRoute(cut(path)); !errors.As(err, &e) || e.Kind != MethodNotFound {
			t.Errorf("%s: got %+v (%v)", path, r, err)
		}
	}
}

func TestAQuerySaysWhatABodyWould(t *testing.T) {
	ten := 10
	for _, tt := range []struct {
		path, query string
		into, want  Object
	}{
		{"/tasks/t", "historyLength=10", new(GetTaskRequest), &GetTaskRequest{ID: "t", HistoryLength: &ten}},
		{"/acme/tasks/t", "history_length=10&A2A-Version=1.0&x=1&x=2", new(GetTaskRequest), &GetTaskRequest{Tenant: "acme", ID: "t", HistoryLength: &ten}},
		{"/tasks/t", "id=t&tenant=acme", new(GetTaskRequest), &GetTaskRequest{Tenant: "acme", ID: "t"}},
		{"/tasks", "contextId=c&status=TASK_STATE_WORKING&pageSize=50&pageToken=p&includeArtifacts=true", new(ListTasksRequest),
			&ListTasksRequest{ContextID: "c", Status: Working, PageSize: 50, PageToken: "p", IncludeArtifacts: true}},
		{"/tasks", "context_id=c&status=2&page_size=&include_artifacts=false", new(ListTasksRequest), &ListTasksRequest{ContextID: "c", Status: Working}},
		{"/tasks/t/pushNotificationConfigs", "pageSize=2", new(ListPushConfigsRequest), &ListPushConfigsRequest{TaskID: "t", PageSize: 2}},
		{"/tasks/t/pushNotificationConfigs/c", "", new(PushConfigRequest), &PushConfigRequest{TaskID: "t", ID: "c"}},
	} {
		r, err := ParseRoute("GET", tt.path)
		if err != nil {
			t.Fatal(err)
		}
		query, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Decode(query, nil, tt.into); err != nil || !reflect.DeepEqual(tt.into, tt.want) {
			t.Errorf("%s?%s: got %+v (%v), want %+v", tt.path, tt.query, tt.into, err, tt.want)
		}
	}
}

func TestAFaultyQueryIsRefusedWithItsPlace(t *testing.T) {
	for query, field := range map[string]string{
		"pageSize=150":                       "pageSize",
		"pageSize=ten":                       "pageSize",
		"pageSize=1&pageSize=2":              "pageSize",
		"pageSize=1&page_size=1":             "pageSize",
		"historyLength=-5":                   "historyLength",
		"status=TASK_STATE_RUNNING":          "status",
		"status=9":                           "status",
		"includeArtifacts=yes":               "includeArtifacts",
		"statusTimestampAfter=yesterday":     "statusTimestampAfter",
		"statusTimestampAfter=1735689600000": "statusTimestampAfter",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		var e *Error
		if err := (Route{Method: ListTasks}).Decode(values, nil, new(ListTasksRequest)); !errors.As(err, &e) || e.Kind != InvalidParams || e.Field != field {
			t.Errorf("%s: got %v", query, err)
		}
	}
}

func TestABodyMayRepeatThePathButNotContradictIt(t *testing.T) {
	r := Route{Method: CreatePushConfig, Tenant: "acme", Task: "t"}
	for _, body := range []string{
		`{"url":"u"}`, `{"url":"u","taskId":"t"}`, `{"url":"u","task_id":"t","tenant":"acme"}`, ` {"url":"u","taskId":"","tenant":null} `,
	} {
		var p PushConfig
		if err := r.Decode(nil, []byte(body), &p); err != nil || p.TaskID != "t" || p.Tenant != "acme" || p.URL != "u" {
			t.Errorf("%s: got %+v (%v)", body, p, err)
		}
	}
	for body, want := range map[string]Error{
		`{"url":"u","taskId":"other"}`: {Kind: InvalidParams, Field: "taskId"},
		`{"url":"u","task_id":7}`:      {Kind: InvalidParams, Field: "taskId"},
		`{"url":"u","tenant":"evil"}`:  {Kind: InvalidParams, Field: "tenant"},
		`{}`:                           {Kind: InvalidParams, Field: "url"},
		``:                             {Kind: InvalidParams, Field: "url"},
		`[]`:                           {Kind: InvalidParams},
		`{"url":"u"`:                   {Kind: ParseError},
	} {
		var e *Error
		if err := r.Decode(nil, []byte(body), new(PushConfig)); !errors.As(err, &e) || e.Kind != want.Kind || e.Field != want.Field {
			t.Errorf("%s: got %v", body, err)
		}
	}
	if err := (Route{Method: CancelTask, Task: "t"}).Decode(nil, nil, new(CancelTaskRequest)); err != nil {
		t.Errorf("no body: %v", err)
	}
}

func TestAnIDStaysApartFromTheVerbBehindIt(t *testing.T) {
	for _, id := range []string{"a:cancel", "a:subscribe", "a/b", "..", ".", "a?b#c", "%3A", "é "} {
		method, target, _ := EncodeREST(GetTask, &GetTaskRequest{ID: id})
		r, err := ParseRoute(method, target)
		if want := (Route{Method: GetTask, Task: id}); err != nil || r != want {
			t.Errorf("%s: got %+v (%v)", target, r, err)
		}
		u, err := url.Parse("https://a.example" + target)
		if err != nil || u.EscapedPath() != target || u.RawQuery != "" {
			t.Errorf("%s: as an URL %+v (%v)", target, u, err)
		}
	}
}

func TestAConfigurationNeedsATaskEvenIfThePathHasNone(t *testing.T) {
	var e *Error
	err := Route{Method: CreatePushConfig}.Decode(nil, []byte(`{"url":"u"}`), new(PushConfig))
	if !errors.As(err, &e) || e.Kind != InvalidParams || e.Field != "taskId" {
		t.Errorf("got %v", err)
	}
}
