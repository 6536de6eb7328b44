package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
	"github.com/parley-agents/parley/examples/trip-planner/internal/trip"
)

// mainVar has the test's program be the command.
const mainVar = "TRIP_PLANNER_MAIN"

// TestMain is also the main function of the suppliers that the tests start, and of
// trip planners that are to be killed.
func TestMain(m *testing.M) {
	if os.Getenv(mainVar) != "" || len(os.Args) > 1 && os.Args[1] == supplier.Command {
		main()
		return
	}
	os.Exit(m.Run())
}

// planned runs the command for the sentence on a day, and reads its report.
func planned(t *testing.T, dir string, more ...string) trip.Report {
	t.Helper()
	out, errs, code := call(t, append([]string{sentence, "--yes", "-o", "json", "--today", "2026-03-01", "--data", dir}, more...)...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var r trip.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if r.Status != "booked" || r.Itinerary == nil || r.Itinerary.Hotel == nil {
		t.Fatalf("status %s %s %s", r.Status, r.Question, r.Error)
	}
	return r
}

// attempts says how often the act about something was sent.
func attempts(r trip.Report, about, act string) int {
	i := slices.IndexFunc(r.Timeline, func(l trip.Line) bool { return l.About == about && l.Act == act })
	if i < 0 {
		return 0
	}
	return r.Timeline[i].Attempt
}

// checkLedgers holds each supplier's ledger to one reservation, the one that the
// report has.
func checkLedgers(t *testing.T, dir string, r trip.Report) {
	t.Helper()
	for _, name := range []string{supplier.Flights, supplier.Hotels} {
		data, err := os.ReadFile(supplier.LedgerPath(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var made []supplier.Effect
		if err := json.Unmarshal(data, &made); err != nil {
			t.Fatal(err)
		}
		reported := func(e supplier.Effect) bool { return len(made) == 1 && e.Key == made[0].Key && e.Times == 1 }
		if len(made) != 1 || !slices.ContainsFunc(r.Effects, reported) {
			t.Errorf("%s made %+v, the report has %+v", name, made, r.Effects)
		}
	}
}

func TestATripIsBookedByThreeProcessesInOneTrace(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "transcript.jsonl")
	r := planned(t, dir, "--transcript", file)
	pids := map[int]bool{}
	for _, p := range r.Processes {
		pids[p.PID] = true
	}
	if len(pids) != 3 || r.Processes[0].PID != os.Getpid() || len(r.Restarts) != 0 {
		t.Errorf("processes %+v, restarts %+v", r.Processes, r.Restarts)
	}
	checkLedgers(t, dir, r)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	messages := map[string]int{}
	for line := range bytes.Lines(data) {
		var entry trip.Recorded
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		if len(entry.Envelope) == 0 {
			continue
		}
		e, err := envelope.Decode(entry.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(e.Header().Trace.Traceparent, r.TraceID) {
			t.Errorf("message %s in the log of %s is in another trace", e.ID(), entry.Owner)
		}
		messages[entry.Owner]++
	}
	if messages["agent://local/flights"] != 6 || messages["agent://local/hotels"] != 6 || messages["agent://local/planner"] < 12 {
		t.Errorf("messages in the logs: %v", messages)
	}
}

func TestAHotelProcessThatIsKilledInTheMiddleOfARequestLosesNothing(t *testing.T) {
	dir := t.TempDir()
	calm := planned(t, t.TempDir())
	r := planned(t, dir, "--faults", "restart-hotel")
	checkLedgers(t, dir, r)
	if r.Itinerary.Total != calm.Itinerary.Total || r.Itinerary.Flight.Number != calm.Itinerary.Flight.Number || r.Itinerary.Hotel.Name != calm.Itinerary.Hotel.Name {
		t.Errorf("itinerary %+v, without a kill %+v", r.Itinerary, calm.Itinerary)
	}
	if len(r.Restarts) != 2 {
		t.Fatalf("restarts %+v, want two", r.Restarts)
	}
	for i, p := range r.Restarts {
		if p.Agent != supplier.Hotels || p.Ended != "signal: killed" || p.PID == p.Next || i > 0 && p.PID != r.Restarts[i-1].Next {
			t.Errorf("restart %+v", p)
		}
	}
	for _, about := range []string{"trip.hotel.search/v2", "trip.hotel.book/v1"} {
		if attempts(r, about, "request") < 2 {
			t.Errorf("%s was not sent again", about)
		}
	}
	if r.Protocol["duplicate"] == 0 || r.Protocol["restarts"] != 2 {
		t.Errorf("the protocol did %v", r.Protocol)
	}
}

func TestAReplyThatIsLostOnTheWireIsTheStoredOneWhenItIsAskedForAgain(t *testing.T) {
	dir := t.TempDir()
	r := planned(t, dir, "--faults", "drop-reply")
	checkLedgers(t, dir, r)
	if attempts(r, "trip.flight.book/v1", "request") < 2 || attempts(r, "trip.hotel.book/v1", "request") != 1 || r.Protocol["duplicate"] == 0 {
		t.Errorf("timeline %+v, the protocol did %v", r.Timeline, r.Protocol)
	}
}

func TestOrdersInANoteComeOverTheWireAndAreNotObeyed(t *testing.T) {
	dir := t.TempDir()
	r := planned(t, dir, "--faults", "injection")
	checkLedgers(t, dir, r)
	if r.Protocol["orders"] == 0 || r.Protocol["obeyed"] != 0 {
		t.Errorf("the protocol did %v", r.Protocol)
	}
}

// begun starts the command as a process of its own, and returns when the answer
// to a booking was lost, with what it still says on standard error: that ends
// when neither it nor a process that it started is left.
func begun(t *testing.T, dir string) (c *exec.Cmd, says *bufio.Reader) {
	t.Helper()
	c = exec.CommandContext(t.Context(), os.Args[0], sentence, "--yes", "--today", "2026-03-01", "--data", dir, "--faults", "drop-reply", "--verbose")
	c.Env = append(os.Environ(), mainVar+"=1", "OPENAI_BASE_URL=", "OPENAI_API_KEY=", "PARLEY_MODEL=")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	says = bufio.NewReader(stderr)
	for {
		line, err := says.ReadString('\n')
		if err != nil {
			t.Fatalf("it ended before a reply was lost: %v", errors.Join(err, c.Wait()))
		}
		if strings.Contains(line, "the network lost it") {
			return c, says
		}
	}
}

func TestATripPlannerThatIsKilledLeavesNoProcessAndTheNextRunGoesOn(t *testing.T) {
	dir := t.TempDir()
	c, says := begun(t, dir)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, says); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("it ended with %v", err)
	}
	checkLedgers(t, dir, planned(t, dir))
}

func TestAnInterruptedTripPlannerStopsInOrderAndTheNextRunGoesOn(t *testing.T) {
	dir := t.TempDir()
	c, says := begun(t, dir)
	if _, errs, code := call(t, sentence, "--data", dir); code != 1 || !strings.Contains(errs, "another trip planner runs on the data in "+dir) {
		t.Errorf("a second copy: exit %d, %s", code, errs)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	last, err := io.ReadAll(says)
	if err != nil {
		t.Fatal(err)
	}
	exit, ok := errors.AsType[*exec.ExitError](c.Wait())
	if !ok || exit.ExitCode() != 130 || !strings.HasSuffix(string(last), "interrupted\n") || strings.Contains(string(last), "panic") {
		t.Errorf("it ended with %v and said %s", exit, last)
	}
	checkLedgers(t, dir, planned(t, dir))
}

func TestASupplierIsStartedByATripPlannerAlone(t *testing.T) {
	for _, args := range [][]string{{supplier.Hotels, "--data", t.TempDir()}, {"trains", "--data", t.TempDir()}, {}} {
		c := exec.CommandContext(t.Context(), os.Args[0], append([]string{supplier.Command}, args...)...)
		out, err := c.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), "supplier") {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
}
