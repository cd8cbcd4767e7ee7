package replay

import (
	"github.com/durosim/durosim/internal/eventdata"
)

// Nondeterminism describes where an execution's code disagrees with its history or its messages. Its text is the one
// that docs/contract/runtime.md#r3.3 gives for its kind, without the prefix "nondeterministic: ".
type Nondeterminism struct {
	// Kind is a fixed short phrase that names the kind of disagreement.
	Kind string
	// EventID is the event at which they disagree, or the schedule that the message refers to. It is 0 if no single
	// event is involved.
	EventID uint64
	Text    string
}

type nondeterminismKind uint8

// The kinds, in the order in which a turn checks for them.
const (
	completionKindMismatch     nondeterminismKind = iota + 1 // a message completes a schedule of a different kind
	noMatchingSchedule                                       // a message completes a schedule that does not exist
	corruptedHistory                                         // the history does not begin with a start
	noEmittedAction                                          // the history contains a schedule that the code does not ask for
	scheduleMismatch                                         // the code asks for something other than what the history records
	customStatusMismatch                                     // the code sets a different custom status from the one recorded
	kvMismatch                                               // the code changes a different key from the one recorded
	completionWithoutSchedule                                // the history completes a schedule that is not open
	completionExpectedActivity                               // the history completes another kind of schedule as an activity
	cancellationMismatch                                     // the code no longer drops a future that it dropped before
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
