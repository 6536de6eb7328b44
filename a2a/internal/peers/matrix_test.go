package peers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// patience is how long a scenario may take on a machine that is busy.
const patience = time.Minute

// client is a client that plays the scenarios.
type client struct {
	name string
	dial func(ctx context.Context, url string) (peer, error)
}

func TestForeignClientsUnderstandOurServer(t *testing.T) {
	clients := goClients()
	if haveNode(t) {
		clients = append(clients, nodeClients(startNode(t))...)
	}
	play(t, clients)
}

func goClients() []client {
	var all []client
	for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
		all = append(all, client{"a2a-go " + binding, func(ctx context.Context, url string) (peer, error) { return dialGo(ctx, url, binding) }})
	}
	return all
}

func nodeClients(n *node) []client {
	var all []client
	for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
		all = append(all, client{"a2a-js " + binding, func(ctx context.Context, url string) (peer, error) { return n.dial(ctx, url, binding) }})
	}
	return all
}

// play plays every scenario with every client and prints how that went.
func play(t *testing.T, clients []client) {
	head := []string{"operation", "variant"}
	for _, c := range clients {
		head = append(head, c.name)
	}
	matrix := [][]string{head}
	for _, s := range scenarios() {
		row := []string{s.operation, s.variant}
		for _, c := range clients {
			name := fmt.Sprintf("%s/%s/%s", s.operation, s.variant, c.name)
			why, theirs := faults()[name]
			ok := t.Run(name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				o := start(t)
				p, err := c.dial(ctx, o.url)
				if err != nil {
					t.Fatal(err)
				}
				switch err := s.run(&scene{T: t, ctx: ctx, ours: o, peer: p}); {
				case theirs && err == nil:
					t.Errorf("it went well, although %s", why)
				case theirs:
					t.Logf("%v: %s", err, why)
				case err != nil:
					t.Error(err)
				}
			})
			row = append(row, mark(ok, theirs))
		}
		matrix = append(matrix, row)
	}
	t.Log("\n" + table(matrix))
}

// mark is how a scenario went: yes, NO, or theirs for what the client cannot do.
func mark(ok, theirs bool) string {
	switch {
	case !ok:
		return "NO"
	case theirs:
		return "theirs"
	}
	return "yes"
}

// table draws rows with even columns.
func table(rows [][]string) string {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			wide[i] = max(wide[i], len(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(&b, "%-*s  ", wide[i], cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
