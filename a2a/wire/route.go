package wire

import (
	"net/http"
	"net/url"
	"strings"
)

// Route is what the path of an HTTP+JSON request says (section 5.3): the
// operation, and the members of its request that are in the path.
type Route struct {
	Method Method
	// Tenant is "" without one, Task "" where no task is named, and Config
	// where no push configuration is.
	Tenant, Task, Config string
}

// ParseRoute reads the method and the escaped path, from below the address of
// the interface, of an HTTP+JSON request. A subscription may be a GET, as in
// the proto, or a POST, as in the text. The error is a MethodNotFound.
func ParseRoute(method, path string) (Route, error) {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if r, ok := parseRoute(method, segments); ok {
		return r, nil
	}
	if len(segments) > 1 && segments[0] != "" {
		if r, ok := parseRoute(method, segments[1:]); ok {
			tenant, err := url.PathUnescape(segments[0])
			if err == nil {
				r.Tenant = tenant
				return r, nil
			}
		}
	}
	return Route{}, Errorf(MethodNotFound, "there is no operation at this path by this method")
}

func parseRoute(method string, segments []string) (Route, bool) {
	switch len(segments) {
	case 1:
		switch method + " " + segments[0] {
		case "POST message:send":
			return Route{Method: SendMessage}, true
		case "POST message:stream":
			return Route{Method: SendStreamingMessage}, true
		case "GET tasks":
			return Route{Method: ListTasks}, true
		case "GET extendedAgentCard":
			return Route{Method: GetExtendedAgentCard}, true
		}
	case 2:
		return taskRoute(method, segments)
	case 3, 4:
		return configRoute(method, segments)
	}
	return Route{}, false
}

func taskRoute(method string, segments []string) (Route, bool) {
	r := Route{Method: GetTask}
	id := segments[1]
	// A colon that belongs to an id may be escaped, one of a verb may not.
	if bare, ok := strings.CutSuffix(id, ":cancel"); ok {
		id, r.Method = bare, CancelTask
	} else if bare, ok := strings.CutSuffix(id, ":subscribe"); ok {
		id, r.Method = bare, SubscribeToTask
	}
	allowed := method == http.MethodGet && r.Method != CancelTask || method == http.MethodPost && r.Method != GetTask
	return r, segments[0] == "tasks" && allowed && unescapeTo(&r.Task, id)
}

func configRoute(method string, segments []string) (Route, bool) {
	if segments[0] != "tasks" || segments[2] != "pushNotificationConfigs" {
		return Route{}, false
	}
	var r Route
	switch {
	case len(segments) == 3 && method == http.MethodPost:
		r.Method = CreatePushConfig
	case len(segments) == 3 && method == http.MethodGet:
		r.Method = ListPushConfigs
	case len(segments) == 4 && method == http.MethodGet:
		r.Method = GetPushConfig
	case len(segments) == 4 && method == http.MethodDelete:
		r.Method = DeletePushConfig
	default:
		return Route{}, false
	}
	return r, unescapeTo(&r.Task, segments[1]) && (len(segments) == 3 || unescapeTo(&r.Config, segments[3]))
}

func unescapeTo(to *string, segment string) bool {
	s, err := url.PathUnescape(segment)
	*to = s
	return err == nil && s != ""
}

// path is the escaped path of the route, and its HTTP method.
func (r Route) path() (method, path string) {
	task := "/tasks/" + escape(r.Task)
	configs := task + "/pushNotificationConfigs"
	method = http.MethodGet
	switch r.Method {
	case SendMessage:
		method, path = http.MethodPost, "/message:send"
	case SendStreamingMessage:
		method, path = http.MethodPost, "/message:stream"
	case GetTask:
		path = task
	case ListTasks:
		path = "/tasks"
	case CancelTask:
		method, path = http.MethodPost, task+":cancel"
	case SubscribeToTask:
		method, path = http.MethodPost, task+":subscribe"
	case CreatePushConfig:
		method, path = http.MethodPost, configs
	case GetPushConfig:
		path = configs + "/" + escape(r.Config)
	case ListPushConfigs:
		path = configs
	case DeletePushConfig:
		method, path = http.MethodDelete, configs+"/"+escape(r.Config)
	case GetExtendedAgentCard:
		path = "/extendedAgentCard"
	}
	if r.Tenant != "" {
		path = "/" + escape(r.Tenant) + path
	}
	return method, path
}

// escape keeps an id within its segment and apart from the verb behind it.
func escape(id string) string {
	if id == "." || id == ".." { // else a client or a proxy would go up
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return strings.ReplaceAll(url.PathEscape(id), ":", "%3A")
}
