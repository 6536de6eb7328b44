package a2a

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
)

// pipes is a network without buffers, whose time a synctest bubble holds: what
// one side does not read, the other cannot write. All of it is on loopback.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// dial connects to the server.
func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- onLoopback{there, p.Addr()}:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

type onLoopback struct {
	net.Conn
	addr net.Addr
}

func (c onLoopback) LocalAddr() net.Addr  { return c.addr }
func (c onLoopback) RemoteAddr() net.Addr { return c.addr }

// bubble is a server in a synctest bubble, which fails the test if a goroutine
// outlives it.
type bubble struct {
	t      *testing.T
	net    *pipes
	client *http.Client
	stop   func() error
}

// inBubble runs f with a server that serves until f returns.
func inBubble(t *testing.T, cfg Config, s *scripted, f func(b *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{t: t, net: newPipes()}
		b.client = &http.Client{Transport: &http.Transport{DialContext: b.net.dial}}
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		ended := make(chan struct{})
		srv := scriptedServer(t, cfg, s)
		go func() {
			defer close(ended)
			err = srv.Serve(ctx, b.net)
		}()
		b.stop = func() error {
			cancel()
			<-ended
			return err
		}
		f(b)
		b.client.CloseIdleConnections()
		if err := b.stop(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		synctest.Wait()
	})
}

// open subscribes to a task with a client that reads.
func (b *bubble) open(ctx context.Context, headers ...string) (*http.Response, *bufio.Reader) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", "http://localhost/tasks/t1:subscribe", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set(wire.VersionHeader, wire.Version)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp, bufio.NewReader(resp.Body)
}

// raw sends a request as it stands, and reads nothing of the answer.
func (b *bubble) raw(request string) net.Conn {
	b.t.Helper()
	c, err := b.net.dial(b.t.Context(), "", "")
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil {
		b.t.Fatal(err)
	}
	return c
}

const rawSubscribe = "GET /tasks/t1:subscribe HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\n\r\n"

// lines reads what is left of a stream, without its empty lines.
func lines(t *testing.T, r io.Reader) []string {
	t.Helper()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(all), func(c rune) bool { return c == '\n' })
}
