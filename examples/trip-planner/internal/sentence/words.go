package sentence

import (
	"slices"
	"strings"
)

// unit reports whether a word at token i, after an optional hyphen, says what a number before it counts.
func (p *parser) unit(i int) bool {
	i = p.hyphen(i)
	if p.noun(i) > 0 || p.span(i) > 0 || p.phrase(i, "of us", "of them") > 0 {
		return true
	}
	switch p.at(i).norm {
	case "hour", "hours", "hrs", "hr", "h", "minute", "minutes", "mins", "min", "star", "stars", "km", "kms", "kilometres",
		"kilometers", "miles", "mile", "%", "percent", "room", "rooms", "bag", "bags", "suitcase", "suitcases", "stop", "stops",
		"kg", "kilos", "degrees", "°", "am", "pm", "o'clock", "times", "bedroom", "bedrooms", "bed", "beds", "hotels", "flights",
		"weekend", "weekends", "full", "whole", "short", "reasons", "things", "cities", "stopovers", "connections", "meals",
		"more", "pieces", "legs", "dogs", "cats", "dog", "cat":
		return true
	}
	return false
}

// follows reports whether a word may come after a number that counts nothing.
func follows(w string) bool {
	return slices.Contains(strings.Fields("on from to in at with under max maximum budget until till leaving returning return "+
		"and but please back next this tomorrow today for starting below within our my we i the departing going flying fly "+
		"visit visiting by one day or total altogether tonight alone out up thanks thank is are if as so then between no "+
		"spending round roundtrip cheap economy business solo travelling traveling together around about via not only it"), w)
}

// several reports whether a word speaks of more people than one.
func several(w string) bool {
	return slices.Contains(strings.Fields("we us our ours we're we'd we'll we've let's family friends kids children everyone "+
		"everybody group team guys parents together both colleagues couples students folks crew"), w)
}

// filler reports whether a word may stand between "to" and the name of a place.
func filler(w string) bool {
	return slices.Contains(strings.Fields("the a an city town of region capital island islands beautiful sunny lovely old warm "+
		"somewhere like near around in at my our charming historic amazing wonderful great downtown central greater good big "+
		"little dear rainy cold hot snowy magical gorgeous and/or either airport international nearby"), w)
}

// homograph reports whether a place's name is an English word, too.
func homograph(folded string) bool {
	return slices.Contains(strings.Fields("nice split cork male sal fez rom la levi midway kos pula sharm rio lin torp canton "+
		"bali cali como palma faro bari natal roma charlotte florence sydney austin dallas victoria kennedy santiago philly "+
		"phoenix memphis orlando sofia verona vienna chania granada bergen"), folded)
}

// wordCode reports whether a code is an English word in small letters.
func wordCode(w string) bool {
	return slices.Contains(strings.Fields("man mad bud can for her has ham sin sun sat pen den bus run sea per lit tip ace key "+
		"beg tun bos mex pop son far fat san old day air art bio bod boo cia cur dad dam dar del doh dub dur fae fra fue got ind "+
		"inn ist jai joe lad las lax lin lis los lux mad mba mel mia mle nan nap nas new oak opo ork per pit pos ran rec rho sal "+
		"sea seal she sid sin sof spu stl str sub tao tas tia tos van vie all and the not but any may get go one two six ten"), w) &&
		!slices.Contains(strings.Fields("lis lux vie dub opo mia spu rho stl str doh fra ist"), w)
}

// common reports whether a word is never the name of a place.
func common(w string) bool {
	_, found := slices.BinarySearch(vocabulary(), w)
	return found
}

// tripNoun reports whether a word is what a place's name may stand before: "Lisbon trip".
func tripNoun(w string) bool {
	return slices.Contains(strings.Fields("trip holiday holidays vacation getaway break flight flights journey weekend visit tour "+
		"ticket tickets airport city hotel hotels"), w)
}
