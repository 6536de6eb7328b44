package protocol

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
)

func TestTheOtherProtocolsHaveTheseTimers(t *testing.T) {
	replyBy := noon.Add(time.Minute)
	at := func(t Timer, due time.Time) map[Timer]time.Time { return map[Timer]time.Time{t: due} }
	for _, c := range []struct {
		protocol string
		role     Role
		state    State
		want     map[Timer]time.Time
	}{
		{ContractNetV1, Initiator, "called", at(TimerReplyBy, replyBy)},
		{ContractNetV1, Initiator, "expired", at(TimerGrace, replyBy.Add(5*time.Second))},
		{ContractNetV1, Initiator, "proposed", at(TimerReplyBy, replyBy)},
		{ContractNetV1, Initiator, "awarded", at(TimerReplyBy, replyBy)},
		{ContractNetV1, Initiator, cancelling, at(TimerCancelBy, noon.Add(5*time.Second))},
		{ContractNetV1, Initiator, "late", nil},
		{ContractNetV1, Participant, "called", at(TimerReplyBy, replyBy)},
		{ContractNetV1, Participant, "proposed", at(TimerReplyBy, replyBy)},
		{ContractNetV1, Participant, "lapsed", at(TimerGrace, replyBy.Add(5*time.Second))},
		{ContractNetV1, Participant, "awarded", at(TimerReplyBy, replyBy)},
		{ContractNetV1, Participant, cancelling, at(TimerCancelBy, noon.Add(5*time.Second))},
		{SubscribeV1, Initiator, "active", at(TimerReplyBy, replyBy)},
		{SubscribeV1, Participant, "received", map[Timer]time.Time{TimerAgree: noon.Add(AgreeAfter), TimerReplyBy: replyBy}},
		{SubscribeV1, Participant, "active", at(TimerLease, noon.Add(30*time.Second))},
		{ProposeV1, Initiator, "proposed", at(TimerReplyBy, replyBy)},
		{ProposeV1, Participant, "considering", at(TimerReplyBy, replyBy)},
		{GatherV1, Initiator, "open", at(TimerGatherBy, replyBy)},
		{GatherV1, Initiator, "contributed", at(TimerGatherBy, replyBy)},
		{GatherV1, Initiator, "abstained", at(TimerGatherBy, replyBy)},
		{GatherV1, Initiator, "missing", at(TimerGatherBy, replyBy)},
		{GatherV1, Initiator, "cancelled", at(TimerCancelBy, noon.Add(5*time.Second))},
		{GatherV1, Initiator, "fencing", at(TimerAckBy, noon.Add(10*time.Second))},
		{GatherV1, Participant, "asked", at(TimerGatherBy, replyBy)},
		{GatherV1, Participant, "given", at(TimerLease, replyBy.Add(30*time.Second))},
		{GatherV1, Participant, stopping, at(TimerCancelBy, noon.Add(5*time.Second))},
		{GatherV1, Participant, stopped, at(TimerLease, noon.Add(30*time.Second))},
	} {
		if got := newSealer(t).in(c.protocol, c.role, c.state).Timers(); !maps.Equal(got, c.want) {
			t.Errorf("%s %s in %s: %v, want %v", c.protocol, c.role, c.state, got, c.want)
		}
	}
}

func TestNoOwnerCanBeStuckInAStateForEver(t *testing.T) {
	for _, p := range All() {
		for _, r := range []Role{Initiator, Participant} {
			for _, state := range states(p.Table(r)) {
				if state == Start || state.Done() {
					continue
				}
				s := newSealer(t)
				way := path(p.Table(r), state)
				x := s.drive(opened(p.Name, r), way[:len(way)-1]...)
				in, now := s.input(x, way[len(way)-1])
				x, out, err := Advance(x, now, in)
				if err != nil {
					t.Fatal(err)
				}
				speaks := slices.ContainsFunc(out, func(o Output) bool { return o.Do == Utter || o.Do == Acknowledge })
				if len(x.Timers()) == 0 && !speaks {
					t.Errorf("%s %s: nothing ever happens in %s", p.Name, r, state)
				}
			}
		}
	}
}

func TestEveryStepOfTheOtherProtocolsAsksForWhatMustFollow(t *testing.T) {
	for _, c := range []struct {
		protocol string
		role     Role
		from     State
		on       Event
		want     []string
	}{
		{ContractNetV1, Initiator, Start, "!cfp", nil},
		{ContractNetV1, Initiator, "called", "?propose", []string{"decide"}},
		{ContractNetV1, Initiator, "called", "#reply-by", []string{"decide"}},
		{ContractNetV1, Initiator, "expired", "?propose", []string{"utter refuse (deadline late)"}},
		{ContractNetV1, Initiator, "expired", "#grace", []string{"end"}},
		{ContractNetV1, Initiator, "awarded", "?inform~", nil},
		{ContractNetV1, Initiator, "awarded", "?cancel", []string{"end"}},
		{ContractNetV1, Initiator, "called", "?cancel", []string{"end"}},
		{ContractNetV1, Participant, Start, "?cfp", []string{"work"}},
		{ContractNetV1, Participant, Start, "?cancel", []string{"utter inform.c"}},
		{ContractNetV1, Participant, "called", "?cancel", []string{"stop"}},
		{ContractNetV1, Participant, "called", "!propose", nil},
		{ContractNetV1, Participant, "called", "#reply-by", []string{"stop", "utter refuse (deadline lapsed)"}},
		{ContractNetV1, Participant, "proposed", "?agree", []string{"work"}},
		{ContractNetV1, Participant, "proposed", "?cfp", []string{"work"}},
		{ContractNetV1, Participant, "proposed", "?cancel", []string{"utter inform.c"}},
		{ContractNetV1, Participant, "proposed", "?refuse", []string{"end"}},
		{ContractNetV1, Participant, "proposed", "!cancel", []string{"end"}},
		{ContractNetV1, Participant, "proposed", "#reply-by", nil},
		{ContractNetV1, Participant, "lapsed", "?cfp", []string{"work"}},
		{ContractNetV1, Participant, "lapsed", "?cancel", []string{"utter inform.c"}},
		{ContractNetV1, Participant, "lapsed", "?agree", []string{"utter failure (deadline lapsed)"}},
		{ContractNetV1, Participant, "awarded", "?cancel", []string{"stop"}},
		{ContractNetV1, Participant, "awarded", "#reply-by", []string{"stop", "utter failure (deadline overran)"}},
		{SubscribeV1, Participant, Start, "?request", []string{"work"}},
		{SubscribeV1, Participant, "active", "?cancel", []string{"stop"}},
		{SubscribeV1, Participant, "active", "#lease", []string{"stop", "utter failure (deadline lapsed)"}},
		{ProposeV1, Initiator, Start, "!propose", nil},
		{ProposeV1, Initiator, "proposed", "?agree", []string{"end"}},
		{ProposeV1, Participant, Start, "?propose", []string{"work"}},
		{ProposeV1, Participant, "considering", "#reply-by", []string{"stop", "utter refuse (deadline lapsed)"}},
		{GatherV1, Initiator, "open", "?inform~", []string{"decide"}},
		{GatherV1, Initiator, "open", "?refuse", []string{"decide"}},
		{GatherV1, Initiator, "open", Nacked, []string{"decide"}},
		{GatherV1, Initiator, "open", "#gather-by", []string{"decide"}},
		{GatherV1, Initiator, "missing", "?inform~", nil},
		{GatherV1, Initiator, "contributed", "!fence", nil},
		{GatherV1, Initiator, "fencing", "?ack", []string{"end"}},
		{GatherV1, Initiator, "fencing", "#ack-by", []string{"end"}},
		{GatherV1, Participant, Start, "?request", []string{"work"}},
		{GatherV1, Participant, Start, "?cancel", []string{"utter inform.c"}},
		{GatherV1, Participant, Start, "?fence", []string{"acknowledge"}},
		{GatherV1, Participant, "asked", "?cancel", []string{"stop"}},
		{GatherV1, Participant, "asked", "?fence", []string{"stop", "acknowledge"}},
		{GatherV1, Participant, "asked", "#gather-by", []string{"stop"}},
		{GatherV1, Participant, "given", "?cancel", []string{"utter inform.c"}},
		{GatherV1, Participant, "given", "?fence", []string{"acknowledge"}},
		{GatherV1, Participant, "given", "#lease", []string{"end"}},
		{GatherV1, Participant, stopping, "?fence", []string{"stop", "acknowledge"}},
		{GatherV1, Participant, stopped, "?fence", []string{"acknowledge"}},
		{GatherV1, Participant, stopped, "?request", nil},
		{GatherV1, Participant, ackit, "?cancel", nil},
		{GatherV1, Participant, ackit, "?request", nil},
		{GatherV1, Participant, ackit, "!ack", []string{"end"}},
	} {
		s := newSealer(t)
		x := s.in(c.protocol, c.role, c.from)
		in, now := s.input(x, c.on)
		_, out, err := advanceUnchanged(t, x, now, in)
		if got := does(out); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %s in %s: %q, %v, want %q", c.protocol, c.role, c.on, c.from, got, err, c.want)
		}
	}
}

func TestATimerWithoutARowSpeaksForItsOwner(t *testing.T) {
	for _, c := range []struct {
		protocol string
		role     Role
		state    State
		timer    Timer
		want     string
	}{
		{ContractNetV1, Initiator, "proposed", TimerReplyBy, "utter cancel"},
		{ContractNetV1, Initiator, "awarded", TimerReplyBy, "utter cancel"},
		{SubscribeV1, Initiator, "active", TimerReplyBy, "utter cancel"},
		{ProposeV1, Initiator, "proposed", TimerReplyBy, "utter cancel"},
		{SubscribeV1, Participant, "received", TimerAgree, "utter agree"},
		{GatherV1, Initiator, "contributed", TimerGatherBy, "decide"},
		{GatherV1, Initiator, "cancelled", TimerCancelBy, "decide"},
	} {
		x := newSealer(t).in(c.protocol, c.role, c.state)
		next, out, err := Advance(x, x.Timers()[c.timer], Fire(c.timer))
		if err != nil || next.State != c.state {
			t.Errorf("%s in %s: %v, %s", c.timer, c.state, err, next.State)
		}
		wantDoes(t, out, c.want)
	}
	x := newSealer(t).in(GatherV1, Participant, stopping)
	_, out, err := Advance(x, x.CancelBy, Fire(TimerCancelBy))
	if err != nil {
		t.Error(err)
	}
	wantDoes(t, out, "stop", "utter failure (cancelled lapsed)")
}

func TestInAContractNetEachStepBringsItsOwnDeadline(t *testing.T) {
	for _, c := range []struct {
		role  Role
		steps []Event
	}{
		{Initiator, []Event{"!cfp", "?propose", "!cfp", "?propose", "!agree"}},
		{Participant, []Event{"?cfp", "!propose", "?cfp", "!propose", "?agree"}},
	} {
		s := newSealer(t)
		x := opened(ContractNetV1, c.role)
		for i, on := range c.steps {
			h := s.header(x, on)
			h.ReplyBy = noon.Add(time.Duration(i+1) * time.Hour)
			in := Receive(s.seal(h))
			if on.Sends() {
				in = Send(s.seal(h))
			}
			next, _, err := Advance(x, noon, in)
			if err != nil {
				t.Fatal(err)
			}
			if x = next; x.Timers()[TimerReplyBy] != h.ReplyBy {
				t.Errorf("%s after %s: %v, want %v", c.role, on, x.Timers(), h.ReplyBy)
			}
		}
		if x.Round != 2 || x.Call == "" || x.Call == x.Opening || x.Trigger == "" {
			t.Errorf("%+v", x)
		}
	}
}

func TestTheRefusalOfALaterRoundIsARefusalAndThatOfAnAwardAFailure(t *testing.T) {
	for _, kind := range []Event{Nacked, Misunderstood} {
		for _, award := range []bool{false, true} {
			s := newSealer(t)
			x := s.drive(opened(ContractNetV1, Initiator), "!cfp", "?propose", "!cfp")
			want, id := Refused, x.Call
			if award {
				x = s.drive(x, "?propose", "!agree")
				want, id = Failed, x.Asked[len(x.Asked)-1]
			}
			h := s.header(x, kind)
			h.InReplyTo = id
			in := Receive(s.seal(h))
			if kind == Nacked {
				in = Refusal(s.seal(h))
			}
			next, out, err := Advance(x, noon, in)
			if err != nil || next.Outcome() != want || next.Error.Code != envelope.CodeCapacity {
				t.Errorf("%s, award %t: %v, %s", kind, award, err, next.State)
			}
			wantDoes(t, out, "end")
		}
	}
}

func TestALeaseIsRenewedBySignsOfLifeOfThePeerOnly(t *testing.T) {
	s := newSealer(t)
	x := s.in(SubscribeV1, Participant, "received")
	later := noon.Add(20 * time.Second)
	say := func(x Exchange, on Event) Exchange {
		next, _, err := Advance(x, later, Send(s.seal(s.header(x, on))))
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	granted := say(x, "!agree")
	if due := granted.Timers()[TimerLease]; due != later.Add(Lease) {
		t.Errorf("agree grants until %v", due)
	}
	later = later.Add(20 * time.Second)
	item := say(granted, "!inform~")
	if item.Timers()[TimerLease] != granted.Timers()[TimerLease] {
		t.Error("an item that nobody has taken renewed the lease")
	}
	if due := Renew(item, later).Timers()[TimerLease]; due != later.Add(Lease) {
		t.Errorf("its receipt renews until %v", due)
	}
	if over := say(item, "!inform"); Renew(over, later.Add(time.Hour)).LeaseBy != over.LeaseBy {
		t.Error("the lease of what has ended was renewed")
	}
	request := s.in(RequestV1, Participant, "agreed")
	if got := Renew(request, later); !got.LeaseBy.IsZero() {
		t.Error("a request got a lease")
	}
}

func TestACancelBeforeAGatherLeavesATombstoneThatWaitsForTheFence(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(GatherV1, Participant), "?cancel", "!inform.c")
	if x.State != stopped || !x.Closed {
		t.Errorf("%+v", x)
	}
	in, now := s.input(x, "?request")
	x, out, err := Advance(x, now, in)
	if err != nil || x.State != stopped || x.Opening == "" || x.Trigger != x.Cancel {
		t.Errorf("%v, %+v", err, x)
	}
	wantDoes(t, out)
	x = s.drive(x, "?fence")
	if x.Trigger != x.Fence || x.Fence == "" {
		t.Errorf("%+v", x)
	}
	if x = s.drive(x, "!ack"); x.Outcome() != Closed {
		t.Errorf("%+v", x)
	}
	in, now = s.input(x, "?fence")
	next, out, err := Advance(x, now, in)
	if err != nil || next.State != x.State {
		t.Errorf("%v, %+v", err, next)
	}
	wantDoes(t, out, "absorb")
}

func TestNothingTakesTheReceiptFromTheFence(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(GatherV1, Participant), "?fence")
	if x.Opening != "" || x.Fence == "" {
		t.Errorf("%+v", x)
	}
	if next := s.drive(x, "?request", "?cancel"); next.Trigger != x.Fence || next.State != ackit {
		t.Errorf("%+v", next)
	}
}

func TestTheNackOfAFenceChangesNothing(t *testing.T) {
	s := newSealer(t)
	x := s.in(GatherV1, Initiator, "fencing")
	h := s.header(x, Nacked)
	h.InReplyTo = x.Fence
	next, out, err := Advance(x, noon, Refusal(s.seal(h)))
	if err != nil || next.State != "fencing" {
		t.Errorf("%v, %+v", err, next)
	}
	wantDoes(t, out, "absorb")
}

func TestAMembersContributionMayBeAnsweredByTheFence(t *testing.T) {
	s := newSealer(t)
	x := s.drive(opened(GatherV1, Participant), "?request", "!inform~")
	if len(x.Asked) != 1 {
		t.Errorf("%+v", x)
	}
	why := s.drive(opened(GatherV1, Initiator), "!request", "?refuse", "!fence", "?ack")
	if why.Error == nil || why.Err() != nil {
		t.Errorf("a closed exchange keeps why its member abstained: %+v", why)
	}
}
