package guard_test

import (
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
)

const (
	validation = envelope.CodeValidation
	permanent  = envelope.CodePermanent
)

// Changes to what the receiver knows.
func caller(uri string) func(*guard.View) { return func(v *guard.View) { v.Caller = uri } }
func later(d time.Duration) func(*guard.View) {
	return func(v *guard.View) { v.Now = v.Now.Add(d) }
}
func seen(t testing.TB, m message) func(*guard.View) {
	digest := m.seal(t).Digest()
	return func(v *guard.View) { v.Seen = &digest }
}

// furthest bounds how far ahead a deadline may lie.
func furthest(d time.Duration) func(*guard.View) { return func(v *guard.View) { v.MaxReplyBy = d } }

type judged struct {
	name    string
	message message
	known   func(*guard.View)
	want    verdict
}

func judge(t *testing.T, x *protocol.Exchange, cases []judged) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := view(c.message.Sender, x)
			if c.known != nil {
				c.known(&v)
			}
			if got := verdictOf(t, guard.Admit(v, c.message.sealed(t))); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestWhoIsAnsweredWhatOnAnOpeningAct(t *testing.T) {
	auth := verdict{"identity", guard.Deny, envelope.CodeAuth, "", ""}
	late := verdict{"deadline", guard.Decline, envelope.CodeDeadline, "late", "/reply_by"}
	hops := verdict{"hop", guard.Decline, permanent, "hop-limit", "/hop"}
	request := say(1, planner, "request")
	judge(t, nil, []judged{
		{"a good request", request, nil, verdict{}},
		{"a good query", say(1, planner, "request", under("acme.flight.look/v1")), nil, verdict{}},
		{"nobody known", request, caller(""), auth},
		{"somebody else", request, caller(hotels), auth},
		{"for another receiver", request, func(v *guard.View) { v.Self = hotels }, auth},
		{"of another tenant", say(1, "agent://globex/planner", "request"), nil, auth},
		{"a duplicate", request, seen(t, request), verdict{"duplicate", guard.Repeat, "", "", ""}},
		{"the same id with another digest", request, seen(t, say(1, planner, "request", hop(1))), verdict{"equivocation", guard.Reject, permanent, "equivocation", ""}},
		{"a first number that is not 1", say(1, planner, "request", seq(2)), nil, verdict{"sequence", guard.Again, envelope.CodeTransient, "sequence-gap", "/seq"}},
		{"within the skew", request, later(61 * time.Second), verdict{}},
		{"after the deadline", request, later(61*time.Second + 1), late},
		{"a late duplicate", request, func(v *guard.View) { seen(t, request)(v); later(time.Hour)(v) }, verdict{"duplicate", guard.Repeat, "", "", ""}},
		{"as far ahead as is allowed", request, furthest(59 * time.Second), verdict{}},
		{"too far ahead", request, furthest(59*time.Second - 1), verdict{"deadline", guard.Decline, permanent, "policy", "/reply_by"}},
		{"at the hop limit", say(1, planner, "request", hop(8)), nil, verdict{}},
		{"beyond the hop limit", say(1, planner, "request", hop(9)), nil, hops},
		{"beyond a lower one", say(1, planner, "request", hop(3)), func(v *guard.View) { v.HopLimit = 2 }, hops},
		{"within a higher one", say(1, planner, "request", hop(20)), func(v *guard.View) { v.HopLimit = 20 }, verdict{}},
		{"an act that opens nothing", say(1, planner, "cfp"), nil, verdict{"legality", guard.Deny, permanent, "wrong-role", "/performative"}},
		{"an act that opens nothing, late", say(1, planner, "cfp", hop(9)), later(time.Hour), verdict{"legality", guard.Deny, permanent, "wrong-role", "/performative"}},
		{"an answer to nothing", say(1, planner, "inform"), nil, verdict{"correlation", guard.Deny, permanent, "mismatch", "/conversation_id"}},
		{"an answer to nothing, out of sequence", say(1, planner, "inform", seq(7)), nil, verdict{"correlation", guard.Deny, permanent, "mismatch", "/conversation_id"}},
		{"a receipt of nothing", say(1, planner, "not-understood"), nil, verdict{"correlation", guard.Deny, permanent, "mismatch", "/conversation_id"}},
		{"an unknown protocol", say(1, planner, "request", proto("auction/v7")), nil, verdict{"protocol", guard.Misread, validation, "unsupported-protocol", "/protocol"}},
		{"an unknown protocol, late", say(1, planner, "request", proto("auction/v7")), later(time.Hour), verdict{"protocol", guard.Misread, validation, "unsupported-protocol", "/protocol"}},
		{"the contract's other protocol", say(1, planner, "request", proto(protocol.QueryV1)), nil, verdict{"contract", guard.Misread, validation, "unsupported-protocol", "/protocol"}},
		{"an unknown contract", say(1, planner, "request", capability("urn:cap:acme.train.book/v1")), nil, verdict{"contract", guard.Misread, validation, "unsupported-version", "/capability"}},
		{"another major version", say(1, planner, "request", schemaName("acme.flight.book/v2")), nil, verdict{"content", guard.Misread, validation, "unsupported-version", "/schema"}},
		{"another contract's schema", say(1, planner, "request", schemaName("acme.flight.look/v1")), nil, verdict{"content", guard.Misread, validation, "unsupported-version", "/schema"}},
		{"bad content", say(1, planner, "request", content(`{"flight":"121"}`)), nil, verdict{"content", guard.Misread, validation, "schema", "/content/flight"}},
		{"an unknown member", say(1, planner, "request", content(`{"flight":"AY121","class":"c"}`)), nil, verdict{"content", guard.Misread, validation, "schema", "/content/class"}},
		{"a cancel that overtook its request", say(2, planner, "cancel", seq(2), hop(9)), later(time.Hour), verdict{}},
		{"a cancel that answers nothing", say(2, planner, "cancel", seq(1), inReplyTo("")), nil, verdict{}},
		{"a bad cancel", say(2, planner, "cancel", content(`{"why":"no"}`)), nil, verdict{"content", guard.Deny, validation, "schema", "/content"}},
		{"a cancel under an unknown protocol", say(2, planner, "cancel", proto("auction/v7")), nil, verdict{"protocol", guard.Deny, validation, "unsupported-protocol", "/protocol"}},
	})
}

func TestWhoIsAnsweredWhatOnALaterAct(t *testing.T) {
	illegal := verdict{"legality", guard.Reject, permanent, "illegal-transition", "/performative"}
	wrongRole := verdict{"legality", guard.Reject, permanent, "wrong-role", "/performative"}
	equivocation := verdict{"equivocation", guard.Reject, permanent, "equivocation", ""}
	next := func(what string, changes ...func(*message)) message {
		return say(20, flights, what, append([]func(*message){seq(2)}, changes...)...)
	}
	judge(t, exchange(t, planner, "!request", "?agree"), []judged{
		{"a good inform", next("inform"), nil, verdict{}},
		{"a good partial", next("inform~"), nil, verdict{}},
		{"a good failure", next("failure"), nil, verdict{}},
		{"somebody else", next("inform"), caller(hotels), verdict{"identity", guard.Deny, envelope.CodeAuth, "", ""}},
		{"a duplicate", next("inform"), seen(t, next("inform")), verdict{"duplicate", guard.Repeat, "", "", ""}},
		{"a late duplicate", next("inform"), func(v *guard.View) { seen(t, next("inform"))(v); later(time.Hour)(v) }, verdict{"duplicate", guard.Repeat, "", "", ""}},
		{"the same id with another digest", next("inform"), seen(t, next("failure")), equivocation},
		{"the same number under another id", next("inform", seq(1)), nil, equivocation},
		{"a gap", next("inform", seq(3)), nil, verdict{"sequence", guard.Again, envelope.CodeTransient, "sequence-gap", "/seq"}},
		{"another protocol", next("inform", proto(protocol.QueryV1)), nil, verdict{"correlation", guard.Deny, permanent, "mismatch", "/protocol"}},
		{"an answer to what was never said", next("inform", inReplyTo(id(99))), nil, verdict{"correlation", guard.Reject, permanent, "mismatch", "/in_reply_to"}},
		{"out of sequence, to what was never said", next("inform", inReplyTo(id(99)), seq(500)), nil, verdict{"sequence", guard.Again, envelope.CodeTransient, "sequence-gap", "/seq"}},
		{"another generation", next("inform", generation(8)), nil, verdict{"generation", guard.Deny, permanent, "stale-generation", "/sender_generation"}},
		{"an older generation", next("inform", generation(6)), nil, verdict{"generation", guard.Deny, permanent, "stale-generation", "/sender_generation"}},
		{"an illegal act", next("agree"), nil, illegal},
		{"an illegal act with bad content", next("agree", content(`{"x":1}`), schemaName("acme.other/v1")), nil, illegal},
		{"a confirmation of no cancel", next("inform.c", inReplyTo(id(1))), nil, illegal},
		{"an act of the other role", next("request", inReplyTo(id(1))), nil, wrongRole},
		{"a cancel by the participant", next("cancel"), nil, wrongRole},
		{"a receipt that is no event", next("nack"), nil, wrongRole},
		{"a terminal act with bad content", next("inform", content(`{"reference":""}`)), nil, verdict{"content", guard.Void, validation, "schema", "/content/reference"}},
		{"a terminal act of another schema", next("inform", schemaName("acme.flight.book.result/v2")), nil, verdict{"content", guard.Void, validation, "unsupported-version", "/schema"}},
		{"a failure that says too much", next("failure", content(`{"stack":"…"}`)), nil, verdict{"content", guard.Void, validation, "schema", "/content"}},
		{"a failure of another schema", next("failure", schemaName(protocol.AgreeSchema)), nil, verdict{"content", guard.Void, validation, "schema", "/schema"}},
		{"a partial with bad content", next("inform~", content(`{"reference":7}`)), nil, verdict{"content", guard.Reject, validation, "schema", "/content/reference"}},
		{"a result before its asker is back", next("inform"), func(v *guard.View) { v.Contract = func(string) *guard.Contract { return nil } },
			verdict{"contract", guard.Again, envelope.CodeTransient, "overloaded", ""}},
		{"a deep delegation, which was the request's", next("inform", hop(9)), nil, verdict{}},
	})
	judge(t, exchange(t, planner, "!request"), []judged{
		{"not understood", say(20, flights, "not-understood"), nil, verdict{}},
		{"an early inform", say(20, flights, "inform"), nil, illegal},
		{"a bad agree", say(20, flights, "agree", content(`{"x":1}`)), nil, verdict{"content", guard.Reject, validation, "schema", "/content"}},
	})
	judge(t, exchange(t, planner, "!request", "!cancel"), []judged{
		{"a confirmed cancel", say(20, flights, "inform.c"), nil, verdict{}},
		{"a confirmed cancel that says too much", say(20, flights, "inform.c", content(`{"x":1}`)), nil, verdict{"content", guard.Void, validation, "schema", "/content"}},
	})
	judge(t, exchange(t, flights, "?request"), []judged{
		{"a second request", say(20, planner, "request", seq(2)), nil, illegal},
		{"an answer of the initiator's", say(20, planner, "inform", seq(2), inReplyTo(id(1))), nil, verdict{"correlation", guard.Reject, permanent, "mismatch", "/in_reply_to"}},
		{"a cancel", say(2, planner, "cancel", seq(2)), nil, verdict{}},
		{"a cancel with a gap before it", say(2, planner, "cancel", seq(9)), nil, verdict{}},
		{"a cancel of something unknown", say(2, planner, "cancel", seq(2), inReplyTo(id(77))), nil, verdict{}},
		{"a bad cancel", say(2, planner, "cancel", seq(2), content(`{"x":1}`)), nil, verdict{"content", guard.Reject, validation, "schema", "/content"}},
		{"a cancel of another generation", say(2, planner, "cancel", seq(2), generation(8)), nil, verdict{"generation", guard.Deny, permanent, "stale-generation", "/sender_generation"}},
	})
}

func TestACancelClosesItsSendersSequence(t *testing.T) {
	closed := exchange(t, flights, "?request", "!agree", "?cancel")
	cancelled := verdict{"legality", guard.Reject, envelope.CodeCancelled, "wrong-role", "/performative"}
	judge(t, closed, []judged{
		{"what comes later", say(20, planner, "agree", seq(500), inReplyTo(id(11))), nil, cancelled},
		{"what was missing", say(20, planner, "agree", seq(1), inReplyTo(id(11))), nil, cancelled},
	})
	tombstone := exchange(t, flights, "?cancel")
	judge(t, tombstone, []judged{
		{"the request, while its cancel is being confirmed", say(1, planner, "request"), nil, verdict{}},
	})
	judge(t, exchange(t, flights, "?cancel", "!inform.c"), []judged{
		{"the request that its cancel overtook", say(1, planner, "request"), nil, verdict{"legality", guard.Reject, envelope.CodeCancelled, "post-terminal", "/performative"}},
	})
}

func TestARefusedCancelClosesNothing(t *testing.T) {
	x := exchange(t, planner, "!request", "?agree")
	cancel := say(20, flights, "cancel", seq(2)).seal(t)
	if got := verdictOf(t, guard.Admit(view(flights, x), cancel)); got.answer != guard.Reject {
		t.Fatalf("%+v", got)
	}
	after := protocol.Consume(*x, cancel)
	judge(t, &after, []judged{
		{"a jump", say(21, flights, "inform", seq(500)), nil, verdict{"sequence", guard.Again, envelope.CodeTransient, "sequence-gap", "/seq"}},
		{"the next one", say(21, flights, "inform", seq(3)), nil, verdict{}},
	})
}

func TestWhatComesAfterTheEndIsToldSo(t *testing.T) {
	postTerminal := verdict{"legality", guard.Reject, permanent, "post-terminal", "/performative"}
	judge(t, exchange(t, planner, "!request", "?agree", "?inform"), []judged{
		{"a second result", say(20, flights, "inform", seq(3)), nil, postTerminal},
		{"a failure", say(20, flights, "failure", seq(3)), nil, postTerminal},
		{"a receipt, which is absorbed", say(20, flights, "not-understood"), nil, verdict{}},
	})
	judge(t, exchange(t, flights, "?request", "!refuse"), []judged{
		{"a cancel, which is absorbed", say(2, planner, "cancel", seq(2)), nil, verdict{}},
		{"another request", say(20, planner, "request", seq(2)), nil, postTerminal},
	})
}

func TestALateResultIsNotHeardButALateLastWordIs(t *testing.T) {
	late := verdict{"deadline", guard.Reject, envelope.CodeDeadline, "late", "/reply_by"}
	reply, last := time.Minute, time.Minute+15*time.Second
	agreed := exchange(t, planner, "!request", "?agree")
	judge(t, agreed, []judged{
		{"an inform in time", say(20, flights, "inform", seq(2)), later(reply + time.Second), verdict{}},
		{"a late inform", say(20, flights, "inform", seq(2)), later(reply + time.Second + 1), late},
		{"a late partial", say(20, flights, "inform~", seq(2)), later(reply + time.Second + 1), late},
		{"a late inform that claims more time", say(20, flights, "inform", seq(2), replyBy(noon.Add(time.Hour))), later(reply + time.Second + 1), late},
		{"an inform with less time of its own", say(20, flights, "inform", seq(2), replyBy(noon)), later(time.Second + 1), late},
		{"a late failure", say(20, flights, "failure", seq(2)), later(last + time.Second), verdict{}},
		{"a failure after the last word", say(20, flights, "failure", seq(2)), later(last + time.Second + 1), late},
	})
	judge(t, exchange(t, planner, "!request"), []judged{
		{"a late agree", say(20, flights, "agree"), later(reply + time.Second + 1), late},
		{"a late refusal", say(20, flights, "refuse"), later(last + time.Second), verdict{}},
		{"a late not-understood", say(20, flights, "not-understood"), later(last + time.Second), verdict{}},
	})
	judge(t, exchange(t, planner, "!request", "!cancel"), []judged{
		{"a late confirmation", say(20, flights, "inform.c"), later(last + time.Second), verdict{}},
		{"a result that crossed the cancel, late", say(20, flights, "inform"), later(reply + time.Second + 1), late},
	})
	judge(t, exchange(t, flights, "?request"), []judged{
		{"a late cancel", say(2, planner, "cancel", seq(2)), later(last + time.Second), verdict{}},
	})
}

func TestAnExchangeHasRoomForAThousandMessagesAndACancel(t *testing.T) {
	full := exchange(t, planner, "!request", "?agree")
	full.Messages = guard.MaxMessages
	judge(t, full, []judged{
		{"one more", say(20, flights, "inform~", seq(2)), nil, verdict{"budget", guard.Again, envelope.CodeCapacity, "budget", ""}},
	})
	full.Messages--
	judge(t, full, []judged{{"the last one", say(20, flights, "inform~", seq(2)), nil, verdict{}}})
	asked := exchange(t, flights, "?request")
	asked.Messages = guard.MaxMessages
	judge(t, asked, []judged{{"a cancel", say(2, planner, "cancel", seq(2)), nil, verdict{}}})
}

func TestANewerMinorVersionMayAddAndAnOlderMayNot(t *testing.T) {
	extra := content(`{"flight":"AY121","class":"c"}`)
	refused := verdict{"content", guard.Misread, validation, "schema", "/content/class"}
	judge(t, nil, []judged{
		{"newer with a new member", say(1, planner, "request", schemaName("acme.flight.book/v1.3"), extra), nil, verdict{}},
		{"newer by number, not by text", say(1, planner, "request", schemaName("acme.flight.book/v1.10"), extra), nil, verdict{}},
		{"newer but wrong", say(1, planner, "request", schemaName("acme.flight.book/v1.3"), content(`{"flight":7}`)), nil,
			verdict{"content", guard.Misread, validation, "schema", "/content/flight"}},
		{"the same with a new member", say(1, planner, "request", extra), nil, refused},
		{"older with a new member", say(1, planner, "request", schemaName("acme.flight.book/v1.1"), extra), nil, refused},
		{"the first with a new member", say(1, planner, "request", schemaName("acme.flight.book/v1"), extra), nil, refused},
		{"older", say(1, planner, "request", schemaName("acme.flight.book/v1")), nil, verdict{}},
	})
	judge(t, exchange(t, planner, "!request", "?agree"), []judged{
		{"a newer result", say(20, flights, "inform", seq(2), schemaName("acme.flight.book.result/v1.9"), content(`{"reference":"X","gate":1}`)), nil, verdict{}},
		{"an older result with a new member", say(20, flights, "inform", seq(2), schemaName("acme.flight.book.result/v1"), content(`{"reference":"X","gate":1}`)), nil,
			verdict{"content", guard.Void, validation, "schema", "/content/gate"}},
	})
}

func TestAMessageWithSeveralFaultsIsAnsweredForTheFirst(t *testing.T) {
	type step struct {
		rule string
		mend func(*guard.View, *message)
	}
	climb := func(name string, v guard.View, m message, steps []step) {
		for _, s := range steps {
			if got := verdictOf(t, guard.Admit(v, m.seal(t))); got.rule != s.rule {
				t.Errorf("%s: %+v, want rule %s", name, got, s.rule)
			}
			s.mend(&v, &m)
		}
		if err := guard.Admit(v, m.seal(t)); err != nil {
			t.Errorf("%s: nothing is wrong any more, yet %v", name, err)
		}
	}
	other := say(99, planner, "request").seal(t).Digest()

	opening := view(planner, nil)
	opening.Caller, opening.Seen, opening.Now = hotels, &other, noon.Add(time.Hour)
	climb("opening act", opening, say(1, planner, "request", seq(5), hop(9), content(`{"flight":""}`)), []step{
		{"identity", func(v *guard.View, _ *message) { v.Caller = planner }},
		{"equivocation", func(v *guard.View, _ *message) { v.Seen = nil }},
		{"sequence", func(_ *guard.View, m *message) { m.Seq = 1 }},
		{"deadline", func(v *guard.View, _ *message) { v.Now = noon }},
		{"hop", func(_ *guard.View, m *message) { m.Hop = 8 }},
		{"content", func(_ *guard.View, m *message) { m.content = `{"flight":"AY1"}` }},
	})

	x := exchange(t, planner, "!request")
	x.PeerGeneration, x.Messages = 7, guard.MaxMessages
	last := view(flights, x)
	last.Caller, last.Seen, last.Now = hotels, &other, noon.Add(time.Hour)
	climb("later act", last, say(20, flights, "inform", proto(protocol.QueryV1), generation(8), seq(500), inReplyTo(id(99)), content(`{}`)), []step{
		{"identity", func(v *guard.View, _ *message) { v.Caller = flights }},
		{"equivocation", func(v *guard.View, _ *message) { v.Seen = nil }},
		{"correlation", func(_ *guard.View, m *message) { m.Protocol = protocol.RequestV1 }},
		{"generation", func(_ *guard.View, m *message) { m.SenderGeneration = 7 }},
		{"sequence", func(_ *guard.View, m *message) { m.Seq = 1 }},
		{"budget", func(*guard.View, *message) { x.Messages = 1 }},
		{"correlation", func(_ *guard.View, m *message) { m.InReplyTo = id(1) }},
		{"deadline", func(v *guard.View, _ *message) { v.Now = noon }},
		{"legality", func(*guard.View, *message) { x.State = "agreed" }},
		{"content", func(_ *guard.View, m *message) { m.content = `{"reference":"X"}` }},
	})
}

func TestARetriableRefusalSaysWhenToComeBack(t *testing.T) {
	full := exchange(t, planner, "!request", "?agree")
	full.Messages = guard.MaxMessages
	for _, c := range []struct {
		x *protocol.Exchange
		m message
	}{
		{nil, say(1, planner, "request", seq(2))},
		{full, say(20, flights, "inform~", seq(2))},
	} {
		err := guard.Admit(view(c.m.Sender, c.x), c.m.seal(t))
		v, ok := err.(*guard.Violation)
		if !ok || v.Answer != guard.Again || v.RetryAfter <= 0 || !v.Told().Retriable || v.Told().RetryAfter != v.RetryAfter {
			t.Errorf("%+v", err)
		}
	}
}
