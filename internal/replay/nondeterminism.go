package replay

import (
	"github.com/durosim/durosim/internal/eventdata"
)

// Nondeterminism describes where an execution's code and its history, or its messages, disagree. Its text is the one
// that docs/contract/runtime.md#r3.3 gives for its kind, without the leading "nondeterministic: ".
type Nondeterminism struct {
	// Kind names what disagrees, in a few fixed words.
	Kind string
	// EventID is the event, or the schedule that a message names, at which they disagree; 0 if it is not one event.
	EventID uint64
	Text    string
}

// nondeterminismKind is the kind of a disagreement.
type nondeterminismKind uint8

// The kinds, in the order of the stages that find them.
const (
	completionKindMismatch     nondeterminismKind = iota + 1 // a message completes a schedule of another kind
	noMatchingSchedule                                       // a message completes what was never scheduled
	corruptedHistory                                         // the history does not begin with a start
	noEmittedAction                                          // history has a schedule that the code does not ask for
	scheduleMismatch                                         // the code asks for something else than history has
	customStatusMismatch                                     // the code sets another custom status than history has
	kvMismatch                                               // the code changes another key than history has
	completionWithoutSchedule                                // history completes what is not open
	completionExpectedActivity                               // history completes something else as an activity
	cancellationMismatch                                     // the code does not drop what it dropped
)

var nondeterminismNames = [...]string{"none", "completion kind mismatch", "no matching schedule", "corrupted history", "no emitted action",
	"schedule mismatch", "custom status mismatch", "key-value mismatch", "completion without schedule", "completion expected activity",
	"cancellation mismatch"}

// disagree fails the turn.
func (t *turn) disagree(e *Nondeterminism) {
	t.abort = eventdata.Nondeterminism(e.Text)
	t.out.Nondeterminism = e
}

func mismatch(kind nondeterminismKind, id uint64, text string) *Nondeterminism {
	return &Nondeterminism{Kind: nondeterminismNames[kind], EventID: id, Text: text}
}
