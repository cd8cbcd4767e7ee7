package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/orchhost"
)

// Rules are the decisions of a turn that a planted bug can replace, each a small function of plain values.
type Rules struct {
	// ForThisExecution reports whether a completion with the execution id carried is for the current execution.
	ForThisExecution func(current, carried uint64) bool
	// IsDuplicate reports whether the turn drops a completion, given whether its schedule already has a completion,
	// whether the two have the same outcome, and whether the new one is an activity's failure.
	IsDuplicate func(closed, sameOutcome, activityFailed bool) bool
	// Completes returns the schedule that a completion closes: own, or one of the open schedules of its kind in
	// ascending order. Nil means own.
	Completes func(own uint64, open func() []uint64) uint64
	// Pins reports whether a turn sets its build as the execution's pin, given whether it is the first turn.
	Pins func(first bool) bool
	// Winner picks the future that wins a select of n, at least one of which is ready.
	Winner func(replaying bool, n int, ready func(i int) bool) int
	// Recipient returns the future that gets a result: own, or one of the pending futures of its kind in ascending
	// order. Nil means own.
	Recipient func(own orchhost.Token, pending func() []orchhost.Token) orchhost.Token
	// Writes reports whether the build writes events of a kind into an execution with that pin.
	Writes func(b *engine.Build, k engine.EventKind, pin *engine.Version) bool
	// Semantics returns the semantics that the build uses to replay an execution of that origin.
	Semantics func(b *engine.Build, x Origin) engine.Semantics
	// CancelEnds makes a cancel request end the execution.
	CancelEnds bool
	// TellsParent reports whether the parent gets an answer when the execution ends with that result.
	TellsParent func(r Result) bool
	// AnswersResult reports whether the parent gets an end of that kind as a result rather than as a failure.
	AnswersResult func(r Result) bool
	// RecordsDetached makes the turn record an event for each detached start.
	RecordsDetached bool
	// SystemResult returns the result of the named system activity as the code sees it, given the recorded result.
	SystemResult func(name, recorded string, nowMs uint64) string
	// RacedResult returns the value of a future that has won a select, given its own value.
	RacedResult func(own string) string
	// Code returns the actions of the deployed code at a place where it asked for a before its last change; nil means
	// that the code has not changed.
	Code func(a orchhost.Action) []orchhost.Action
	// StampsFailure makes a failure event carry its instance and execution.
	StampsFailure bool
	// WithdrawsDropped makes the turn cancel the work item of a dropped activity.
	WithdrawsDropped bool
	// CarriedParent returns the parent link that the next execution gets.
	CarriedParent func(own *engine.ParentLink) *engine.ParentLink
	// ApplyOrder orders this turn's new events for the code; nil means the order of the history.
	ApplyOrder func(a, b *engine.Event) int
	// StartsDetached reports whether a turn with that result enqueues its detached starts.
	StartsDetached func(r Result) bool
	// CancelsChildren reports whether an end of that kind cancels running children, given whether the code returned.
	CancelsChildren func(r Result, returned bool) bool
	// CancelsUnstarted makes the turn cancel even children without an enqueued start.
	CancelsUnstarted bool
	// ChildsParent returns the parent link that a child's start carries.
	ChildsParent func(own engine.ParentLink) engine.ParentLink
	// AnswersRefusedStart makes the turn answer a parent that its child already exists.
	AnswersRefusedStart bool
	// QueueSlot returns which untaken message a dequeue gets, counted from 0, given how many dequeues before it are
	// open and how many were cancelled.
	QueueSlot func(open, cancelled int) int
	// PendingDequeueReads makes a dequeue count as the reader of its message at continue-as-new, even if it has not
	// taken it.
	PendingDequeueReads bool
	// CarryForward splits the unread queue messages, in history order, into messages for the next execution and lost
	// messages.
	CarryForward func(unread []engine.CarriedEvent, limit int) (carried, lost []engine.CarriedEvent)
	// CarriedStatus returns the custom status that the next execution gets.
	CarriedStatus func(last *string) *string
	// FreedEventWakes makes the code go on in the same turn with an event that a dropped wait has freed.
	FreedEventWakes bool
	// DropsBeforeBreadcrumb makes a dropped dequeue give up its message before the turn records the drop.
	DropsBeforeBreadcrumb bool
	// KVStamp returns the time at which a key was set: the recorded time if it is known, otherwise now.
	KVStamp func(recorded uint64, known bool, nowMs uint64) uint64
	// PruneOrder orders the keys that a prune clears; they come in ascending order.
	PruneOrder func(replaying bool, keys []string) []string
	// KVKeyCount returns the number of keys that counts for the limit: all keys, or only those of the snapshot and this
	// turn.
	KVKeyCount func(all, ofTurn func() int) int
	// EndRecordsWaits makes an end record the open waits and dequeues.
	EndRecordsWaits bool
	// DiscardsFreed makes a dropped wait discard its arrival, whatever the build's semantics.
	DiscardsFreed bool
	// ByOrigin, if not nil, changes the other rules for a turn of an execution that a build of that version began.
	// began is nil if the stamp is not a version.
	ByOrigin func(began *engine.Version, r *Rules)
	// LimitEnds makes a broken limit end the execution like any other failure; otherwise the turn appends the failure.
	LimitEnds bool
}

// Origin holds the facts about an execution from which a build chooses the semantics of its replay.
type Origin struct {
	// Stamp is the version on the first event, and Latest the version on the last event; nil if the text is not a
	// version.
	Stamp, Latest *engine.Version
	// Continued reports whether a continue-as-new began the execution, First whether this is its first turn, and
	// Replaying whether the code is at a place that the history covers.
	Continued, First, Replaying bool
}

// DefaultRules returns the correct rules.
func DefaultRules() Rules {
	return Rules{
		ForThisExecution: sameExecution,
		IsDuplicate:      closedIsDuplicate,
		Pins:             onlyFirst,
		Winner:           firstReady,
		Writes:           (*engine.Build).Writes,
		Semantics:        byFirstStamp,
		CancelEnds:       true,
		TellsParent:      everyEndButContinue,
		AnswersResult:    onlyCompleted,
		RecordsDetached:  true,
		SystemResult:     func(_, recorded string, _ uint64) string { return recorded },
		RacedResult:      func(own string) string { return own },
		StampsFailure:    true,
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

func byFirstStamp(b *engine.Build, x Origin) engine.Semantics { return b.SemanticsOf(x.Stamp) }

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
