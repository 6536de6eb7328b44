package supplier_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
	"github.com/parley-agents/parley/store/sqlite"
)

// running is a supplier that runs in this process.
type running struct {
	t     *testing.T
	in    *io.PipeWriter
	told  *json.Decoder
	kill  context.CancelFunc
	ended chan error
	url   string
}

func run(t *testing.T, dir string) *running {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	in, ours := io.Pipe()
	told, out := io.Pipe()
	ctx, kill := context.WithCancel(context.WithoutCancel(t.Context()))
	r := &running{t: t, in: ours, told: json.NewDecoder(told), kill: kill, ended: make(chan error, 1), url: ln.Addr().String()}
	go func() {
		err := supplier.Run(ctx, supplier.Part{Name: supplier.Hotels, Dir: dir}, ln, in, out, slog.New(slog.NewTextHandler(t.Output(), nil)))
		r.ended <- errors.Join(err, in.Close(), out.Close())
	}()
	t.Cleanup(kill)
	return r
}

func (r *running) hear() supplier.Told {
	r.t.Helper()
	var told supplier.Told
	if err := r.told.Decode(&told); err != nil {
		r.t.Fatal(err)
	}
	return told
}

func TestASupplierServesUntilItsInputEnds(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the second finds what the first left
		r := run(t, dir)
		if told := r.hear(); !told.Ready {
			t.Fatalf("it told %+v, want that it is ready", told)
		}
		if _, err := io.WriteString(r.in, "counts\n"); err != nil {
			t.Fatal(err)
		}
		if told := r.hear(); told.Counts == nil {
			t.Errorf("it told %+v, want counts", told)
		}
		if err := r.in.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-r.ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		if _, err := net.Dial("tcp", r.url); err == nil {
			t.Error("it still listens")
		}
	}
}

func TestASupplierWaitsForTheStoreOfOneThatIsEnding(t *testing.T) {
	dir := t.TempDir()
	held, err := sqlite.Open(t.Context(), supplier.StorePath(dir, supplier.Hotels))
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, dir)
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if told := r.hear(); !told.Ready {
		t.Errorf("it told %+v, want that it is ready", told)
	}
	r.kill()
	if told := r.hear(); told.Error == "" {
		t.Errorf("it told %+v, want why it ends", told)
	}
	if err := <-r.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it was killed and ended with %v", err)
	}
}

func TestASupplierTellsWhyItCannotRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(supplier.LedgerPath(dir, supplier.Hotels), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, dir)
	if told := r.hear(); !strings.Contains(told.Error, "supplier hotels") || !strings.Contains(told.Error, "ledger") {
		t.Errorf("it told %+v", told)
	}
	if err := <-r.ended; err == nil {
		t.Error("it ended without an error")
	}
}
