package protocol

// Contract ties a versioned name to the Go types of what goes in and what
// comes out. It is a plain value, safe for concurrent use.
type Contract[In, Out any] struct {
	name     Name
	protocol string
}

// Query declares a contract that reads: it has no effects, needs no key and
// may be answered without agreeing first. It panics if the name is malformed.
func Query[In, Out any](name string) Contract[In, Out] {
	return declare[In, Out](name, QueryV1)
}

// Request declares a contract that has effects: each message of it carries an
// idempotency key, and the effect of one key is had once. It panics if the
// name is malformed.
func Request[In, Out any](name string) Contract[In, Out] {
	return declare[In, Out](name, RequestV1)
}

func declare[In, Out any](name, protocol string) Contract[In, Out] {
	n, err := ParseName(name)
	if err != nil {
		panic("protocol: " + err.Error())
	}
	return Contract[In, Out]{name: n, protocol: protocol}
}

// Name is the contract's versioned name.
func (c Contract[In, Out]) Name() Name { return c.name }

// Protocol is the name of the protocol that the contract's exchanges follow.
func (c Contract[In, Out]) Protocol() string { return c.protocol }

// Effects reports whether the contract has effects and so needs a key.
func (c Contract[In, Out]) Effects() bool { return c.protocol == RequestV1 }

// The schemas of content that carries nothing but its act: the error of a
// refusal or failure is a member of the envelope.
const (
	AgreeSchema   = "parley.agree/v1"
	RefusalSchema = "parley.refusal/v1"
	FailureSchema = "parley.failure/v1"
	CancelSchema  = "parley.cancel/v1"
)

// Empty is the content of an act that says nothing beyond itself.
type Empty struct{}
