package peers

import (
	"context"
	"testing"
)

// The foreign clients and servers understand each other, so what they do not
// understand of ours is ours to explain.
func TestForeignClientsUnderstandForeignServers(t *testing.T) {
	clients, servers := goClients(), map[string]func(*testing.T) foreign{"a2a-go": startGo}
	if haveNode(t) {
		clients = append(clients, nodeClients(startNode(t))...)
		servers["a2a-js"] = startJS
	}
	for server, start := range servers {
		f := start(t)
		for _, c := range clients {
			t.Run(c.name+" to "+server, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				p, err := c.dial(ctx, f.url)
				if err != nil {
					t.Fatal(err)
				}
				s := &scene{T: t, ctx: ctx, peer: p}
				got, err := p.Send(ctx, s.say("hello"))
				if err := want(got, err, completed, "hello to you"); err != nil {
					t.Error(err)
				}
				told, err := story(p.Stream(ctx, s.say("hello")), nil)
				if err := ends(told, err, completed, "hello to you"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
