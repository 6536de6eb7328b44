package supplier_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
)

func open(t *testing.T, path string) *supplier.Ledger {
	t.Helper()
	l, err := supplier.OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func reserve(t *testing.T, l *supplier.Ledger, key, business string) string {
	t.Helper()
	reference, err := l.Reserve("seat", key, business)
	if err != nil || len(reference) != 6 {
		t.Fatalf("reservation %q, %v", reference, err)
	}
	return reference
}

func TestAKeyIsReservedOnceHoweverOftenAndByWhichProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.json")
	first := open(t, path)
	a, other := reserve(t, first, "a", "trip 1"), reserve(t, first, "b", "trip 2")
	again := open(t, path) // the process that comes after a kill
	if got := reserve(t, again, "a", "trip 1"); got != a || got == other {
		t.Errorf("key a gave %s, then %s; key b %s", a, got, other)
	}
	want := []supplier.Effect{{Key: "a", Kind: "seat", Times: 1}}
	for name, l := range map[string]*supplier.Ledger{"the writer": again, "a reader": open(t, path)} {
		if got := l.Effects("trip 1"); !slices.Equal(got, want) {
			t.Errorf("%s has %+v, want %+v", name, got, want)
		}
	}
	if got := again.Effects("trip 3"); got == nil || len(got) != 0 {
		t.Errorf("a trip without effects has %+v", got)
	}
}

func TestALedgerThatCannotBeReadOrWrittenIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.json")
	if err := os.WriteFile(path, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := supplier.OpenLedger(path); err == nil {
		t.Error("half a ledger was read")
	}
	l := open(t, filepath.Join(t.TempDir(), "gone", "ledger.json"))
	if reference, err := l.Reserve("seat", "a", "trip"); err == nil {
		t.Errorf("%s was reserved nowhere", reference)
	}
	if got := l.Effects("trip"); len(got) != 0 {
		t.Errorf("effects %+v of a failed reservation", got)
	}
}
