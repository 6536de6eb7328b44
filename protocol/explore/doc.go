// Package explore proves properties of interaction protocols by looking at
// everything that can happen. It puts the two transition tables of a protocol
// at the ends of two channels and walks every configuration that they can
// reach together: a state of the initiator, a state of the participant, and
// what is under way in either direction. Nothing is sampled; what the report
// of a walk does not list cannot happen within the capacity of the channels.
//
// The walk is over tables alone: it knows neither time nor content. A timer
// may fire whenever its row is open, so whatever the windows are set to is
// covered. How many calls a contract net may make is not limited.
package explore
