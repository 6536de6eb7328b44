package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

// What a process of this program is told by its environment when it is to be a
// server that is measured: of which kind, in which folder it may write, how many
// bytes a bare server answers, and where to write a profile of its processor, if
// anywhere.
const (
	serveKind    = "PARLEY_BENCH_SERVE"
	serveFolder  = "PARLEY_BENCH_FOLDER"
	serveBytes   = "PARLEY_BENCH_BYTES"
	serveProfile = "PARLEY_BENCH_PROFILE"
)

// counters are what a server counts beside its requests, from its start.
type counters struct {
	// Commits are durable transactions, Sets the write sets in them.
	Commits, Sets int64
	// Allocs and Bytes are what was allocated on the heap.
	Allocs, Bytes uint64
}

func (c counters) since(before counters) counters {
	return counters{c.Commits - before.Commits, c.Sets - before.Sets, c.Allocs - before.Allocs, c.Bytes - before.Bytes}
}

// backend is a server that is measured.
type backend struct {
	handler http.Handler
	count   func(*counters)
	close   func() error
}

// backends are the kinds of servers by name.
var backends = map[string]func(ctx context.Context, folder, url string) (*backend, error){
	"parley": newParley, "a2a-go": newSDK, "a2a-go-brief": newBriefSDK, "bare": newBare,
}

// serve is one server on a port of its own until in ends. It says where it
// listens in its first line, and its counters at each line that it reads.
func serve(ctx context.Context, kind, folder string, in io.Reader, out io.Writer) (err error) {
	open, ok := backends[kind]
	if !ok {
		return fmt.Errorf("there is no server %q", kind)
	}
	if name := os.Getenv(serveProfile); name != "" {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	url := "http://" + ln.Addr().String()
	b, err := open(ctx, folder, url)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	server := &http.Server{Handler: b.handler, ReadHeaderTimeout: 5 * time.Second}
	ended := newEnding(server, ln)
	defer func() { err = errors.Join(err, server.Close(), ended(), b.close()) }()
	fmt.Fprintln(out, url)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var c counters
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.Allocs, c.Bytes = m.Mallocs, m.TotalAlloc
		b.count(&c)
		if err := json.NewEncoder(out).Encode(c); err != nil {
			return err
		}
	}
	return nil
}

// newEnding serves, and returns what waits for the end of that.
func newEnding(server *http.Server, ln net.Listener) (ended func() error) {
	result := make(chan error, 1)
	go func() { result <- server.Serve(ln) }()
	return func() error {
		if err := <-result; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}
