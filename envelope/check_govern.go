package envelope

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/parley-agents/parley/internal/strictjson"
)

func (h *Header) checkLabels(f *faults) {
	l := h.Labels
	if l.Integrity == "" && l.Readers == nil && l.Privacy == nil {
		f.need("/labels", false, "every message")
	}
	f.need("/labels/integrity", l.Integrity != "", "every message")
	oneOf(f, "/labels/integrity", l.Integrity, integrities[:])
	f.between("/labels/readers", int64(len(l.Readers)), 0, maxListed)
	for i, reader := range l.Readers {
		if !isReader(reader) {
			f.add("/labels/readers/"+strconv.Itoa(i), RuleGrammar, "an agent URI, user:<id> or *", quote(reader))
		}
	}
	f.between("/labels/privacy", int64(len(l.Privacy)), 0, int64(len(privacyTags)))
	for i, tag := range l.Privacy {
		pointer := "/labels/privacy/" + strconv.Itoa(i)
		f.need(pointer, tag != "", "every tag")
		oneOf(f, pointer, tag, privacyTags[:])
	}
}

func (h *Header) checkProvenance(f *faults) {
	p := h.Provenance
	if p == nil {
		return
	}
	f.free("/provenance/model", p.Model)
	f.free("/provenance/prompt", p.Prompt)
	f.between("/provenance/tools", int64(len(p.Tools)), 0, maxListed)
	for i, tool := range p.Tools {
		f.free("/provenance/tools/"+strconv.Itoa(i), tool)
	}
	f.between("/provenance/input_tokens", int64(p.InputTokens), 0, math.MaxInt32)
	f.between("/provenance/output_tokens", int64(p.OutputTokens), 0, math.MaxInt32)
}

func (h *Header) checkTrace(f *faults) {
	if h.Trace == (Trace{}) {
		f.need("/trace", false, "every message")
	}
	f.must("/trace/traceparent", h.Trace.Traceparent, isTraceparent, "a W3C traceparent of version 00")
	f.form("/trace/tracestate", h.Trace.Tracestate, isTracestate, "at most 512 printable ASCII characters")
}

func (h *Header) checkSignatures(f *faults) {
	f.between("/signatures", int64(len(h.Signatures)), 0, maxSigned)
	for i, s := range h.Signatures {
		pointer := "/signatures/" + strconv.Itoa(i)
		f.need(pointer+"/protected", s.Protected != "", "every signature")
		f.form(pointer+"/protected", s.Protected, isToken, "base64url of at most 4 KiB")
		f.need(pointer+"/signature", s.Signature != "", "every signature")
		f.form(pointer+"/signature", s.Signature, isToken, "base64url of at most 4 KiB")
		if s.Header != nil {
			h.Signatures[i].Header = f.json(s.Header, strictjson.Limits{Bytes: maxToken}, func() string { return pointer + "/header" })
		}
	}
}

// checkExtensions refuses each extension that must be understood, because none is defined yet.
func (h *Header) checkExtensions(f *faults) {
	f.between("/extensions", int64(len(h.Extensions)), 0, maxListed)
	for _, uri := range h.extensionURIs(make([]string, 0, 8)) {
		x := h.Extensions[uri]
		pointer := func() string { return within("/extensions", uri) }
		if !isExtensionURI(uri) {
			f.add(pointer(), RuleGrammar, "an absolute URI", quote(uri))
		}
		if x.Mandatory {
			f.add(pointer(), RuleUnknown, "no extension that must be understood", quote(uri))
		}
		x.Value = f.json(x.Value, strictjson.Limits{AnyRoot: true}, func() string { return pointer() + "/value" })
		h.Extensions[uri] = x
	}
}

// extensionURIs appends them in order.
func (h *Header) extensionURIs(uris []string) []string {
	for uri := range h.Extensions {
		uris = append(uris, uri)
	}
	slices.Sort(uris)
	return uris
}

// json holds a raw member to strict JSON and returns its canonical form.
func (f *faults) json(value json.RawMessage, l strictjson.Limits, pointer func() string) json.RawMessage {
	canonical, err := strictjson.CanonicalText(string(value), l)
	if err != nil {
		shape := strictShape(pointer(), err)
		f.add(shape.Pointer, shape.Rule, shape.Want, shape.Got)
	}
	if canonical == string(value) {
		return value
	}
	return json.RawMessage(canonical)
}
