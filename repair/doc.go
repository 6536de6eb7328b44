// Package repair gets a usable value out of what our own model wrote, without ever guessing.
//
// [Mend] works locally: it takes off what surrounds the value, mends the spelling that models get wrong and fits it
// to the schema where there is exactly one way to do so. What it did is listed as [Fix] values; what it cannot do
// without inventing something (closing a cut string, choosing one of two values, filling in a missing member) it
// leaves to [Repairer], which asks the model again: first for the failing part only, in a short fresh context, then
// once for the whole value, all within one [Budget].
//
// Nothing here is for the content of peers: that is accepted or refused as it came, so that a peer can neither have
// its words improved nor spend our tokens. The broken text is quoted as data even though our own model wrote it, for
// what a model writes is made of what it read.
package repair
