package envelope

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

const maxDuration = 365 * 24 * time.Hour

func (h *Header) checkKind(f *faults) {
	f.need("/v", h.V != "", "every message")
	if h.V != "" && !isVersion(h.V) {
		f.add("/v", RuleVersion, "1.x", quote(h.V))
	}
	switch {
	case h.Performative == "" && h.Receipt == "":
		f.add("/performative", RuleRequired, "a performative or a receipt", "neither")
	case h.Performative != "" && h.Receipt != "":
		f.add("/receipt", RuleForbidden, "a performative or a receipt", "both")
	}
	oneOf(f, "/performative", h.Performative, performatives[:])
	oneOf(f, "/receipt", h.Receipt, receipts[:])
}

func (h *Header) checkWhat(f *faults, content, digest string) {
	f.must("/protocol", h.Protocol, isProtocol, "name/vN")
	act := h.isAct()
	f.only("/schema", h.Schema != "", act, "acts")
	f.form("/schema", h.Schema, isContract, "org.path.verb/vM")
	f.only("/content", content != "", act, "acts")
	f.only("/salt", len(h.Salt) > 0, act, "acts")
	f.only("/content_digest", h.ContentDigest != "", act, "acts")
	f.form("/content_digest", h.ContentDigest, isHexDigest, "64 lower-case hexadecimal digits")
	if act {
		f.between("/salt", int64(len(h.Salt)), saltBytes, saltBytes)
		f.between("/content", int64(len(content)), 2, MaxContent)
		if digest != h.ContentDigest {
			f.add("/content_digest", RuleDigest, "the sha256 of salt and content", quote(h.ContentDigest))
		}
	}
	f.only("/status", h.Status != "", h.is(Inform), "inform")
	oneOf(f, "/status", h.Status, statuses[:])
}

func contentDigest[T string | []byte](salt []byte, content T) string {
	var room [512]byte
	sum := sha256.Sum256(append(append(room[:0], salt...), content...))
	return string(hex.AppendEncode(room[:0], sum[:]))
}

func (h *Header) checkError(f *faults) {
	bad := h.is(Failure, Refuse) || h.Receipt == Nack || h.Receipt == NotUnderstood
	f.only("/error", h.Error != nil, bad, "failure, refuse, nack and not-understood")
	e := h.Error
	if e == nil {
		return
	}
	f.need("/error/code", e.Code != "", "every error")
	oneOf(f, "/error/code", e.Code, codes[:])
	f.form("/error/reason", e.Reason, reasonForm.MatchString, "a word in lower case")
	if e.Retriable != e.Code.Retriable() {
		f.add("/error/retriable", RuleMismatch, "what follows from the code", "the opposite")
	}
	f.between("/error/retry_after", e.RetryAfter.Milliseconds(), 0, maxDuration.Milliseconds())
	if d := e.Detail; d != nil {
		f.free("/error/detail/pointer", d.Pointer)
		f.free("/error/detail/rule", d.Rule)
		f.free("/error/detail/want", d.Want)
		f.free("/error/detail/got", d.Got)
		f.free("/error/detail/incident", d.Incident)
	}
}
