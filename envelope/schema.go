package envelope

import _ "embed" // for schema.json

// SchemaID is the $id of the document that [JSONSchema] returns.
const SchemaID = "urn:schema:parley.envelope/v1"

//go:embed schema.json
var schemaDocument string

// JSONSchema returns the shape of an envelope as a JSON Schema (draft 2020-12), for readers in other languages. Whatever
// Decode accepts fits it. It cannot say everything: that members agree with each other (tenant with sender,
// content_digest with salt and content), sizes in bytes, and which mandatory extensions a reader knows are Decode's to check.
func JSONSchema() []byte { return []byte(schemaDocument) }
