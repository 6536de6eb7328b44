package simulate_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-agents/parley/agent/simulate"
	"github.com/parley-agents/parley/protocol"
)

func play(t *testing.T, c simulate.Config) simulate.Result {
	t.Helper()
	r, err := simulate.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// worlds is how many worlds a test plays: more where PARLEY_WORLDS says so.
func worlds(t *testing.T, n int) int {
	t.Helper()
	if text := os.Getenv("PARLEY_WORLDS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestEveryPromiseIsKeptUnderEveryAccident(t *testing.T) {
	r := play(t, simulate.Config{Worlds: worlds(t, 60), Seed: 100_000, Kinds: simulate.Kinds()})
	t.Log(r)
	for p, n := range r.Violations {
		if n > 0 {
			t.Errorf("%s (%s) was broken %d times", p, simulate.Properties()[p], n)
		}
	}
	for _, f := range r.Failures {
		t.Errorf("seed %d: %v, which takes %v", f.Seed, f.Violations, f.Faults)
	}
	if r.EffectsOverOnce != 0 || r.Unfinished != 0 || r.DigestMismatches != 0 {
		t.Errorf("%d effects over once, %d unfinished, %d digests differ", r.EffectsOverOnce, r.Unfinished, r.DigestMismatches)
	}
	// What was not tried was not kept either.
	if r.Crashes == 0 || r.Forgeries == 0 || r.Terminals["COMPLETED"] == 0 || r.Terminals["TIMED_OUT"] == 0 || r.Outcomes["unknown"] == 0 {
		t.Errorf("too little happened: %+v", r)
	}
}

func TestEveryProtocolIsSpoken(t *testing.T) {
	for _, p := range []string{protocol.RequestV1, protocol.QueryV1, protocol.ProposeV1, protocol.SubscribeV1, protocol.ContractNetV1, protocol.GatherV1} {
		r := play(t, simulate.Config{Worlds: 4, Seed: 7, Protocol: p})
		if r.Terminals["COMPLETED"]+r.Terminals["DISSENT_RECORDED"] == 0 || len(r.Failures) > 0 {
			t.Errorf("%s: %s, failures %v", p, r, r.Failures)
		}
	}
}

func TestAWorldWithoutAccidentsHasNone(t *testing.T) {
	r := play(t, simulate.Config{Worlds: 10, Seed: 1})
	if r.Accidents+r.Crashes+r.Forgeries != 0 || r.Outcomes["unknown"] != 0 || len(r.Failures) > 0 {
		t.Errorf("%+v", r)
	}
}

// second is set in the process that TestASecondProcessComesToTheSame starts.
const second = "PARLEY_SIMULATE_AGAIN"

func TestASecondProcessComesToTheSame(t *testing.T) {
	c := simulate.Config{Worlds: 12, Seed: 1, Kinds: simulate.Kinds()}
	here := play(t, c).Digest
	if os.Getenv(second) != "" {
		fmt.Printf("digest %s\n", here)
		return
	}
	for _, processors := range []string{"1", "2"} {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestASecondProcessComesToTheSame$", "-test.v")
		again.Env = append(os.Environ(), second+"=1", "GOMAXPROCS="+processors)
		out, err := again.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "digest "+here+"\n") {
			t.Errorf("on %s processors: %v\n%s\nwant digest %s", processors, err, out, here)
		}
	}
}

func TestWithoutTheLedgerEffectsAreHadTwice(t *testing.T) {
	c := simulate.Config{Worlds: 60, Seed: 1, Kinds: simulate.Kinds(), NoLedger: true, Failures: 1}
	r := play(t, c)
	if r.EffectsOverOnce == 0 || r.Violations["P6"] == 0 || len(r.Failures) == 0 {
		t.Fatalf("the simulator does not bite: %s", r)
	}
	f := r.Failures[0]
	// The accidents that are left suffice, and each of them is needed.
	c.Worlds, c.Seed, c.Only = 1, f.Seed, f.Faults
	if again := play(t, c); again.Violations[f.Violations[0].Property] == 0 {
		t.Errorf("seed %d with %v alone keeps every promise", f.Seed, f.Faults)
	}
	for i := range f.Faults {
		c.Only = slices.Delete(slices.Clone(f.Faults), i, i+1)
		if again := play(t, c); again.Violations[f.Violations[0].Property] != 0 {
			t.Errorf("seed %d needs no %q", f.Seed, f.Faults[i])
		}
	}
	if len(f.Faults) > 8 {
		t.Errorf("%d accidents are left: %v", len(f.Faults), f.Faults)
	}
	// With the ledger the same worlds are whole.
	c.NoLedger, c.Only = false, nil
	if again := play(t, c); again.EffectsOverOnce != 0 {
		t.Errorf("with the ledger: %s", again)
	}
}

func TestWrongSettingsAreErrors(t *testing.T) {
	for _, c := range []simulate.Config{{Protocol: "chess/v1"}, {Protocol: protocol.AdvertiseV1}, {Kinds: []simulate.Kind{"plague"}}, {Only: []simulate.Fault{"plague p0 1"}}} {
		if _, err := simulate.Run(t.Context(), c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if _, err := simulate.ParseKinds("drop,plague"); err == nil || !strings.Contains(err.Error(), "plague") {
		t.Errorf("ParseKinds: %v", err)
	}
	if kinds, err := simulate.ParseKinds(" crash, drop,crash"); err != nil || !slices.Equal(kinds, []simulate.Kind{simulate.Crash, simulate.Drop}) {
		t.Errorf("ParseKinds: %v, %v", kinds, err)
	}
	if kinds, err := simulate.ParseKinds("all"); err != nil || len(kinds) != len(simulate.Kinds()) {
		t.Errorf("ParseKinds: %v, %v", kinds, err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := simulate.Run(ctx, simulate.Config{Worlds: 1_000_000}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}
