package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// rowsSayTheirState fails the test if a column of an exchange is not what its state
// says, or its end is not the one that it was given.
func rowsSayTheirState(t *testing.T, w *writer, now map[store.Key]store.Exchange) {
	t.Helper()
	rows, err := w.conn.QueryContext(t.Context(), "SELECT owner, conversation, peer, version, state, outcome, timer, due_ms, ended_ms, body FROM exchange")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var k store.Key
		var version int64
		var state, outcome, timer, body string
		var due, end sql.NullInt64
		var x protocol.Exchange
		if err := rows.Scan(&k.Owner, &k.Conversation, &k.Peer, &version, &state, &outcome, &timer, &due, &end, &body); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(body), &x); err != nil {
			t.Fatal(err)
		}
		want := sql.NullInt64{}
		next, runs := x.NextAlarm()
		if runs {
			want = sql.NullInt64{Int64: next.At.Add(time.Millisecond - 1).UnixMilli(), Valid: true}
		}
		if state != string(x.State) || outcome != string(x.Outcome()) || timer != string(next.Timer) || due != want {
			t.Fatalf("version %d of %+v in state %s has the columns %q, %q, %q, %v, want %q, %q, %v",
				version, k, x.State, state, outcome, timer, due, x.Outcome(), next.Timer, want)
		}
		if at := now[k].EndedAt; end.Valid == at.IsZero() || end.Valid && end.Int64 != at.UnixMilli() {
			t.Fatalf("version %d of %+v ended at %v, want %v", version, k, end, at)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestTheRowOfAnExchangeSaysWhatItsStateSays(t *testing.T) {
	w := unrun(t)
	rapid.Check(t, func(r *rapid.T) {
		empty(t, w)
		now := map[store.Key]store.Exchange{}
		for range rapid.IntRange(1, 12).Draw(r, "batches") {
			switch rapid.IntRange(0, 5).Draw(r, "forgotten") {
			case 0:
				w.recent = recent{}
			case 1:
				w.recent.drop(drawKey(r))
			}
			var batch []store.WriteSet
			var fits []bool
			for range rapid.IntRange(1, 6).Draw(r, "sets") {
				set, fit := drawMoves(r, now)
				batch, fits = append(batch, set), append(fits, fit)
			}
			for i, answer := range served(r, w, batch) {
				if fits[i] != (answer == "<nil>") {
					r.Fatalf("%+v is answered %s", batch[i], answer)
				}
			}
			rowsSayTheirState(t, w, now)
		}
	})
}

func drawKey(r *rapid.T) store.Key {
	return store.Key{Owner: "a", Conversation: rapid.SampledFrom([]string{"c", "d"}).Draw(r, "conversation"), Peer: "b"}
}

// drawMoves draws steps of one exchange or two, and whether they fit what there is
// now; if so they are there then.
func drawMoves(r *rapid.T, now map[store.Key]store.Exchange) (set store.WriteSet, fits bool) {
	fits = true
	for _, k := range rapid.SliceOfNDistinct(rapid.Custom(drawKey), 1, 2, rapid.ID[store.Key]).Draw(r, "moved") {
		x := now[k]
		x.Key = k
		if rapid.IntRange(0, 9).Draw(r, "stale") == 0 {
			x.Version, fits = x.Version+1, false
		}
		drawState(r, &x)
		set.Exchanges = append(set.Exchanges, x)
	}
	if rapid.IntRange(0, 9).Draw(r, "late misfit") == 0 { // found after the exchanges were written
		set.Settle, fits = []store.Settlement{{Fence: 1}}, false
	}
	if fits {
		for _, x := range set.Exchanges {
			x.Version++
			now[x.Key] = x
		}
	}
	return set, fits
}

// drawState changes some of what the columns follow from. Times are close together,
// also within a millisecond.
func drawState(r *rapid.T, x *store.Exchange) {
	s := &x.State
	if rapid.Bool().Draw(r, "other times") {
		for _, at := range []*time.Time{&s.ReplyBy, &s.AgreeBy, &s.CancelBy, &s.LeaseBy} {
			*at = rapid.SampledFrom([]time.Time{{}, time.Unix(0, 1), time.Unix(0, 1e6), time.Unix(0, 1e6+1), time.Unix(7, 0)}).Draw(r, "at")
		}
	}
	if x.Version == 0 || rapid.Bool().Draw(r, "another state") {
		s.Protocol = rapid.SampledFrom([]string{protocol.RequestV1, protocol.RequestV1, protocol.GatherV1, "other/v1"}).Draw(r, "protocol")
		s.Role = rapid.SampledFrom([]protocol.Role{protocol.Initiator, protocol.Participant}).Draw(r, "role")
		s.State = rapid.SampledFrom([]protocol.State{"received", "agreed", "cancelling", "given", "done:ok", "done:failed"}).Draw(r, "state")
	}
	if rapid.Bool().Draw(r, "another end") {
		x.EndedAt = rapid.SampledFrom([]time.Time{{}, time.UnixMilli(1), time.UnixMilli(2)}).Draw(r, "ended")
	}
}

func TestAStepLeavesAloneWhatStays(t *testing.T) {
	s := openTemp(t)
	err := s.write(t.Context(), func(ctx context.Context, w *writer) error {
		run(t, w, "CREATE TABLE touched (name TEXT, step INTEGER)")
		for _, column := range []string{"correlation", "outcome", "due_ms"} {
			run(t, w, fmt.Sprintf("CREATE TRIGGER touch_%s AFTER UPDATE OF %[1]s ON exchange BEGIN INSERT INTO touched VALUES ('%[1]s', OLD.version); END", column))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	x := store.Exchange{Key: store.Key{Owner: "agent://local/a", Conversation: "c", Peer: "agent://local/b"},
		State: protocol.Exchange{Protocol: protocol.RequestV1, Role: protocol.Participant, State: "agreed"}}
	for _, step := range []struct {
		what string
		move func()
		want string
	}{
		{"opening", func() { x.State.ReplyBy = time.UnixMilli(500) }, ""},
		{"a step", func() { x.State.Received++ }, ""},
		{"a later timer", func() { x.State.ReplyBy = time.UnixMilli(900) }, "due_ms outcome"},
		{"another correlation", func() { x.Correlation = "d" }, "correlation due_ms outcome"},
		{"the end", func() { x.State.State, x.EndedAt = "done:ok", time.UnixMilli(700) }, "due_ms outcome"},
	} {
		step.move()
		if err := s.Commit(t.Context(), store.WriteSet{Exchanges: []store.Exchange{x}}); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		x.Version++
		due, err := s.Due(t.Context(), []string{x.Owner}, time.UnixMilli(1000), 9)
		if err != nil || len(due.Timers) == 1 == x.State.Done() || len(due.Timers) == 1 && !due.Timers[0].At.Equal(x.State.ReplyBy) {
			t.Errorf("%s: %+v is due, %v", step.what, due.Timers, err)
		}
		// Not by the writer, which would then look anew.
		if got := answer(t, s.pool, fmt.Sprint("SELECT ifnull(group_concat(name, ' ' ORDER BY name), '') FROM touched WHERE step = ", x.Version-1)); got != step.want {
			t.Errorf("%s touched %q, want %q", step.what, got, step.want)
		}
	}
}
