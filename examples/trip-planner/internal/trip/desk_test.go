package trip_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
	"github.com/parley-agents/parley/examples/trip-planner/internal/trip"
	"github.com/parley-agents/parley/store"
)

func TestASupplierThatEndsByItselfIsStartedAgainAtItsAddress(t *testing.T) {
	w, _ := world(t, trip.Faults{})
	before := planned(t, w, request(sentence, true), trip.Question{})
	if err := w.KillSupplier(supplier.Flights); err != nil {
		t.Fatal(err)
	}
	after := planned(t, w, request(sentence, true), trip.Question{})
	if before.Status != "booked" || after.Status != "booked" || after.Processes[1].URL != before.Processes[1].URL {
		t.Errorf("before: %s at %v, after: %s at %v", before.Status, before.Processes, after.Status, after.Processes)
	}
	if len(after.Restarts) != 1 || after.Restarts[0].Agent != supplier.Flights || !strings.HasSuffix(after.Restarts[0].Ended, "killed") {
		t.Errorf("restarts %+v, want one of flights", after.Restarts)
	}
}

func TestAWorldWhoseSupplierCannotRunIsNotOpenedAndSaysWhy(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hotels.db"), []byte(strings.Repeat("no store at all ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := trip.Open(t.Context(), trip.Options{Launch: goroutines(t), Dir: dir, Model: agenttest.NewScript()})
	if err == nil || !strings.Contains(err.Error(), "hotels.db") {
		t.Errorf("opening gave %v", err)
	}
	failed := errors.New("no process can be had")
	launch := func(_ supplier.Part, listener, in, out *os.File) (trip.Process, error) {
		return nil, errors.Join(failed, listener.Close(), in.Close(), out.Close())
	}
	if _, err := trip.Open(t.Context(), trip.Options{Launch: launch, Dir: t.TempDir(), Model: agenttest.NewScript()}); !errors.Is(err, failed) {
		t.Errorf("opening gave %v, want the error of the launch", err)
	}
}

func TestASecondWorldOnTheSameDataIsRefused(t *testing.T) {
	dir := t.TempDir()
	o := trip.Options{Launch: goroutines(t), Dir: dir, Model: agenttest.NewScript()}
	w, err := trip.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trip.Open(t.Context(), o); !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the second opening gave %v", err)
	}
	if err := w.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
