package a2a

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
)

// rest answers a request of HTTP+JSON.
func (v *visit) rest() {
	a, err := v.admit()
	if err == nil {
		err = v.version()
	}
	if err != nil {
		v.fail(err)
		return
	}
	var body []byte
	if v.r.Method == http.MethodPost {
		var ok bool
		if body, ok = v.body(); !ok {
			return
		}
	}
	if len(body) > 0 {
		if err := v.isJSON(); err != nil {
			v.fail(err)
			return
		}
	}
	v.operate(a, v.place.route.Method, func(into wire.Object) error {
		query, err := url.ParseQuery(v.r.URL.RawQuery)
		if err != nil { // what was read of it may ask for something else
			return wire.Errorf(wire.InvalidParams, "the query cannot be read")
		}
		return v.place.route.Decode(query, body, into)
	})
}

// version refuses a request of another version of the protocol, whatever else
// it says.
func (v *visit) version() error {
	asked := v.r.Header.Get(keyVersion)
	if strings.TrimSpace(asked) == "" {
		asked = v.r.URL.Query().Get(wire.VersionHeader)
	}
	return wire.CheckVersion(asked, "")
}
