package a2a

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
)

// face is what a path leads to.
type face int

const (
	rpcFace  face = iota // JSON-RPC, whose body names the operation
	cardFace             // the agent card
	restFace             // an operation by HTTP+JSON
)

// place is what a path and a method name: an operation of one agent.
type place struct {
	agent string // as in the path, "" where the path names none
	face  face
	route wire.Route // of restFace
}

// rpcMethods are the methods of the path of JSON-RPC.
var rpcMethods = []string{http.MethodPost}

// parsePath reads an escaped path from below the server's root and its slash:
//
//	[/agent]                               JSON-RPC, with or without a slash at its end
//	[/agent]/.well-known/agent-card.json   the card
//	[/agent][/tenant]/…                    the operations by HTTP+JSON
//
// The name of an agent comes before all else: a tenant that is called like an
// agent has no place at the root, but below the first agent's name. An
// operation comes before a tenant: /tasks/tasks is a task. Where the path has
// no such method, allow are those that it has; they are none where nothing is.
func parsePath(method, path string, isAgent func(name string) bool) (p place, allow []string, ok bool) {
	first, rest, _ := strings.Cut(path, "/")
	if name, err := url.PathUnescape(first); err == nil && isAgent(name) {
		p.agent, path = name, rest
	}
	switch "/" + path {
	case "/":
		p.face, allow = rpcFace, rpcMethods
	case wire.CardPath:
		p.face, allow = cardFace, []string{http.MethodGet, http.MethodHead}
	default:
		p.face = restFace
		for _, m := range []string{http.MethodDelete, http.MethodGet, http.MethodPost} {
			if r, err := wire.ParseRoute(m, "/"+path); err == nil {
				allow = append(allow, m)
				if m == method {
					p.route = r
				}
			}
		}
	}
	return p, allow, slices.Contains(allow, method)
}
