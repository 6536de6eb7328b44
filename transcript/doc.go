// Package transcript holds the record of one finished conversation and judges it offline.
//
// A trace lists the participants of a conversation, its gathers, every message in the order in which it was accepted,
// and the terminal that closed it. [Trace] and the types in it build one; [Validate] judges one that anybody built, from
// its bytes alone.
//
// # What a valid trace does not show
//
// Validate sees one document and nothing else. It checks that the document agrees with itself. It does not verify
//
//   - signatures: verificationReceiptRef is only a non-empty text,
//   - principals: that a participant is who it says, or may do what it did,
//   - payload bytes: payloadDigest is checked for its form, the payload is not here to be digested,
//   - reducer state: no reducer runs, so a gather's result is not recomputed,
//   - the value of stateDigest: only its form,
//   - deduplication: a message id that occurs twice is refused, whether a copy or an equivocation,
//   - delivery: that anybody received what the trace lists,
//   - storage: that anything was written durably,
//   - concurrency: the order supplied is the order judged; there is no canonical order of concurrent messages,
//   - liveness: that whoever is unresolved was given the time it had,
//   - containment: that nothing was said outside the trace,
//   - external effects: a terminal says nothing about what happened, stopped or failed in the world.
//
// An ACK records a receipt and no more; a gather's result is a reduction and no verdict.
//
// # Where it is lenient
//
// A runtime should refuse more than Validate does: a membership that is not sorted; an inputKind that no message can
// have; a date without a time, without an offset (read as UTC), or with a day that its month lacks (read as days of the
// next); CANCELLED without a CANCEL_REQUEST; a second ACK of one sender, or one by a participant that need not
// acknowledge, or by the author of the fence; a gather's deadline after that of the conversation; an effect observed
// before its cause, since clocks differ; a sender that the causes of its message never addressed; a JSON member
// that is there twice, of which the last counts; and, when no fence exists and none is named, an ACK without a cause.
package transcript
