package guard_test

import (
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
)

var (
	illegal      = verdict{"legality", guard.Reject, permanent, "illegal-transition", "/performative"}
	wrongRole    = verdict{"legality", guard.Reject, permanent, "wrong-role", "/performative"}
	postTerminal = verdict{"legality", guard.Reject, permanent, "post-terminal", "/performative"}
	gap          = verdict{"sequence", guard.Again, envelope.CodeTransient, "sequence-gap", "/seq"}
	tooLate      = verdict{"deadline", guard.Reject, envelope.CodeDeadline, "late", "/reply_by"}
	foreign      = verdict{"correlation", guard.Reject, permanent, "mismatch", "/gather/id"}
	misfit       = verdict{"content", guard.Reject, validation, "schema", "/content/reference"}
	spoilt       = verdict{"content", guard.Void, validation, "schema", "/content/reference"}
)

func gatherID(id string) func(*message) {
	return func(m *message) { m.Gather = &envelope.Gather{ID: id} }
}
func noGather(m *message) { m.Gather = nil }

func TestEachProtocolIsOpenedByItsOwnActAndNoOther(t *testing.T) {
	for proto, act := range map[string]string{protocol.RequestV1: "request", protocol.QueryV1: "request", protocol.SubscribeV1: "request",
		protocol.GatherV1: "request", protocol.ContractNetV1: "cfp", protocol.ProposeV1: "propose"} {
		t.Run(proto, func(t *testing.T) {
			good := sayIn(proto, 1, planner, act)
			wrong := "cfp"
			if act == "cfp" {
				wrong = "request"
			}
			judge(t, nil, []judged{
				{"its own", good, nil, verdict{}},
				{"another", sayIn(proto, 1, planner, wrong), nil, verdict{"legality", guard.Deny, permanent, "wrong-role", "/performative"}},
				{"late", good, later(time.Hour), verdict{"deadline", guard.Decline, envelope.CodeDeadline, "late", "/reply_by"}},
				{"too deep", sayIn(proto, 1, planner, act, hop(9)), nil, verdict{"hop", guard.Decline, permanent, "hop-limit", "/hop"}},
				{"with bad content", sayIn(proto, 1, planner, act, content(`{"flight":"1"}`)), nil, verdict{"content", guard.Misread, validation, "schema", "/content/flight"}},
				{"of another contract", sayIn(proto, 1, planner, act, capability("urn:cap:acme.train.book/v1")), nil,
					verdict{"contract", guard.Misread, validation, "unsupported-version", "/capability"}},
				{"of a contract of another protocol", sayIn(proto, 1, planner, act, capability("urn:cap:acme.flight."+otherKind(proto)+"/v1")), nil,
					verdict{"contract", guard.Misread, validation, "unsupported-protocol", "/protocol"}},
			})
		})
	}
}

// otherKind is the verb of a contract of another protocol.
func otherKind(proto string) string {
	if proto == protocol.QueryV1 {
		return "watch"
	}
	return "look"
}

func TestAStreamsItemsAreJudgedOneByOne(t *testing.T) {
	item := func(changes ...func(*message)) message {
		return sayIn(protocol.SubscribeV1, 20, flights, "inform~", append([]func(*message){seq(2)}, changes...)...)
	}
	judge(t, exchangeIn(t, protocol.SubscribeV1, planner, "!request", "?agree"), []judged{
		{"an item", item(), nil, verdict{}},
		{"an item that does not fit", item(content(`{"reference":""}`)), nil, misfit},
		{"an item of the schema of results", item(schemaName("acme.flight.watch.result/v1")), nil,
			verdict{"content", guard.Reject, validation, "unsupported-version", "/schema"}},
		{"an item of a newer minor version", item(schemaName("acme.flight.watch.item/v1.1"), content(`{"reference":"X","gate":1}`)), nil, verdict{}},
		{"a gap", item(seq(3)), nil, gap},
		{"a late item", item(), later(61*time.Second + 1), tooLate},
		{"the end", sayIn(protocol.SubscribeV1, 20, flights, "inform", seq(2)), nil, verdict{}},
		{"an end that says something", sayIn(protocol.SubscribeV1, 20, flights, "inform", seq(2), content(`{"reference":"X"}`)), nil,
			verdict{"content", guard.Void, validation, "schema", "/content/reference"}},
		{"a second agree", sayIn(protocol.SubscribeV1, 20, flights, "agree", seq(2)), nil, illegal},
	})
	judge(t, exchangeIn(t, protocol.SubscribeV1, planner, "!request", "?agree", "!cancel"), []judged{
		{"an item that crossed the cancel", item(), nil, verdict{}},
	})
	full := exchangeIn(t, protocol.SubscribeV1, planner, "!request", "?agree")
	full.Messages = guard.MaxMessages
	spent := verdict{"budget", guard.Again, envelope.CodeCapacity, "budget", ""}
	judge(t, full, []judged{
		{"an item too many", item(), nil, spent},
		{"an item of a conversation that may have more", item(), func(v *guard.View) { v.Messages, v.MaxMessages = 1000, 1001 }, verdict{}},
		{"an item of a conversation that may have no more", item(), func(v *guard.View) { v.Messages, v.MaxMessages = 5, 5 }, spent},
	})
}

func TestAContractNetsActsBringTheirOwnDeadlines(t *testing.T) {
	net := func(from, what string, changes ...func(*message)) message {
		return sayIn(protocol.ContractNetV1, 20, from, what, changes...)
	}
	past, ahead := noon.Add(time.Hour-16*time.Second-1), noon.Add(2*time.Hour)
	judge(t, exchangeIn(t, protocol.ContractNetV1, planner, "!cfp"), []judged{
		{"a proposal", net(flights, "propose"), nil, verdict{}},
		{"one after the call's deadline, with its own ahead", net(flights, "propose", replyBy(ahead)), later(time.Hour), verdict{}},
		{"one with its own past by more than the last word", net(flights, "propose", replyBy(past)), later(time.Hour), tooLate},
		{"one that would stand too long", net(flights, "propose", replyBy(ahead)), furthest(time.Hour), verdict{"deadline", guard.Reject, permanent, "policy", "/reply_by"}},
		{"a proposal that does not fit", net(flights, "propose", content(`{"reference":""}`)), nil, misfit},
		{"a proposal of the schema of the call", net(flights, "propose", schemaName("acme.flight.haul/v1")), nil,
			verdict{"content", guard.Reject, validation, "unsupported-version", "/schema"}},
		{"a result before the award", net(flights, "inform"), nil, illegal},
		{"a call", net(flights, "cfp", inReplyTo(id(1))), nil, wrongRole},
	})
	judge(t, exchangeIn(t, protocol.ContractNetV1, flights, "?cfp", "!propose"), []judged{
		{"an award", net(planner, "agree", seq(2), inReplyTo(id(11))), nil, verdict{}},
		{"an award of nothing that was proposed", net(planner, "agree", seq(2)), nil, verdict{"correlation", guard.Reject, permanent, "mismatch", "/in_reply_to"}},
		{"an award whose own time is over", net(planner, "agree", seq(2), inReplyTo(id(11))), later(61*time.Second + 1), tooLate},
		{"an award that may take too long", net(planner, "agree", seq(2), inReplyTo(id(11)), replyBy(ahead)), furthest(time.Hour), verdict{"deadline", guard.Reject, permanent, "policy", "/reply_by"}},
		{"a rejection", net(planner, "refuse", seq(2), inReplyTo(id(11))), nil, verdict{}},
		{"the call for the second round", net(planner, "cfp", seq(2), inReplyTo(id(11))), nil, verdict{}},
		{"a result", net(planner, "inform", seq(2), inReplyTo(id(11))), nil, wrongRole},
	})
	judge(t, exchangeIn(t, protocol.ContractNetV1, flights, "?cfp", "!propose", "?cfp", "!propose"), []judged{
		{"the call for a round that is spent", net(planner, "cfp", seq(3), inReplyTo(id(13))), nil, illegal},
	})
	judge(t, exchangeIn(t, protocol.ContractNetV1, planner, "!cfp", "?propose", "!agree"), []judged{
		{"a result", net(flights, "inform", seq(2), inReplyTo(id(12))), nil, verdict{}},
		{"a result that does not fit", net(flights, "inform", seq(2), inReplyTo(id(12)), content(`{"reference":""}`)), nil, spoilt},
		{"progress", net(flights, "inform~", seq(2), inReplyTo(id(12))), nil, verdict{}},
		{"a late result that claims more time", net(flights, "inform", seq(2), inReplyTo(id(12)), replyBy(ahead)), later(61*time.Second + 1), tooLate},
		{"a withdrawal after the award", net(flights, "cancel", seq(2)), nil, verdict{}},
	})
}

func TestAnOfferIsAnsweredByAcceptingOrRejecting(t *testing.T) {
	deal := func(from, what string, changes ...func(*message)) message {
		return sayIn(protocol.ProposeV1, 20, from, what, changes...)
	}
	judge(t, exchangeIn(t, protocol.ProposeV1, planner, "!propose"), []judged{
		{"an acceptance", deal(flights, "agree"), nil, verdict{}},
		{"a rejection", deal(flights, "refuse"), nil, verdict{}},
		{"a late acceptance", deal(flights, "agree"), later(61*time.Second + 1), tooLate},
		{"a result", deal(flights, "inform"), nil, illegal},
		{"an offer in return", deal(flights, "propose", inReplyTo(id(1))), nil, wrongRole},
		{"an acceptance that says more", deal(flights, "agree", content(`{"x":1}`)), nil, verdict{"content", guard.Void, validation, "schema", "/content"}},
	})
	judge(t, exchangeIn(t, protocol.ProposeV1, planner, "!propose", "?agree"), []judged{{"a rejection after it", deal(flights, "refuse", seq(2)), nil, postTerminal}})
}

func TestAContributionNamesItsGather(t *testing.T) {
	say := func(what string, changes ...func(*message)) message {
		return sayIn(protocol.GatherV1, 20, flights, what, changes...)
	}
	judge(t, exchangeIn(t, protocol.GatherV1, planner, "!request"), []judged{
		{"a contribution", say("inform~"), nil, verdict{}},
		{"one to another gather", say("inform~", gatherID("g2")), nil, foreign},
		{"one to none", say("inform~", noGather), nil, foreign},
		{"one that does not fit", say("inform~", content(`{"reference":""}`)), nil, misfit},
		{"an abstention, which names none", say("refuse"), nil, verdict{}},
		{"a late contribution", say("inform~"), later(61*time.Second + 1), tooLate},
		{"a gap", say("inform~", seq(2)), nil, gap},
		{"a result", say("inform"), nil, wrongRole},
		{"a fence of a member's", say("fence"), nil, wrongRole},
		{"a receipt that closes nothing yet", sayIn(protocol.GatherV1, 20, flights, "ack", inReplyTo(id(1))), nil, illegal},
	})
	judge(t, exchangeIn(t, protocol.GatherV1, planner, "!request", "?inform~", "!fence"), []judged{
		{"the receipt of the fence", say("ack"), nil, verdict{}},
		{"another contribution", say("inform~", seq(2)), nil, verdict{}},
	})
}

func TestTheReceiptOfSomethingElseClosesNoFence(t *testing.T) {
	x := exchangeIn(t, protocol.GatherV1, planner, "!request", "?inform~", "!fence")
	got := verdictOf(t, guard.Admit(view(flights, x), sayIn(protocol.GatherV1, 20, flights, "ack", inReplyTo(id(1))).sealed(t)))
	if got == (verdict{}) {
		t.Error("a receipt of the opening act is admitted, which the rules refuse")
	}
}

func TestAFenceClosesWhateverStandsButNotAnotherGather(t *testing.T) {
	fence := func(changes ...func(*message)) message {
		return sayIn(protocol.GatherV1, 3, planner, "fence", changes...)
	}
	for name, history := range map[string][]string{"after the contribution": {"?request", "!inform~"}, "before it": {"?request"}, "after a cancel": {"?request", "?cancel", "!inform.c"}} {
		t.Run(name, func(t *testing.T) {
			judge(t, exchangeIn(t, protocol.GatherV1, flights, history...), []judged{
				{"next in order", fence(seq(3)), nil, verdict{}},
				{"with a number missing before it", fence(seq(9)), nil, verdict{}},
				{"answering nothing that was said", fence(seq(3), inReplyTo(id(99))), nil, verdict{}},
				{"long after the deadline", fence(seq(3)), later(24 * time.Hour), verdict{}},
				{"of another gather", fence(seq(3), gatherID("g2")), nil, foreign},
				{"of no gather", fence(seq(3), noGather), nil, foreign},
				{"of another schema", fence(seq(3), schemaName("acme.flight.poll.result/v1")), nil, verdict{"content", guard.Reject, validation, "unsupported-version", "/schema"}},
				{"that says something else", fence(seq(3), content(`{"gather":"g1"}`)), nil, verdict{"content", guard.Reject, validation, "schema", "/content/counts"}},
				{"of another generation", fence(seq(3), generation(8)), nil, verdict{"generation", guard.Deny, permanent, "stale-generation", "/sender_generation"}},
			})
		})
	}
	full := exchangeIn(t, protocol.GatherV1, flights, "?request", "!inform~")
	full.Messages = guard.MaxMessages
	judge(t, full, []judged{{"though there is no room left", fence(seq(2)), nil, verdict{}}})
	judge(t, nil, []judged{
		{"of a request that never came", fence(seq(2)), nil, verdict{}},
		{"of one that never came, spoilt", fence(seq(2), content(`{"gather":"g1"}`)), nil, verdict{"content", guard.Deny, validation, "schema", "/content/counts"}},
		{"under a protocol that has none", sayIn(protocol.QueryV1, 3, planner, "fence", seq(2)), nil, verdict{"legality", guard.Deny, permanent, "wrong-role", "/performative"}},
	})
	judge(t, exchangeIn(t, protocol.GatherV1, flights, "?request", "!inform~", "?fence", "!ack"), []judged{
		{"a second fence", sayIn(protocol.GatherV1, 20, planner, "fence", seq(3)), nil, verdict{}},
		{"the request again, under a new id", sayIn(protocol.GatherV1, 20, planner, "request", seq(3)), nil, postTerminal},
	})
}
