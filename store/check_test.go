package store_test

import (
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
)

func TestASetThatContradictsItselfIsAnErrorThatNamesTheExchange(t *testing.T) {
	with := func(peer string) store.Exchange {
		return store.Exchange{Key: store.Key{Owner: "a", Conversation: "c", Peer: peer}}
	}
	child := func(owner string) store.Exchange {
		x := with("b")
		x.Parent = store.Key{Owner: owner, Conversation: "up", Peer: "z"}
		return x
	}
	for _, c := range []struct {
		what      string
		exchanges []store.Exchange
		want      string // "" if it is none
	}{
		{"no exchange", nil, ""},
		{"two peers", []store.Exchange{with("b"), with("d")}, ""},
		{"a child", []store.Exchange{child("a")}, ""},
		{"one peer twice", []store.Exchange{with("d"), with("b"), with("d")}, "of a with d in conversation c: the set writes it twice"},
		{"a foreign parent", []store.Exchange{with("d"), child("e")}, "of a with b in conversation c: its parent belongs to e"},
	} {
		err := store.WriteSet{Exchanges: c.exchanges}.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.what, err, c.want)
		}
	}
}
