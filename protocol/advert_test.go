package protocol_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// advertised says everything that an agent can say about itself.
func advertised() protocol.Advertisement {
	return protocol.Advertisement{
		Agent: "agent://acme/flights", Capacity: 8, Envelopes: []string{"1.0"}, Protocols: []string{protocol.RequestV1, protocol.QueryV1},
		Extensions: []protocol.Extension{{URI: "https://acme.example/seatmap", Experimental: true}},
		Contracts: []protocol.Advertised{
			{Capability: "urn:cap:acme.flight.book/v1", Protocol: protocol.RequestV1, Effects: true,
				Schemas: []string{"acme.flight.book/v1", "acme.flight.book.result/v1"}, SLA: &protocol.SLA{TypicalMS: 300, MaxMS: 2000},
				Sunset: noon.Add(time.Hour), ReplacedBy: "urn:cap:acme.flight.book/v2"},
			{Capability: "urn:cap:acme.flight.book/v2.1", Protocol: protocol.RequestV1, Effects: true},
		},
	}
}

func TestAnAdvertisementReadsBackAsItWasWritten(t *testing.T) {
	s := of[protocol.Advertisement](t, protocol.AdvertiseSchema)
	for _, a := range []protocol.Advertisement{advertised(), {Agent: "agent://acme/silent"}} {
		text, err := schema.Encode(s, a)
		if err != nil {
			t.Fatal(err)
		}
		back, err := schema.Decode[protocol.Advertisement](s, text)
		if err != nil || !reflect.DeepEqual(back, a) {
			t.Errorf("%+v became %+v: %v", a, back, err)
		}
		if err := back.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnAdvertisementThatContradictsItselfIsRefusedAtThePlace(t *testing.T) {
	for _, tt := range []struct {
		pointer string
		change  func(*protocol.Advertisement)
	}{
		{"/agent", func(a *protocol.Advertisement) { a.Agent = "agent://-acme/flights" }},
		{"/contracts/1/capability", func(a *protocol.Advertisement) { a.Contracts[1] = a.Contracts[0] }},
		{"/contracts/0/capability", func(a *protocol.Advertisement) { a.Contracts[0].Capability = "urn:cap:acme.flight.result/v1" }},
		{"/contracts/0/capability", func(a *protocol.Advertisement) { a.Contracts[0].Capability = "urn:cap:acme.flight.book/v1.0" }},
		{"/contracts/0/capability", func(a *protocol.Advertisement) { a.Contracts[0].Capability = "acme.flight.book/v1" }},
		{"/contracts/0/sla/max_ms", func(a *protocol.Advertisement) { a.Contracts[0].SLA.MaxMS = 299 }},
		{"/contracts/0/replaced_by", func(a *protocol.Advertisement) { a.Contracts[0].ReplacedBy = a.Contracts[0].Capability }},
		{"/contracts/0/replaced_by", func(a *protocol.Advertisement) { a.Contracts[0].ReplacedBy = "urn:cap:none" }},
		{"/contracts/0/sunset", func(a *protocol.Advertisement) { a.Contracts[0].Sunset = time.Time{} }},
	} {
		a := advertised()
		tt.change(&a)
		bad, ok := errors.AsType[*protocol.AdvertisementError](a.Check())
		if !ok || bad.Pointer != tt.pointer {
			t.Errorf("%v, want a fault at %s", a.Check(), tt.pointer)
		}
	}
}

func TestARowIsFoundByNameElseByItsMajorVersion(t *testing.T) {
	a := protocol.Advertisement{Contracts: []protocol.Advertised{
		row("acme.a/v1", 0), row("acme.a/v1.2", 0), row("acme.a/v2", 0), row("acme.b/v3", 0), {Capability: "nonsense"},
	}}
	for asked, want := range map[string]string{
		"acme.a/v1": "urn:cap:acme.a/v1", "acme.a/v1.1": "urn:cap:acme.a/v1.2", "acme.a/v2.7": "urn:cap:acme.a/v2", "acme.a/v3": "",
	} {
		if got, ok := a.Find(name(asked)); got.Capability != want || ok != (want != "") {
			t.Errorf("%s finds %q", asked, got.Capability)
		}
	}
}

func name(s string) protocol.Name {
	n, err := protocol.ParseName(s)
	if err != nil {
		panic(err)
	}
	return n
}

// row is a contract that ends so long after noon; 0 is never.
func row(contract string, sunset time.Duration) protocol.Advertised {
	r := protocol.Advertised{Capability: name(contract).Capability(), Protocol: protocol.RequestV1, Effects: true}
	if sunset != 0 {
		r.Sunset = noon.Add(sunset)
	}
	return r
}

func names(list ...string) []protocol.Name {
	var out []protocol.Name
	for _, s := range list {
		out = append(out, name(s))
	}
	return out
}

func TestTheHighestCommonVersionIsChosen(t *testing.T) {
	for _, tt := range []struct {
		what   string
		ours   []protocol.Name
		theirs []protocol.Advertised
		want   string
	}{
		{"one and the same", names("acme.a/v1"), []protocol.Advertised{row("acme.a/v1", 0)}, "acme.a/v1"},
		{"the higher major", names("acme.a/v1", "acme.a/v2"), []protocol.Advertised{row("acme.a/v2", 0), row("acme.a/v1", 0)}, "acme.a/v2"},
		{"no higher than the peer", names("acme.a/v1", "acme.a/v2"), []protocol.Advertised{row("acme.a/v1", 0)}, "acme.a/v1"},
		{"no higher than we", names("acme.a/v1"), []protocol.Advertised{row("acme.a/v2", 0), row("acme.a/v1", 0)}, "acme.a/v1"},
		{"our minor is newer", names("acme.a/v1.1"), []protocol.Advertised{row("acme.a/v1", 0)}, "acme.a/v1.1"},
		{"their minor is newer", names("acme.a/v1"), []protocol.Advertised{row("acme.a/v1.1", 0)}, "acme.a/v1"},
		{"what they know whole", names("acme.a/v1", "acme.a/v1.2", "acme.a/v1.1"), []protocol.Advertised{row("acme.a/v1.1", 0)}, "acme.a/v1.1"},
		{"the least that is ignored", names("acme.a/v1.3", "acme.a/v1.2"), []protocol.Advertised{row("acme.a/v1", 0)}, "acme.a/v1.2"},
		{"their newest minor counts", names("acme.a/v1.2"), []protocol.Advertised{row("acme.a/v1.2", 0), row("acme.a/v1", 0)}, "acme.a/v1.2"},
		{"not yet past its sunset", names("acme.a/v1"), []protocol.Advertised{row("acme.a/v1", 1)}, "acme.a/v1"},
		{"at its sunset", names("acme.a/v1", "acme.a/v2"), []protocol.Advertised{row("acme.a/v2", -1), row("acme.a/v1", 0)}, "acme.a/v1"},
		{"nothing but a sunset", names("acme.a/v1"), []protocol.Advertised{row("acme.a/v1", -1)}, ""},
		{"another path", names("acme.a/v1"), []protocol.Advertised{row("acme.b/v1", 0)}, ""},
		{"another major", names("acme.a/v1"), []protocol.Advertised{row("acme.a/v2", 0)}, ""},
		{"a row that is none", names("acme.a/v1"), []protocol.Advertised{{Capability: "urn:cap:"}}, ""},
		{"nothing advertised", names("acme.a/v1"), nil, ""},
		{"nothing of ours", nil, []protocol.Advertised{row("acme.a/v1", 0)}, ""},
	} {
		got, err := protocol.HighestCommon(tt.ours, tt.theirs, noon)
		if tt.want == "" {
			if _, ok := errors.AsType[*protocol.NoCommonVersionError](err); !ok {
				t.Errorf("%s: %v, %v, want no common version", tt.what, got, err)
			}
			continue
		}
		if err != nil || got.String() != tt.want {
			t.Errorf("%s: %v, %v, want %s", tt.what, got, err, tt.want)
		}
	}
}

func TestVersionsOfTwoContractsHaveNoneInCommon(t *testing.T) {
	_, err := protocol.HighestCommon(names("acme.a/v1", "acme.b/v1"), []protocol.Advertised{row("acme.a/v1", 0)}, noon)
	if err == nil || err.Error() != "picking a common version: acme.a/v1 and acme.b/v1 are two contracts" {
		t.Error(err)
	}
}

func TestNoCommonVersionNamesBothSides(t *testing.T) {
	_, err := protocol.HighestCommon(names("acme.a/v1", "acme.a/v2.1"), []protocol.Advertised{row("acme.a/v3", 0), row("acme.a/v1", -1)}, noon)
	if want := "contract acme.a: no common version: ours are v1, v2.1, theirs are v3"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// version draws one of few versions of one path, so that they often meet.
func version(t *rapid.T, label string) protocol.Name {
	return protocol.Name{Path: "acme.a", Major: rapid.IntRange(1, 4).Draw(t, label+" major"), Minor: rapid.IntRange(0, 4).Draw(t, label+" minor")}
}

func TestNothingBetterThanTheChosenVersionIsCommon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ours := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) protocol.Name { return version(t, "ours") }), 1, 6).Draw(t, "ours")
		theirs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) protocol.Advertised {
			sunset := time.Duration(rapid.IntRange(-2, 2).Draw(t, "sunset"))
			return row(version(t, "theirs").String(), sunset)
		}), 0, 6).Draw(t, "theirs")
		live := map[int][]int{} // their minors that are answered, by major
		for _, r := range theirs {
			if n, _ := r.Name(); !r.Ended(noon) {
				live[n.Major] = append(live[n.Major], n.Minor)
			}
		}
		common := slices.DeleteFunc(slices.Clone(ours), func(n protocol.Name) bool { return live[n.Major] == nil })

		got, err := protocol.HighestCommon(ours, theirs, noon)
		if len(common) == 0 {
			if _, ok := errors.AsType[*protocol.NoCommonVersionError](err); !ok {
				t.Fatalf("%v, %v although nothing is common", got, err)
			}
			return
		}
		if err != nil || !slices.Contains(common, got) {
			t.Fatalf("%v, %v is not one of %v", got, err, common)
		}
		known := slices.Max(live[got.Major])
		for _, n := range common {
			switch {
			case n.Major > got.Major:
				t.Fatalf("%v is chosen, %v is common", got, n)
			case n.Major < got.Major:
			case n.Minor <= known && (got.Minor > known || n.Minor > got.Minor):
				t.Fatalf("%v is chosen, the peer knows %v whole", got, n)
			case n.Minor > known && n.Minor < got.Minor && got.Minor > known:
				t.Fatalf("%v is chosen, less of %v is ignored", got, n)
			}
		}
		// The order in which versions are listed says nothing.
		shuffled := rapid.Permutation(ours).Draw(t, "our order")
		rows := rapid.Permutation(theirs).Draw(t, "their order")
		if again, err := protocol.HighestCommon(shuffled, rows, noon); again != got || err != nil {
			t.Fatalf("%v in one order, %v, %v in another", got, again, err)
		}
	})
}
