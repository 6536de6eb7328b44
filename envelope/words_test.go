package envelope

import (
	"slices"
	"testing"
)

func TestThereAreEightPerformativesAndThreeReceipts(t *testing.T) {
	acts := []Performative{"request", "cfp", "propose", "agree", "refuse", "inform", "failure", "cancel"}
	if !slices.Equal(Performatives(), acts) {
		t.Errorf("performatives %v", Performatives())
	}
	if want := []Receipt{"ack", "nack", "not-understood"}; !slices.Equal(Receipts(), want) {
		t.Errorf("receipts %v", Receipts())
	}
	Performatives()[0], Receipts()[0] = "order", "seen"
	if Performatives()[0] != Request || Receipts()[0] != Ack {
		t.Error("the sets can be changed from outside")
	}
}

func TestOnlyCapacityAndTransientAreRetriable(t *testing.T) {
	for _, code := range codes {
		if want := code == "capacity" || code == "transient"; code.Retriable() != want || NewError(code, "").Retriable != want {
			t.Errorf("%s retriable: %v", code, code.Retriable())
		}
	}
}

func TestIntegrityIsATotalOrder(t *testing.T) {
	order := []Integrity{System, Operator, User, Peer, Tool, Web, "made-up"}
	for i, a := range order {
		for j, b := range order {
			if a.Less(b) != (i > j) {
				t.Errorf("%s less than %s: %v", a, b, a.Less(b))
			}
			if want := order[max(i, j)]; a.Min(b) != want {
				t.Errorf("min of %s and %s is %s", a, b, a.Min(b))
			}
		}
	}
}

func TestAgentURIs(t *testing.T) {
	for _, s := range []string{"agent://local/flights", "agent://a/b", "agent://acme.example/x-0123456789abcdef", "agent://1.2/3--4"} {
		u, err := ParseURI(s)
		if err != nil || u.String() != s {
			t.Errorf("%s: %v, %v", s, u, err)
		}
	}
	for _, s := range []string{
		"", "flights", "agent:local/flights", "agent://local", "agent://local/", "agent:///flights", "agent://local/Flights",
		"agent://local/a/b", "agent://local:80/a", "agent://local/a?b", "agent://local/a#b", "agent://-a/b", "agent://a/b-",
		"agent://a/b\n", "agent://a/é", "AGENT://a/b", "agent://a/" + string(make([]byte, 64)), "agent://a_b/c",
		"agent://a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	} {
		if u, err := ParseURI(s); err == nil {
			t.Errorf("%q is read as %v", s, u)
		}
	}
}
