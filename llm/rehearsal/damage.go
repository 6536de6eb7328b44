package rehearsal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// damage applies a damaging accident to the completion in place.
func (c *completion) damage(a Accident, draw *rand.Rand) {
	target := &c.text
	var struck *outCall
	for i := range c.calls {
		if a.Calls == "" || c.calls[i].name == a.Calls {
			struck = &c.calls[i]
			target = &struck.arguments
			break
		}
	}
	if struck == nil && a.Kind != Truncated && !json.Valid([]byte(c.text)) {
		return // prose has no JSON to damage
	}
	switch a.Kind {
	case MalformedJSON:
		*target = cut(*target, draw)
	case GarbledJSON:
		*target = garble(*target, draw)
	case MendableJSON:
		*target = misspell(*target, draw)
	case Truncated:
		if target == &c.text && !json.Valid([]byte(c.text)) {
			runes := []rune(c.text)
			*target = string(runes[:len(runes)*(1+draw.IntN(3))/4])
		} else {
			*target = cut(*target, draw)
		}
		c.finish = "length"
	case Fenced:
		*target = fmt.Sprintf("%s\n```json\n%s\n```\n%s", pick(draw, "Here it is:", "Sure, the JSON:"),
			*target, pick(draw, "Let me know what you think.", "That is all."))
	case WrongType:
		*target = mistype(*target, draw)
	case UnknownFunction:
		if struck != nil {
			struck.name = pick(draw, "default_api:"+struck.name, struck.name+"_v2", "do_"+struck.name)
		}
	case EmptyArguments:
		if struck != nil {
			struck.arguments = ""
		}
	case ArgumentsObject:
		if struck != nil {
			struck.asObject = true
		}
	}
}

func pick(draw *rand.Rand, options ...string) string { return options[draw.IntN(len(options))] }

// cut ends the text inside a string or a number that is a value, so that closing
// brackets cannot restore it; text without such a place loses its last value.
func cut(text string, draw *rand.Rand) string {
	type span struct{ from, to int }
	var places []span // where a cut leaves a begun value
	d := json.NewDecoder(strings.NewReader(text))
	var objects []bool // whether each open bracket is an object
	key := false       // the next token is a key
	for {
		before := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			break
		}
		isKey := key
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				objects = append(objects, t == '{')
			} else {
				objects = objects[:len(objects)-1]
			}
			key = len(objects) > 0 && objects[len(objects)-1]
			continue
		case string, float64:
			end := int(d.InputOffset())
			from := int(before) + strings.IndexAny(text[before:end], `"-0123456789`) + 1
			if _, number := t.(float64); !isKey && (!number || end-from > 0) && len(objects) > 0 {
				places = append(places, span{from, end})
			}
		}
		key = len(objects) > 0 && objects[len(objects)-1] && !isKey
	}
	if len(places) == 0 {
		if colon := strings.LastIndex(text, ":"); colon >= 0 {
			return text[:colon+1]
		}
		return "{\""
	}
	p := places[draw.IntN(len(places))]
	at := p.from
	if p.to-p.from > 1 {
		at += draw.IntN(p.to - p.from)
	}
	return strings.ToValidUTF8(text[:at], "")
}

// garble leaves out one comma, or one colon where there is no comma.
func garble(text string, draw *rand.Rand) string {
	var commas, colons []int
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == ',':
			commas = append(commas, i)
		case c == ':':
			colons = append(colons, i)
		}
	}
	places := commas
	if len(places) == 0 {
		places = colons
	}
	if len(places) == 0 {
		return text + text
	}
	at := places[draw.IntN(len(places))]
	return text[:at] + " " + text[at+1:]
}

// misspell makes one mistake in an object that leaves its meaning clear.
func misspell(text string, draw *rand.Rand) string {
	names, _ := members(text)
	if len(names) == 0 {
		return text
	}
	quoted, _ := json.Marshal(names[0])
	plain := strings.Trim(string(quoted), `"`)
	first := string(quoted) + ":"
	switch draw.IntN(4) {
	case 0:
		at := strings.LastIndex(text, "}")
		return text[:at] + "," + text[at:]
	case 1:
		return strings.Replace(text, first, plain+":", 1)
	case 2:
		return strings.Replace(text, first, "'"+plain+"':", 1)
	default:
		return strings.Replace(text, "{", "{ // as asked\n", 1)
	}
}

// mistype gives one member of an object a value of another type.
func mistype(text string, draw *rand.Rand) string {
	names, values := members(text)
	if len(names) == 0 {
		return `"` + pick(draw, "none", "done") + `"`
	}
	i := draw.IntN(len(names))
	var wrong string
	switch v := values[names[i]]; v[0] {
	case '"':
		wrong = pick(draw, "7", "true", "["+string(v)+",null]")
	case 't', 'f':
		wrong = pick(draw, `"maybe"`, "[]")
	case '{', '[':
		wrong = pick(draw, `"see above"`, "false")
	case 'n':
		wrong = pick(draw, `{"none":true}`, "[[]]")
	default:
		wrong = pick(draw, `"about `+string(v)+`"`, "["+string(v)+","+string(v)+"]", "true")
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for j, name := range names {
		if j > 0 {
			out.WriteByte(',')
		}
		key, _ := json.Marshal(name)
		out.Write(key)
		out.WriteByte(':')
		if j == i {
			out.WriteString(wrong)
		} else {
			out.Write(values[name])
		}
	}
	out.WriteByte('}')
	return out.String()
}

// members returns the members of the object that text is, names in order; nothing
// if it is no object.
func members(text string) ([]string, map[string]json.RawMessage) {
	var values map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &values) != nil {
		return nil, nil
	}
	var names []string
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	slices.SortStableFunc(names, func(a, b string) int { return strings.Index(text, quote(a)) - strings.Index(text, quote(b)) })
	return names, values
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b) + ":"
}
