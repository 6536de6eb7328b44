package protocol

import _ "embed" // for the documents

var (
	//go:embed schemas/task.json
	taskDocument string
	//go:embed schemas/delivery.json
	deliveryDocument string
	//go:embed schemas/progress.json
	progressDocument string
)

// The names of the schemas that Wrappers lists.
const (
	TaskSchema     = "parley.task/v1"
	DeliverySchema = "parley.delivery/v1"
	ProgressSchema = "parley.progress/v1"
)

// Wrappers lists the schemas of what Task, Delivery and Progress put around a
// contract's own types, for readers in other languages. No message carries
// their names: the schema of a contract includes what it took up of them, and
// says what is inside inputs, outputs and partial, which here may be anything.
func Wrappers() []BuiltIn {
	return []BuiltIn{
		{TaskSchema, []byte(taskDocument)},
		{DeliverySchema, []byte(deliveryDocument)},
		{ProgressSchema, []byte(progressDocument)},
	}
}
