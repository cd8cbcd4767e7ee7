package replay

import (
	"github.com/durosim/durosim/internal/eventdata"
)

// Nondeterminism describes where an execution's code and its history, or its messages, disagree. Its text is the text
// of docs/contract/runtime.md#r3.3 for its kind, without the leading "nondeterministic: ".
type Nondeterminism struct {
	// Kind names the kind of disagreement in a few fixed words.
	Kind string
	// EventID is the event, or the schedule that a message names, at which they disagree; 0 if it is no single event.
	EventID uint64
	Text    string
}

type nondeterminismKind uint8

// The kinds, in the order of the stages that find them.
const (
	completionKindMismatch     nondeterminismKind = iota + 1 // a message completes a schedule of another kind
	noMatchingSchedule                                       // a message completes a schedule that does not exist
	corruptedHistory                                         // the history does not begin with a start
	noEmittedAction                                          // the history has a schedule that the code does not ask for
	scheduleMismatch                                         // the code asks for something other than the history has
	customStatusMismatch                                     // the code sets a different custom status than the history has
	kvMismatch                                               // the code changes a different key than the history has
	completionWithoutSchedule                                // the history completes a schedule that is not open
	completionExpectedActivity                               // the history completes a non-activity as an activity
	cancellationMismatch                                     // the code does not drop a future that it dropped before
)

var nondeterminismNames = [...]string{"none", "completion kind mismatch", "no matching schedule", "corrupted history", "no emitted action",
	"schedule mismatch", "custom status mismatch", "key-value mismatch", "completion without schedule", "completion expected activity",
	"cancellation mismatch"}

// disagree fails the turn with a nondeterminism error.
func (t *turn) disagree(e *Nondeterminism) {
	t.abort = eventdata.Nondeterminism(e.Text)
	t.out.Nondeterminism = e
}

func mismatch(kind nondeterminismKind, id uint64, text string) *Nondeterminism {
	return &Nondeterminism{Kind: nondeterminismNames[kind], EventID: id, Text: text}
}
