package replay

import (
	"github.com/durosim/durosim/engine/eventdata"
)

// Nondeterminism describes a disagreement between an execution's code and its history or messages. Its text is the one
// specified for its kind in docs/contract/runtime.md#r3.3, without the prefix "nondeterministic: ".
type Nondeterminism struct {
	// Kind classifies the disagreement; it is one of a fixed set of short phrases.
	Kind string
	// EventID is the event at which they disagree, or the schedule to which the message refers. It is 0 if no single
	// event is involved.
	EventID uint64
	Text    string
}

type nondeterminismKind uint8

// The kinds, in the order of the turn's checks.
const (
	completionKindMismatch     nondeterminismKind = iota + 1 // a message completes a schedule of a different kind
	noMatchingSchedule                                       // a message completes a schedule that does not exist
	corruptedHistory                                         // the history does not begin with a start
	noEmittedAction                                          // the history contains a schedule that the code does not request
	scheduleMismatch                                         // the code requests something other than the recorded schedule
	customStatusMismatch                                     // the code sets a custom status other than the recorded one
	kvMismatch                                               // the code changes a key other than the recorded one
	completionWithoutSchedule                                // the history completes a schedule that is not open
	completionExpectedActivity                               // the history records an activity's completion for another kind of schedule
	cancellationMismatch                                     // the code no longer drops a future that it dropped in an earlier turn
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
