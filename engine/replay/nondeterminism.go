package replay

import "github.com/durosim/durosim/engine"

// NondeterminismError says where an execution's code and its history, or its messages, disagree. Its text is what
// docs/contract/runtime.md#r3.3 says for its kind, without the "nondeterministic: " in front.
type NondeterminismError struct {
	Kind NondeterminismKind
	// EventID is the event, or the schedule that a message names, at which they disagree; 0 if it is not one event.
	EventID uint64
	Text    string
}

// Error is the text.
func (e *NondeterminismError) Error() string { return e.Text }

// NondeterminismKind is what disagrees.
type NondeterminismKind uint8

// The kinds, in the order of the stages that find them.
const (
	CompletionKindMismatch     NondeterminismKind = iota + 1 // a message completes a schedule of another kind
	NoMatchingSchedule                                       // a message completes what was never scheduled
	CorruptedHistory                                         // the history does not begin with a start
	NoEmittedAction                                          // history has a schedule that the code does not ask for
	ScheduleMismatch                                         // the code asks for something else than history has
	CustomStatusMismatch                                     // the same for a custom status
	KVMismatch                                               // and for key-value state
	CompletionWithoutSchedule                                // history completes what is not open
	CompletionExpectedActivity                               // history completes something else as an activity
	CancellationMismatch                                     // the code does not drop what it dropped
)

var nondeterminismNames = [...]string{"none", "completion kind mismatch", "no matching schedule", "corrupted history", "no emitted action",
	"schedule mismatch", "custom status mismatch", "key-value mismatch", "completion without schedule", "completion expected activity",
	"cancellation mismatch"}

// String is the kind in words.
func (k NondeterminismKind) String() string { return nondeterminismNames[k] }

// disagree fails the turn.
func (t *turn) disagree(e *NondeterminismError) {
	t.abort = engine.Nondeterminism(e.Text)
	t.out.Nondeterminism = e
}

func mismatch(kind NondeterminismKind, id uint64, text string) *NondeterminismError {
	return &NondeterminismError{Kind: kind, EventID: id, Text: text}
}
