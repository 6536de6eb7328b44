package a2a

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
)

// visit is one request on its way through the server.
type visit struct {
	*Server
	w       answer
	r       *http.Request
	id      string // for the operator, who finds it in the log
	agent   *served
	place   place
	binding binding
	// asked is the id of a request of JSON-RPC, nil until it is known.
	asked json.RawMessage
}

// visit answers one request. path is the escaped path below the server's root.
func (s *Server) visit(w http.ResponseWriter, r *http.Request, path string) {
	if s.cfg.Proxied {
		r = r.WithContext(context.WithValue(r.Context(), proxiedKey{}, true))
	}
	v := &visit{Server: s, w: newAnswer(w, s.cfg.Timeouts.Write), r: r, id: s.newID(), binding: restful{r}}
	defer v.recover()
	v.harden()
	v.expectBody()
	if !s.gate.knows(r) {
		v.failAs(http.StatusMisdirectedRequest, wire.Errorf(wire.PermissionDenied, "this server is not called by the name in the header Host"))
		return
	}
	if s.gate.share(w, r) {
		return
	}
	if !s.gate.admits(r) {
		v.fail(wire.Errorf(wire.PermissionDenied, "the pages of other sites may not call here"))
		return
	}
	var allow []string
	var ok bool
	v.place, allow, ok = parsePath(r.Method, path, s.isAgent)
	if v.agent = s.agents[0]; v.place.agent != "" {
		v.agent = s.names[v.place.agent]
	}
	switch {
	case len(allow) == 0:
		v.failAs(http.StatusNotFound, wire.Errorf(wire.MethodNotFound, "there is nothing at this path"))
	case !ok:
		v.w.Header().Set("Allow", strings.Join(allow, ", "))
		v.failAs(http.StatusMethodNotAllowed, wire.Errorf(wire.MethodNotFound, "the path does not have this method"))
	case v.place.face == cardFace:
		v.card()
	case v.place.face == rpcFace:
		v.rpc()
	default:
		v.rest()
	}
}

func (s *Server) isAgent(name string) bool { return s.names[name] != nil }

// harden sets the headers that every answer has.
func (v *visit) harden() {
	putHeaders(v.w.Header(),
		headerRequestID, v.id,
		"Cache-Control", "no-store",
		"X-Content-Type-Options", "nosniff",
		"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'",
		"Referrer-Policy", "no-referrer")
}

// recover keeps a panic from the client. One that comes when the answer has
// begun cuts the connection, so that no half of it is taken for the whole.
func (v *visit) recover() {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	err := v.panicked(p)
	if v.w.begun() {
		panic(http.ErrAbortHandler)
	}
	v.fail(err)
}

// panicked notes a panic and gives what the client is told of it.
func (v *visit) panicked(p any) error {
	v.cfg.Log.ErrorContext(v.r.Context(), "panic in a request", "request", v.id, "panic", p, "stack", string(debug.Stack()))
	return v.incident()
}
