package protocol

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAGoodNameIsReadAsItStands(t *testing.T) {
	for _, c := range []struct {
		text, canonical, result string
		major, minor            int
	}{
		{"acme.flight.book/v1", "acme.flight.book/v1", "acme.flight.book.result/v1", 1, 0},
		{"acme.flight.book/v2.3", "acme.flight.book/v2.3", "acme.flight.book.result/v2.3", 2, 3},
		{"acme.flight.book/v2.0", "acme.flight.book/v2", "acme.flight.book.result/v2", 2, 0},
		{"book/v1", "local.book/v1", "local.book.result/v1", 1, 0},
		{"a.b/v999999.999999", "a.b/v999999.999999", "a.b.result/v999999.999999", 999999, 999999},
		{"acme-air.re-book/v1", "acme-air.re-book/v1", "acme-air.re-book.result/v1", 1, 0},
		{"0.1/v1", "0.1/v1", "0.1.result/v1", 1, 0},
		{"acme.result.show/v1", "acme.result.show/v1", "acme.result.show.result/v1", 1, 0},
		{"acme.results/v1", "acme.results/v1", "acme.results.result/v1", 1, 0},
	} {
		n, err := ParseName(c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		if n.Major != c.major || n.Minor != c.minor {
			t.Errorf("%s: version %d.%d", c.text, n.Major, n.Minor)
		}
		if n.String() != c.canonical || n.Input() != c.canonical || n.Capability() != "urn:cap:"+c.canonical || n.Result() != c.result {
			t.Errorf("%s: %s, %s, %s, %s", c.text, n, n.Input(), n.Capability(), n.Result())
		}
	}
	if n, _ := ParseName("acme.flight.book/v1"); n.Short() != "book" {
		t.Error(n.Short())
	}
}

func TestABadNameIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "book", "book/", "book/v", "book/v0", "book/v01", "book/1", "book/v1.", "book/v1.01", "book/v1.-1", "book/v1.2.3",
		"book/v1000000", "book/v1.1000000", "Book/v1", "acme.Book/v1", "acme..book/v1", ".book/v1", "acme./v1", "acme.-book/v1",
		"acme.book-/v1", "acme.bo ok/v1", "acme.book/v1 ", " acme.book/v1", "acme.book/v1\n", "acme/book/v1", "urn:cap:acme.book/v1",
		"acme.bücher/v1", "acme.book/v１", "result/v1", "acme.book.result/v1", "acme.progress/v1", "acme.bid/v1", "acme.item/v1",
		"acme.contribution/v2", "a." + strings.Repeat("b", 200) + "/v1",
	} {
		if n, err := ParseName(text); err == nil || n != (Name{}) {
			t.Errorf("%q was read as %+v, %v", text, n, err)
		}
	}
}

func TestAMalformedNameStopsTheProgramAtSetUp(t *testing.T) {
	for verb, declare := range map[string]func(){
		"stream":    func() { NewStream[Empty, Empty]("Book") },
		"auction":   func() { NewAuction[Empty, Empty, Empty]("Book") },
		"gathering": func() { NewGathering[Empty, Empty]("Book") },
		"offer":     func() { NewOffer[Empty]("Book") },
		"query":     func() { Query[Empty, Empty]("Book") },
		"request":   func() { Request[Empty, Empty]("Book") },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, `protocol: contract name "Book"`) {
					t.Errorf("%s: %q", verb, text)
				}
			}()
			declare()
		}()
	}
}

func TestOnlyARequestHasEffects(t *testing.T) {
	q, r := Query[Empty, Empty]("look/v1"), Request[Empty, Empty]("book/v1")
	if q.Effects() || q.Protocol() != QueryV1 || q.Name().String() != "local.look/v1" {
		t.Errorf("%+v", q)
	}
	if !r.Effects() || r.Protocol() != RequestV1 || r.Name().String() != "local.book/v1" {
		t.Errorf("%+v", r)
	}
}

func TestEveryKindOfContractHasItsProtocol(t *testing.T) {
	for _, c := range []struct {
		contract interface {
			Name() Name
			Protocol() string
			Effects() bool
		}
		protocol string
		effects  bool
	}{
		{NewStream[Empty, Empty]("look/v1"), SubscribeV1, false},
		{NewAuction[Empty, Empty, Empty]("look/v1"), ContractNetV1, true},
		{NewGathering[Empty, Empty]("look/v1"), GatherV1, false},
		{NewOffer[Empty]("look/v1"), ProposeV1, true},
	} {
		if c.contract.Protocol() != c.protocol || c.contract.Effects() != c.effects || c.contract.Name().String() != "local.look/v1" {
			t.Errorf("%+v", c.contract)
		}
	}
}

func TestAnAuctionHasAsManyRoundsAsItDeclares(t *testing.T) {
	a := NewAuction[Empty, Empty, Empty]("look/v1")
	if b := a.Rounds(3); a.MaxRounds() != 1 || b.MaxRounds() != 3 || b.Name() != a.Name() {
		t.Errorf("%d, %d", a.MaxRounds(), b.MaxRounds())
	}
	defer func() {
		if text, _ := recover().(string); text != "protocol: auction local.look/v1 needs at least one round" {
			t.Errorf("%q", text)
		}
	}()
	a.Rounds(0)
}

func TestEverySchemaOfAContractHasItsOwnName(t *testing.T) {
	n, err := ParseName("acme.flight.book/v2.3")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{n.Input(), n.Result(), n.Progress(), n.Bid(), n.Item(), n.Contribution()}
	want := []string{"acme.flight.book/v2.3", "acme.flight.book.result/v2.3", "acme.flight.book.progress/v2.3",
		"acme.flight.book.bid/v2.3", "acme.flight.book.item/v2.3", "acme.flight.book.contribution/v2.3"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestNoTwoNamesShareASchema(t *testing.T) {
	name := rapid.StringMatching(`[ab](\.([ab]|result|item)){0,3}/v[1-9](\.[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, errA := ParseName(name.Draw(t, "a"))
		b, errB := ParseName(name.Draw(t, "b"))
		if errA != nil || errB != nil {
			t.Skip("not names")
		}
		if a.Input() == b.Result() || a != b && (a.Input() == b.Input() || a.Result() == b.Result()) {
			t.Fatalf("%s and %s", a, b)
		}
	})
}

func FuzzParseName(f *testing.F) {
	for _, s := range []string{"book/v1", "acme.flight.book/v2.3", "a-b.c--d/v10.0", "result/v1", "/v1", "x/v999999.999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseName(s)
		if err != nil {
			if n != (Name{}) {
				t.Errorf("an error and %+v", n)
			}
			return
		}
		if again, err := ParseName(n.String()); err != nil || again != n {
			t.Errorf("%q: %+v became %+v, %v", s, n, again, err)
		}
		if len(n.Capability()) > 256 || len(n.Result()) > 256 || n.Major < 1 || n.Minor < 0 {
			t.Errorf("%q: %+v", s, n)
		}
	})
}
