package protocol

import "reflect"

// Declared is a contract whatever its Go types are. Every contract type of this
// package implements it.
type Declared interface {
	// Name is the contract's versioned name.
	Name() Name
	// Protocol is the name of the protocol that the contract's exchanges follow.
	Protocol() string
	// Effects reports whether the contract has effects.
	Effects() bool
	// Types are the Go types of what its acts carry.
	Types() Types
}

// Resulting is a contract that ends with a result, whose Go type is Out.
type Resulting[Out any] interface {
	Declared
	// ZeroResult is the zero value of the result: its Go type tells it.
	ZeroResult() Out
}

// Types are the Go types of what the acts of a contract carry, nil where its
// protocol has no such act. Schemas are made of them; nothing here looks
// inside.
type Types struct {
	// Input is what the opening act carries, Result what the last inform does.
	Input, Result reflect.Type
	// Progress is what is told before the result, nil if the contract tells
	// nothing.
	Progress reflect.Type
	// Bid is a proposal of an auction, Item one item of a stream, Contribution
	// what a member gives to a gathering.
	Bid, Item, Contribution reflect.Type
}

// declared is what every contract has, whatever its types.
type declared struct {
	name     Name
	protocol string
}

func declare(name, protocol string) declared {
	n, err := ParseName(name)
	if err != nil {
		panic("protocol: " + err.Error())
	}
	return declared{name: n, protocol: protocol}
}

// Name is the contract's versioned name.
func (d declared) Name() Name { return d.name }

// Protocol is the name of the protocol that the contract's exchanges follow.
func (d declared) Protocol() string { return d.protocol }

// Effects reports whether the contract has effects and so needs a key.
func (d declared) Effects() bool {
	return d.protocol == RequestV1 || d.protocol == ContractNetV1 || d.protocol == ProposeV1
}

// Contract ties a versioned name to the Go types of what goes in and what
// comes out. It is a plain value, safe for concurrent use.
type Contract[In, Out any] struct {
	declared
	progress reflect.Type
}

// Query declares a contract that reads: it has no effects, needs no key and
// may be answered without agreeing first. It panics if the name is malformed.
func Query[In, Out any](name string) Contract[In, Out] {
	return Contract[In, Out]{declared: declare(name, QueryV1)}
}

// Request declares a contract that has effects: each message of it carries an
// idempotency key, and the effect of one key is had once. It panics if the
// name is malformed.
func Request[In, Out any](name string) Contract[In, Out] {
	return Contract[In, Out]{declared: declare(name, RequestV1)}
}

// WithProgress is the contract whose participant may tell how far it has come,
// with values of the same Go type as example.
func (c Contract[In, Out]) WithProgress(example any) Contract[In, Out] {
	c.progress = reflect.TypeOf(example)
	return c
}

// Types are the Go types of what the contract's acts carry.
func (c Contract[In, Out]) Types() Types {
	return Types{Input: reflect.TypeFor[In](), Result: reflect.TypeFor[Out](), Progress: c.progress}
}

// ZeroResult is the zero value of what the contract returns.
func (Contract[In, Out]) ZeroResult() (out Out) { return out }

// Stream ties a versioned name to the Go types of a subscription: what is
// asked for, and what each of any number of items is. It has no effects. It is
// a plain value, safe for concurrent use.
type Stream[In, Item any] struct{ declared }

// NewStream declares a stream. It panics if the name is malformed.
func NewStream[In, Item any](name string) Stream[In, Item] {
	return Stream[In, Item]{declare(name, SubscribeV1)}
}

// Types are the Go types of what the stream's acts carry. The inform that ends
// it is Empty.
func (s Stream[In, Item]) Types() Types {
	return Types{Input: reflect.TypeFor[In](), Item: reflect.TypeFor[Item](), Result: reflect.TypeFor[Empty]()}
}

// ZeroResult is the zero value of what ends the stream.
func (Stream[In, Item]) ZeroResult() Empty { return Empty{} }

// Auction ties a versioned name to the Go types of a contract net: what is
// called for, what is proposed, and what the one who gets the award delivers.
// It has effects: proposals and awards carry a key. It is a plain value, safe
// for concurrent use.
type Auction[Call, Bid, Result any] struct {
	declared
	rounds   int
	progress reflect.Type
}

// NewAuction declares an auction of one round. It panics if the name is
// malformed.
func NewAuction[Call, Bid, Result any](name string) Auction[Call, Bid, Result] {
	return Auction[Call, Bid, Result]{declared: declare(name, ContractNetV1), rounds: 1}
}

// Rounds is the auction with up to so many rounds: a call after a proposal
// asks for a better one. Both sides must declare the same number. It panics if
// n is not positive.
func (a Auction[Call, Bid, Result]) Rounds(n int) Auction[Call, Bid, Result] {
	if n < 1 {
		panic("protocol: auction " + a.name.String() + " needs at least one round")
	}
	a.rounds = n
	return a
}

// MaxRounds is how many rounds there may be.
func (a Auction[Call, Bid, Result]) MaxRounds() int { return max(1, a.rounds) }

// WithProgress is the auction in which whoever got the award may tell how far
// it has come, with values of the same Go type as example.
func (a Auction[Call, Bid, Result]) WithProgress(example any) Auction[Call, Bid, Result] {
	a.progress = reflect.TypeOf(example)
	return a
}

// Types are the Go types of what the auction's acts carry.
func (a Auction[Call, Bid, Result]) Types() Types {
	return Types{Input: reflect.TypeFor[Call](), Bid: reflect.TypeFor[Bid](), Result: reflect.TypeFor[Result](), Progress: a.progress}
}

// ZeroResult is the zero value of what is delivered for an award.
func (Auction[Call, Bid, Result]) ZeroResult() (out Result) { return out }

// Gathering ties a versioned name to the Go types of a gather: what every
// member is asked, and what each contributes. It is a plain value, safe for
// concurrent use.
type Gathering[In, Contribution any] struct {
	declared
	effects bool
}

// NewGathering declares a gathering whose contributions have no effects. It
// panics if the name is malformed.
func NewGathering[In, Contribution any](name string) Gathering[In, Contribution] {
	return Gathering[In, Contribution]{declared: declare(name, GatherV1)}
}

// WithEffects is the gathering in which contributing has effects. Such a one
// cannot be gathered under FIRST_SUCCESS: the effects of the others would be
// had for nothing.
func (g Gathering[In, Contribution]) WithEffects() Gathering[In, Contribution] {
	g.effects = true
	return g
}

// Effects reports whether contributing has effects.
func (g Gathering[In, Contribution]) Effects() bool { return g.effects }

// Types are the Go types of what the gathering's acts carry.
func (g Gathering[In, Contribution]) Types() Types {
	return Types{Input: reflect.TypeFor[In](), Contribution: reflect.TypeFor[Contribution]()}
}

// Offer ties a versioned name to the Go type of what is offered: it is
// accepted or rejected, and nothing else comes back. Accepting it has effects.
// It is a plain value, safe for concurrent use.
type Offer[In any] struct{ declared }

// NewOffer declares an offer. It panics if the name is malformed.
func NewOffer[In any](name string) Offer[In] { return Offer[In]{declare(name, ProposeV1)} }

// Types are the Go types of what the offer's acts carry. The inform that
// answers a cancel which came too late is Empty.
func (o Offer[In]) Types() Types {
	return Types{Input: reflect.TypeFor[In](), Result: reflect.TypeFor[Empty]()}
}

// ZeroResult is the zero value of what accepting says beyond itself.
func (Offer[In]) ZeroResult() Empty { return Empty{} }

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
