package wire

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
)

// Decode reads a request of HTTP+JSON into the zero value of the method's
// request: what the path says, then the body, or the query where the method
// has no body. It is [Decode] for them; what contradicts the path is a fault.
// Names in the query may be in snake_case too, and empty values are absent.
func (r Route) Decode(query url.Values, body []byte, into Object) error {
	method, _ := r.path()
	c := newReader()
	c.loose = method != http.MethodPost
	said := queryMembers(query)
	if !c.loose {
		var err error
		if said, err = bodyMembers(body); err != nil {
			return err
		}
	}
	given := r.given()
	c.stack = append(c.stack, given...)
	for _, m := range said {
		at := slices.IndexFunc(given, func(g member) bool { return sameName(m.name, string(g.name)) })
		switch {
		case at < 0:
			c.stack = append(c.stack, m)
		case !isNull(m.value) && string(m.value) != `""` && text(m.value) != text(given[at].value):
			c.fail(string(given[at].name), "expected what the path says, got something else")
		}
	}
	into.fields(c)
	if err := c.fault(); err != nil {
		return err
	}
	return r.Method.complete(into)
}

func bodyMembers(body []byte) ([]member, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	if err := check(body); err != nil {
		return nil, err
	}
	text := trim(bytes.Clone(body))
	if isNull(text) {
		return nil, nil // as some clients write that there is nothing to say
	}
	if text[0] != '{' {
		return nil, Errorf(InvalidParams, "expected an object, got %s", kindOf(text))
	}
	return appendMembers(nil, text), nil
}

// queryMembers are what a query says: every value is a string.
func queryMembers(query url.Values) []member {
	var list []member
	for name, values := range query {
		for _, v := range values {
			if v != "" {
				list = append(list, member{[]byte(name), quoted(v)})
			}
		}
	}
	return list
}

// given are the members that the path gives.
func (r Route) given() []member {
	var list []member
	add := func(name, value string) {
		if value != "" {
			list = append(list, member{[]byte(name), quoted(value)})
		}
	}
	add("tenant", r.Tenant)
	switch r.Method {
	case GetTask, CancelTask, SubscribeToTask:
		add("id", r.Task)
	default:
		add("taskId", r.Task)
		add("id", r.Config)
	}
	return list
}

// EncodeREST is a client's request by HTTP+JSON: the method, the escaped path
// with its query, below the address of the interface, and the body, nil where
// the method has none.
func EncodeREST(m Method, o Object) (method, target string, body []byte) {
	r := Route{Method: m}
	query := url.Values{}
	rest := codec{writing: true, out: []byte("{")}
	for _, x := range appendMembers(nil, Encode(o)) {
		switch name := string(x.name); {
		case name == "tenant":
			r.Tenant = text(x.value)
		case name == "taskId":
			r.Task = text(x.value)
		case name == "id" && (m == GetTask || m == CancelTask || m == SubscribeToTask):
			r.Task = text(x.value)
		case name == "id" && m != CreatePushConfig:
			r.Config = text(x.value)
		default:
			rest.key(name)
			rest.out = append(rest.out, x.value...)
		}
	}
	method, target = r.path()
	if method == http.MethodPost {
		return method, target, append(rest.out, '}')
	}
	for _, x := range appendMembers(nil, append(rest.out, '}')) {
		query.Set(string(x.name), scalar(x.value))
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	return method, target, nil
}

// scalar is a string, a number or a boolean as a query says it.
func scalar(value []byte) string {
	if value[0] == '"' {
		return unquote(value)
	}
	return string(value)
}
