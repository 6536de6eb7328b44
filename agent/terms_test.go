package agent_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

func TestTermsThatDoNotFitEachOtherAreNamedAtTheStart(t *testing.T) {
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		terms        agent.Terms
		field, other string
	}{
		"a heart that beats too seldom":           {agent.Terms{Heartbeat: 15 * time.Second}, "Heartbeat", "Lease"},
		"a lease that is too short":               {agent.Terms{Lease: 20 * time.Second}, "Heartbeat", "Lease"},
		"a first wait beyond the longest":         {agent.Terms{RetryFirst: 2 * time.Minute}, "RetryFirst", "RetryMax"},
		"a message forgotten while it is sent":    {agent.Terms{Grace: 20 * time.Second}, "Grace", "CarrierTimeout"},
		"an effect forgotten before its message":  {agent.Terms{Inbox: 8 * day}, "Effect", "Inbox"},
		"an effect forgotten before the deadline": {agent.Terms{MaxReplyBy: 7 * day}, "Effect", "MaxReplyBy"},
		"an effect that is forgotten at once":     {agent.Terms{Effect: time.Hour}, "Effect", "Inbox"},
		"a time that runs backwards":              {agent.Terms{RetryMax: -time.Second}, "RetryMax", "RetryMax"},
		"all that fits":                           {agent.Terms{Lease: time.Minute, Heartbeat: 29 * time.Second, Effect: 30 * day, MaxReplyBy: 20 * day}, "", ""},
		"the least that a receiver must remember": {agent.Terms{Inbox: time.Hour, Grace: 22 * time.Second, MaxReplyBy: day, Effect: day + 22*time.Second}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := quiet(open(t, filepath.Join(t.TempDir(), "a.db")))
			cfg.Terms = tt.terms
			h := agent.NewHost(cfg, agent.New("planner"))
			err := h.Start(t.Context())
			defer h.Stop(t.Context())
			if tt.field == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wrong, ok := errors.AsType[*agent.TermsError](err)
			if !ok || wrong.Field != tt.field || wrong.Other != tt.other {
				t.Fatalf("Start = %v, want the fields %s and %s", err, tt.field, tt.other)
			}
			if !strings.Contains(err.Error(), tt.field) || !strings.Contains(err.Error(), tt.other) {
				t.Errorf("%q does not name both fields", err)
			}
		})
	}
}

func TestNobodyCanHoldAPlaceForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(reference)
		planner, _, b := pair(t, nil, flights)
		_, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Within(7*24*time.Hour))
		refused, ok := errors.AsType[*protocol.RefusedError](err)
		if !ok || refused.Code != envelope.CodePermanent || refused.Reason != "policy" || refused.Pointer != "/reply_by" {
			t.Fatalf("Ask = %v, want refused (permanent, policy) at /reply_by", err)
		}
		x := exchangeOf(t, b, flights, refused.Conversation)
		if x.State.State != "done:refused" {
			t.Errorf("the exchange is in %s", x.State.State)
		}
		if _, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Within(6*24*time.Hour)); err != nil {
			t.Errorf("within six days: %v", err)
		}
	})
}
