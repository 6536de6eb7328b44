package sentence

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
)

// cities are names that no other word of a sentence can be mistaken for.
func cities() []string {
	return []string{"Helsinki", "Lisbon", "Oslo", "Rome", "Munich", "Kraków", "New York", "Rio de Janeiro", "Tel Aviv", "Málaga",
		"Cape Town", "Gothenburg", "Reykjavík", "Buenos Aires", "Tokyo", "St. John's", "Düsseldorf", "Nice", "Split"}
}

func spelling(t *rapid.T, a places.Airport, label string) string {
	forms := []string{a.City, a.Code, strings.ToUpper(a.City), a.City + " (" + a.Code + ")"}
	if a.City != "Nice" && a.City != "Split" {
		forms = append(forms, strings.ToLower(a.City), places.Fold(a.City))
	}
	return rapid.SampledFrom(forms).Draw(t, label)
}

func dayForms(d Date) []string {
	suffix := "th"
	if d.Day/10 != 1 {
		suffix = map[int]string{1: "st", 2: "nd", 3: "rd"}[d.Day%10]
	}
	if suffix == "" {
		suffix = "th"
	}
	month := d.Month.String()
	return []string{d.String(), d.Long(), fmt.Sprintf("%s %d, %d", month, d.Day, d.Year),
		fmt.Sprintf("the %d%s of %s %d", d.Day, suffix, month, d.Year), fmt.Sprintf("%d.%d.%d", d.Day, d.Month, d.Year),
		fmt.Sprintf("%02d %s %d", d.Day, strings.ToUpper(month[:3]), d.Year), strings.ToLower(d.Long())}
}

func amountForms(euros int) []string {
	forms := []string{fmt.Sprintf("under %d", euros), fmt.Sprintf("max €%d", euros), fmt.Sprintf("%de", euros), fmt.Sprintf("budget %d", euros),
		fmt.Sprintf("at most EUR %d", euros), fmt.Sprintf("%d euros", euros), fmt.Sprintf("budget: %d.00 EUR", euros)}
	if euros >= 1000 {
		forms = append(forms, fmt.Sprintf("€%d,%03d", euros/1000, euros%1000), fmt.Sprintf("%d.%03d euros", euros/1000, euros%1000),
			fmt.Sprintf("up to %d %03d euro", euros/1000, euros%1000))
	}
	return forms
}

func TestPartsInAnyOrderAndFormatMeanTheSameTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ends := rapid.Permutation(cities()).Draw(t, "ends")[:2]
		from, to := places.Lookup(ends[0]).Airport, places.Lookup(ends[1]).Airport
		want := Trip{From: from, To: to, Out: tuesday().AddDays(rapid.IntRange(0, 290).Draw(t, "ahead")),
			Nights: rapid.IntRange(1, MostNights).Draw(t, "nights"), Party: rapid.IntRange(1, MostTravellers).Draw(t, "party")}
		count := func(n int, label string) string {
			return rapid.SampledFrom([]string{fmt.Sprint(n), units()[min(n, 19)]}[:1+btoi(n < 20)]).Draw(t, label)
		}
		out := rapid.SampledFrom(dayForms(want.Out)).Draw(t, "out")
		var parts []string
		route := rapid.SampledFrom([]string{"from %s to %s", "%s - %s", "%s → %s", "leaving %s, visiting %s", "%s to %s"}).Draw(t, "route")
		a, b := spelling(t, from, "from"), spelling(t, to, "to")
		if rapid.Bool().Draw(t, "apart") {
			parts = append(parts, "to "+b, "from "+a)
		} else {
			parts = append(parts, fmt.Sprintf(route, a, b))
		}
		back := want.Out.AddDays(want.Nights)
		switch rapid.IntRange(0, 3).Draw(t, "how the stay is said") {
		case 0:
			parts = append(parts, "on "+out, fmt.Sprintf("for %s %s", count(want.Nights, "count"), strings.Fields("nights night")[btoi(want.Nights == 1)]))
		case 1:
			parts = append(parts, out+" until "+rapid.SampledFrom(dayForms(back)).Draw(t, "back"))
		case 2:
			parts = append(parts, out, "returning on "+rapid.SampledFrom(dayForms(back)).Draw(t, "back"))
		case 3:
			want.Nights, want.OneWay = 0, true
			parts = append(parts, "on "+out, "one way")
		}
		travellers := []string{"for " + count(want.Party, "travellers") + " people", "party of " + count(want.Party, "travellers"),
			fmt.Sprintf("passengers: %d", want.Party)}
		if want.Party > 1 {
			travellers = append(travellers, count(want.Party, "travellers")+" of us", fmt.Sprintf("me and %d friends", want.Party-1),
				fmt.Sprintf("for %d", want.Party))
		}
		if want.Party == 2 {
			travellers[len(travellers)-2] = "me and my wife"
		}
		parts = append(parts, rapid.SampledFrom(travellers).Draw(t, "who"))
		if rapid.Bool().Draw(t, "with a budget") {
			euros := rapid.IntRange(100, 9999).Draw(t, "euros")
			want.Budget = int64(euros) * 100
			parts = append(parts, rapid.SampledFrom(amountForms(euros)).Draw(t, "budget"))
		}
		parts = rapid.Permutation(parts).Draw(t, "order")
		text := strings.Join(parts, rapid.SampledFrom([]string{", ", "; ", ". ", " and also "}).Draw(t, "joint"))
		if r := Parse(text, tuesday()); !r.Complete() || r.Trip != want {
			t.Fatalf("%s\nunderstood %s\n      want %s\n     asked %q", text, r.Trip, want, r.Questions)
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "Helsinki to Lisbon from 12 March for 4 nights", "HEL-LIS 12.3.-16.3. for two under 900", "; re date: 12",
		"to Atlantis; re destination: Lisbon; re nights: -4", "31.2. 99999999999 nights max 1.5k$ -€900", "a thousand million nights from St. to",
		"me, me and me with my wife and 2 - 3 kids", "29 February 0000-00-00", "\x00\xff’'é́ 12th", "back back return until to from", "mum dad and 2 kids, Paris, Texas, not on the second Friday of April",
		"the day after 20 March, a night or two, max a grand per adult, no hotel"} {
		f.Add(s, "Where to? x", "Lisbon")
	}
	f.Fuzz(func(t *testing.T, text, question, answer string) {
		if d := read(answer, "", tuesday()); Decide(answer) == Yes && len(d.places)+len(d.days)+len(d.stays)+len(d.counts)+len(d.limits)+len(d.left) > 0 {
			t.Fatalf("%q is a yes, and changes the trip", answer)
		}
		for _, r := range []Result{Parse(text, tuesday()), Continue(text, question, answer, tuesday())} {
			if !r.Complete() {
				for _, q := range r.Questions {
					if r.Trip != (Trip{}) || AboutOf(q.Text) != q.About {
						t.Fatalf("%q: trip %v with question %q about %q", text, r.Trip, q.Text, q.About)
					}
				}
				continue
			}
			if p := r.Trip; p.From.Code == "" || p.To.Code == "" || p.From.SameCity(p.To) || p.Out.Before(tuesday()) || !p.Out.Valid() ||
				p.Nights < 0 || p.Nights > MostNights || p.Party < 1 || p.Party > MostTravellers || p.Budget < 0 || p.OneWay && p.Nights > 0 {
				t.Fatalf("%q: impossible trip %+v", text, p)
			}
		}
	})
}

func TestALongSentenceTakesWorkInProportion(t *testing.T) {
	pieces := []string{"to Xyzzy ", "from Helsinky to ", "12 March ", "900 ", "me and my wife and ", "three hundred ", "; re date: 12 ", "a - ", "€1,000 ",
		"New York ", "between 1 and 2 ", "Ünï cödé ", "- ", "return ", "St. ", "with Anna and ", "for 3 nuns ", "not to ", "Paris, Texas, ", "second Friday of April ", "a week after ", "max 800 crowns per ", "mum, dad, ", "for 3 ", "x"}
	for _, piece := range append(pieces, strings.Join(pieces, "")) {
		// Allocations stand for work: unlike time they are the same on a busy machine.
		work := func(n int) float64 {
			text := strings.Repeat(piece, n/len(piece)+1)
			return testing.AllocsPerRun(1, func() { Parse(text, tuesday()) })
		}
		if short, long := work(4_000), work(32_000); long > 20*max(short, 1000) {
			t.Errorf("%q: 4 kB took %.0f allocations, eight times as much took %.0f", piece, short, long)
		}
	}
}

func TestNoJumbleOfKnownWordsPanics(t *testing.T) {
	words := strings.Fields(`to from Helsinki Lisbon HEL 12 12th March . , - / : € $ 900 1 000 k for nights night week days
		a the and or with my wife kids me I us two three hundred thousand back return until Friday next this in on under max budget per person
		of between one way day trip weekend St New York San Jose Costa Rica Portugal ( ) minus half 0 2026 31 May Nice nice MAN via party we`)
	dice := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range 1 + dice.IntN(14) {
			b.WriteString(words[dice.IntN(len(words))])
			if dice.IntN(4) > 0 {
				b.WriteByte(' ')
			}
		}
		if r := Parse(b.String(), tuesday()); r.Complete() && r.Trip.From.SameCity(r.Trip.To) {
			t.Fatalf("%q: %v", b.String(), r.Trip)
		}
	}
}
