package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
)

// Rules are the decisions of a turn that can be got wrong, each a small function of plain values. A seeded bug replaces
// one of them.
type Rules struct {
	// ForThisExecution says whether a completion that carries one execution id is for the current execution.
	ForThisExecution func(current, carried uint64) bool
	// IsDuplicate says whether a completion is dropped, given whether its schedule has one, and of the same kind, and
	// whether it is the failure of an activity.
	IsDuplicate func(closed, sameOutcome, activityFailed bool) bool
	// Completes is the schedule that a completion closes: its own, or one of the open ones of its kind, ascending; nil is
	// its own.
	Completes func(own uint64, open func() []uint64) uint64
	// Pins says whether a turn names its build as the execution's pin, by whether it is the first.
	Pins func(first bool) bool
	// Winner picks the future that wins a select of n, at least one of which is ready.
	Winner func(replaying bool, n int, ready func(i int) bool) int
	// Recipient is the future that gets a result: own, or one of the pending ones of its kind, ascending; nil is own.
	Recipient func(own orch.Token, pending func() []orch.Token) orch.Token
	// Writes says whether the build writes the kind into an execution of that pin.
	Writes func(b *engine.Build, k engine.EventKind, pin *engine.Version) bool
	// CancelEnds says whether a cancel request ends the execution.
	CancelEnds bool
	// TellsParent says whether an end of that kind is told to the parent.
	TellsParent func(r Result) bool
	// AnswersResult says whether a parent is told of an end of that kind as a result, rather than as a failure.
	AnswersResult func(r Result) bool
	// WithdrawsDropped says whether a dropped activity's work is withdrawn.
	WithdrawsDropped bool
	// CarriedParent is the parent link that the next execution gets.
	CarriedParent func(own *engine.ParentLink) *engine.ParentLink
	// ApplyOrder orders this turn's new events for the code; nil is the order in which history records them.
	ApplyOrder func(a, b *engine.Event) int
	// StartsDetached says whether detached starts of a turn with that result are enqueued.
	StartsDetached func(r Result) bool
	// CancelsChildren says whether an end of that kind, with the code's return or without, cancels running children.
	CancelsChildren func(r Result, returned bool) bool
	// CancelsUnstarted says whether children whose start is not enqueued get a cancel.
	CancelsUnstarted bool
	// ChildsParent is the link that the start of a child carries.
	ChildsParent func(own engine.ParentLink) engine.ParentLink
	// AnswersRefusedStart says whether a parent is told that its child exists already.
	AnswersRefusedStart bool
	// QueueSlot is which of the untaken messages a dequeue gets, from 0, given how many dequeues before it are open and
	// how many were cancelled.
	QueueSlot func(open, cancelled int) int
	// PendingDequeueReads says whether a dequeue that has not taken its message counts as its reader at continue-as-new.
	PendingDequeueReads bool
	// CarryForward splits the unread queue messages, in the order of history, into those for the next execution and those
	// that are lost.
	CarryForward func(unread []engine.CarriedEvent) (carried, lost []engine.CarriedEvent)
	// CarriedStatus is the custom status that the next execution gets.
	CarriedStatus func(last *string) *string
	// FreedEventWakes says whether code goes on in the same turn with an event that a dropped wait has left it.
	FreedEventWakes bool
	// DropsBeforeBreadcrumb says whether a dropped dequeue gives its message up before that is recorded.
	DropsBeforeBreadcrumb bool
	// KVStamp is when a key was set: recorded if that is known, else now.
	KVStamp func(recorded uint64, known bool, nowMs uint64) uint64
	// PruneOrder orders the keys, which are ascending, that a prune clears.
	PruneOrder func(replaying bool, keys []string) []string
	// KVKeyCount is the number of keys that counts for the limit: all, or those of the snapshot and of this turn.
	KVKeyCount func(all, ofTurn func() int) int
	// EndRecordsWaits says whether an end records the waits and dequeues that are open.
	EndRecordsWaits bool
	// LimitEnds says whether a broken limit ends the execution like any other failure; otherwise it is appended.
	LimitEnds bool
}

// DefaultRules are the right rules.
func DefaultRules() Rules {
	return Rules{
		ForThisExecution: sameExecution,
		IsDuplicate:      closedIsDuplicate,
		Pins:             onlyFirst,
		Winner:           firstReady,
		Writes:           (*engine.Build).Writes,
		CancelEnds:       true,
		TellsParent:      everyEndButContinue,
		AnswersResult:    onlyCompleted,
		WithdrawsDropped: true,
		CarriedParent:    sameParent,
		StartsDetached:   unlessCancelled,
		CancelsChildren:  atEveryEnd,
		CancelsUnstarted: false,
		ChildsParent:     trueLink,

		AnswersRefusedStart:   true,
		QueueSlot:             openBefore,
		PendingDequeueReads:   false,
		CarryForward:          carryOldest,
		CarriedStatus:         sameStatus,
		FreedEventWakes:       true,
		DropsBeforeBreadcrumb: false,
		KVStamp:               recordedStamp,
		PruneOrder:            byKey,
		KVKeyCount:            allKeys,
		EndRecordsWaits:       true,
		LimitEnds:             true,
	}
}

func sameExecution(current, carried uint64) bool { return current == carried }

func closedIsDuplicate(closed, _, _ bool) bool { return closed }

func onlyFirst(first bool) bool { return first }

func firstReady(_ bool, n int, ready func(i int) bool) int {
	for i := range n {
		if ready(i) {
			return i
		}
	}
	return -1
}

func everyEndButContinue(r Result) bool { return r != ResultContinue && r != ResultContinueAsNew }

func onlyCompleted(r Result) bool { return r == ResultCompleted }

func sameParent(own *engine.ParentLink) *engine.ParentLink { return own }

func unlessCancelled(r Result) bool { return r != ResultCancelled }

func atEveryEnd(Result, bool) bool { return true }

func trueLink(own engine.ParentLink) engine.ParentLink { return own }

func openBefore(open, _ int) int { return open }

func sameStatus(last *string) *string { return last }

func recordedStamp(recorded uint64, known bool, nowMs uint64) uint64 {
	if known {
		return recorded
	}
	return nowMs
}

func byKey(_ bool, keys []string) []string { return keys }

func allKeys(all, _ func() int) int { return all() }
