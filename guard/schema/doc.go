// Package schema derives JSON Schemas (draft 2020-12) from Go types, checks
// documents against them, and lowers them to what model endpoints accept.
//
// A schema made by [For] describes exactly what encoding/json writes for the
// type, so that a value which leaves the process passes the check of the one
// who reads it. A field whose type or tag cannot keep that promise is an error
// at set-up which names the field, never a surprise on the wire.
//
// [Parse] takes the schemas of others. They are data: nothing outside the
// document is ever loaded, and a hostile document costs no more than its limits.
//
// Every check reads the document strictly first (no duplicate keys, no numbers
// that a double cannot hold, bounded size and depth); its findings carry the
// RFC 6901 pointer of the place, the keyword, and what was wanted and found.
package schema
