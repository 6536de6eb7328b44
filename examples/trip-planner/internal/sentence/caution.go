package sentence

import "slices"

// caution comes before the rules that understand: it asks about words that turn what stands beside them into something
// else, and notes what cannot be arranged.
func (p *parser) caution(i int) int {
	for _, rule := range []func(int) int{p.vagueDay, p.shifted, p.dozens, p.company, p.hotelWish, p.wish} {
		if n := rule(i); n > 0 {
			return n
		}
	}
	return 0
}

// vagueDay asks about a weekday that is one of several: "the second Friday of April", "every Friday", "Friday in April".
func (p *parser) vagueDay(i int) int {
	j := i
	if _, n := p.ordinalWord(j); n > 0 {
		j += n
	} else if n := p.phrase(j, "last", "every", "any", "each", "some", "either", "previous", "past", "alternate", "a", "an"); n > 0 {
		j += n
	} else if p.at(j).kind == numeral && p.ordinalSuffix(j+1) {
		j += 2
	}
	if p.weekday(j) < 0 && !(j > i && p.w(i) != "a" && p.w(i) != "an" && slices.Contains([]string{"weekend", "weekday"}, p.w(j)) && p.w(i) != "some") {
		return 0
	}
	k := j + 1
	if m := p.phrase(k, "in", "of", "of early", "of late"); m > 0 && p.month(k+m) > 0 {
		k += m + 1
	} else if n := p.inSpans(k); n > 0 {
		k += n
	} else if n := p.phrase(k, "after next week", "after next month", "after next year", "after", "before"); n > 0 && p.at(k+n).kind == word &&
		p.phrase(k+n, "next", "noon", "lunch", "work", "school", "midnight", "breakfast", "dinner") == 0 {
		if k += n; n == 1 {
			k++
		}
	} else if j == i {
		return 0
	}
	return p.doubtDay(i, k)
}

// inSpans returns how many tokens "in two weeks" takes.
func (p *parser) inSpans(i int) int {
	n := p.integer(i + 1)
	if p.phrase(i+1, "a") > 0 {
		n.tokens = 1
	}
	if p.w(i) == "in" && n.tokens > 0 && p.span(i+1+n.tokens) > 0 {
		return 2 + n.tokens
	}
	return 0
}

// doubtDay asks about tokens i to j-1, which name no certain day.
func (p *parser) doubtDay(i, j int) int {
	about := When
	if p.isReturn(i) && !p.draft.empty() {
		about = Nights
	}
	p.draft.ask(about, "“%s” is not one certain day; which date is it?", clip(p.raw(i, j)))
	p.role, p.back, p.lastDay = none, false, j
	return j - i
}

// shifted asks about a day that is reckoned from another: "two days before 20 March", "a week on Friday", "the week of
// 20 March", "in a week and a half".
func (p *parser) shifted(i int) int {
	j := i
	for p.w(j) == "the" || p.w(j) == "in" {
		j++
	}
	if number := p.integer(j); number.tokens > 0 {
		j += number.tokens
	} else if n := p.phrase(j, "a couple of", "a few", "a", "an"); n > 0 {
		j += n
	} else if p.w(i) == "in" {
		return 0
	}
	for p.m(j) == "-" {
		j++
	}
	if p.span(j) == 0 && p.w(j) != "weekend" && p.weekday(j) < 0 {
		return 0
	}
	if p.w(i) == "in" {
		n := p.phrase(j+1, "and a half", "and half", "or so", "or two", "or more")
		if number := p.integer(j + 2); n == 0 && p.w(j+1) == "and" && number.tokens > 0 && p.span(j+2+number.tokens) > 0 {
			n = 2 + number.tokens
		}
		if n == 0 {
			return 0
		}
		return p.doubtDay(i, j+1+n)
	}
	k := j + 1
	n := p.phrase(k, "after", "before", "following", "preceding", "of", "from", "on", "past", "prior to", "either side of", "around")
	if p.w(j) != "week" && p.w(j) != "weeks" && p.w(k) == "on" || p.w(k) == "on" && p.w(i) == "the" || p.weekday(j) >= 0 && p.w(k) == "on" {
		return 0
	}
	k += n
	if n == 0 && p.w(j) != "week" {
		return 0
	}
	for p.w(k) == "the" {
		k++
	}
	_, m, _ := p.date(k)
	if p.w(k-1) == "from" {
		if p.w(j) != "week" && p.w(j) != "weeks" || p.phrase(k, "tomorrow", "today", "now") > 0 || p.w(i-1) == "for" || p.weekday(k) < 0 {
			return 0 // "4 nights from 12 March", "two days from now"
		}
	}
	if m == 0 || p.phrase(i, "the day after tomorrow", "the day before yesterday", "day after tomorrow") > 0 || n == 0 && p.w(k) != "tomorrow" && p.w(k) != "today" {
		return 0
	}
	return p.doubtDay(i, k+m)
}

// hedged reports whether words beside the day at tokens i to j-1 make it uncertain, and where they end.
func (p *parser) hedged(i, j int) (from, to int) {
	from, to = i, j
	k := i - 1
	for slices.Contains([]string{"the", "on", "of"}, p.w(k)) {
		k--
	}
	switch p.w(k) {
	case "after", "before", "except", "not", "around", "about", "approximately", "roughly", "circa", "past", "since", "near", "besides",
		"never", "excluding", "without", "avoid", "avoiding", "than", "earliest", "latest", "nearly", "almost", "ca", "either", "but", "week":
		if p.w(k) != "but" || p.phrase(k-1, "any", "anything", "anytime", "day") > 0 {
			from = k
		}
	case "by":
		if !p.back && p.lastDay != k {
			from = k
		}
	}
	if p.m(k) == "~" || p.m(k) == "±" || p.m(k) == "<" {
		from = k
	}
	if n := p.phrase(j, "or later", "or earlier", "or after", "or before", "or so", "or thereabouts", "at the latest", "at the earliest",
		"at latest", "at earliest", "- ish", "ish", "give or take", "onwards", "onward", "±", "+ / -", "or any", "or the day", "or the next",
		"or a day", "or around", "latest", "earliest"); n > 0 {
		to = j + n
	}
	return from, to
}

// dozens asks about numbers that are written in a way that is not reckoned with.
func (p *parser) dozens(i int) int {
	n := p.phrase(i, "half a dozen", "half - a - dozen", "a dozen", "dozens", "dozen", "a score", "umpteen", "a handful", "a bunch of", "a bunch")
	if n == 0 {
		return 0
	}
	j := i + n
	if p.w(j) == "of" {
		j++
	}
	about := Party
	switch _, _, money := p.currency(j); {
	case p.span(j) > 0:
		about = Nights
	case money > 0:
		about = Budget
	}
	if p.at(j).kind == word {
		j++
	}
	p.draft.ask(about, "please write “%s” as a number.", clip(p.raw(i, j)))
	return j - i
}

// hotelWish understands that no hotel is wanted, and asks where only a hotel is.
func (p *parser) hotelWish(i int) int {
	if n := p.phrase(i, "hotel only", "only a hotel", "only the hotel", "just a hotel", "just the hotel", "no flight", "no flights", "without a flight",
		"without flight", "without flights", "accommodation only", "room only", "only hotel", "just hotel"); n > 0 && p.w(i+n) != "changes" {
		p.draft.ask(Origin, "you said “%s”, but a flight is always booked; which city does it begin in?", p.raw(i, i+n))
		return n
	}
	if n := p.phrase(i, "no hotel needed", "no hotel", "no hotels", "no accommodation", "without a hotel", "without hotel", "without the hotel",
		"without accommodation", "hotel not needed", "flight only", "flights only", "just the flight", "just a flight", "just flights",
		"only the flight", "only a flight", "only flights", "no room", "don't need a hotel", "do not need a hotel", "don't want a hotel",
		"do not want a hotel", "don't book a hotel", "do not book a hotel", "no need for a hotel", "not need a hotel", "skip the hotel",
		"have a hotel", "have a room", "have a place to stay", "have my own hotel",
		"hotel is booked", "hotel is already booked", "hotel already booked", "booked a hotel", "booked the hotel", "own hotel", "stay at my",
		"staying at my", "stay at a friend's", "stay with a friend", "staying with friends", "staying at a friend's", "staying with family", "stay with friends", "stay with my", "staying with my"); n > 0 {
		p.draft.noHotel = true
		return n
	}
	return 0
}

// wish notes what cannot be arranged.
func (p *parser) wish(i int) int {
	n := p.phrase(i, "business class", "first class", "economy class", "premium economy", "premium class", "business", "window seats", "window seat", "aisle seats",
		"aisle seat", "front row", "extra legroom", "sea view", "ocean view", "breakfast included", "half board", "full board", "all inclusive",
		"all - inclusive", "with breakfast", "double room", "single room", "twin room", "family room", "separate rooms", "adjoining rooms",
		"rental car", "rent a car", "hire a car", "car hire", "car rental", "checked bag", "checked bags", "checked luggage", "travel insurance",
		"insurance", "airport transfer", "vegetarian meal", "vegan meal", "wheelchair", "flexible dates", "flexible", "morning flight", "evening flight", "afternoon flight", "night flight", "in the morning",
		"in the evening", "in the afternoon", "after work", "early morning", "late evening", "after lunch", "before noon", "pool", "spa", "gym", "direct flight", "non - stop",
		"nonstop", "direct", "with a dog", "with my dog", "with our dog", "with a cat", "with my cat", "pet friendly", "pet - friendly", "luxury hotel",
		"five star", "four star", "three star", "hostel", "airbnb", "apartment", "suite", "villa", "train", "ferry", "bus", "cruise")
	if n == 0 {
		if number := p.integer(i); number.tokens > 0 {
			j := p.hyphen(i + number.tokens)
			switch p.w(j) {
			case "star", "stars", "room", "rooms", "bed", "beds", "bedroom", "bedrooms", "bag", "bags", "suitcase", "suitcases", "dog", "dogs", "cat",
				"cats", "pets", "hotels", "suites", "apartments", "villas":
				n = j + 1 - i
			}
		}
	}
	if n == 0 || p.placed() && p.known(i) || p.phrase(i, "business") > 0 && n == 1 && p.w(i-1) != "in" && p.w(i-1) != "fly" {
		return 0
	}
	if text := p.raw(i, i+n); !slices.Contains(p.draft.wishes, text) {
		p.draft.wishes = append(p.draft.wishes, text)
	}
	return n
}
