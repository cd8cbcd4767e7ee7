package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/orchhost"
)

// Rules are the decisions of a turn that can be got wrong, each a small function of plain values. A planted bug
// replaces one of them.
type Rules struct {
	// ForThisExecution reports whether a completion that carries one execution id is for the current execution.
	ForThisExecution func(current, carried uint64) bool
	// IsDuplicate reports whether a completion is dropped, given whether its schedule has a completion already, whether
	// that one has the same outcome, and whether the new one is the failure of an activity.
	IsDuplicate func(closed, sameOutcome, activityFailed bool) bool
	// Completes returns the schedule that a completion closes: its own, or one of the open ones of its kind, ascending;
	// nil means its own.
	Completes func(own uint64, open func() []uint64) uint64
	// Pins reports whether a turn names its build as the execution's pin, given whether it is the first.
	Pins func(first bool) bool
	// Winner picks the future that wins a select of n, at least one of which is ready.
	Winner func(replaying bool, n int, ready func(i int) bool) int
	// Recipient returns the future that gets a result: own, or one of the pending ones of its kind, ascending; nil means
	// own.
	Recipient func(own orchhost.Token, pending func() []orchhost.Token) orchhost.Token
	// Writes reports whether the build writes the kind into an execution of that pin.
	Writes func(b *engine.Build, k engine.EventKind, pin *engine.Version) bool
	// Semantics returns the semantics by which the build replays an execution of that origin.
	Semantics func(b *engine.Build, x Origin) engine.Semantics
	// CancelEnds makes a cancel request end the execution.
	CancelEnds bool
	// TellsParent reports whether the parent gets an answer about an end of that kind.
	TellsParent func(r Result) bool
	// AnswersResult reports whether a parent gets an end of that kind as a result, rather than as a failure.
	AnswersResult func(r Result) bool
	// RecordsDetached makes the turn record an event for each detached start.
	RecordsDetached bool
	// SystemResult returns the result of a system activity of that name, given the recorded one, as the code sees it.
	SystemResult func(name, recorded string, nowMs uint64) string
	// RacedResult returns the value of a future that has won a select, given its own.
	RacedResult func(own string) string
	// Code returns what the deployed code asks for at a place where it asked for this before its last change; nil means the
	// same.
	Code func(a orchhost.Action) []orchhost.Action
	// StampsFailure makes the event of a failure carry its instance and execution.
	StampsFailure bool
	// WithdrawsDropped makes the turn withdraw a dropped activity's work.
	WithdrawsDropped bool
	// CarriedParent returns the parent link that the next execution gets.
	CarriedParent func(own *engine.ParentLink) *engine.ParentLink
	// ApplyOrder orders this turn's new events for the code; nil means the order in which history records them.
	ApplyOrder func(a, b *engine.Event) int
	// StartsDetached reports whether detached starts of a turn with that result are enqueued.
	StartsDetached func(r Result) bool
	// CancelsChildren reports whether an end of that kind, with or without the code's return, cancels running children.
	CancelsChildren func(r Result, returned bool) bool
	// CancelsUnstarted makes the turn cancel even children whose start is not enqueued.
	CancelsUnstarted bool
	// ChildsParent returns the link that the start of a child carries.
	ChildsParent func(own engine.ParentLink) engine.ParentLink
	// AnswersRefusedStart makes the turn tell a parent that its child already exists.
	AnswersRefusedStart bool
	// QueueSlot returns which of the untaken messages a dequeue gets, from 0, given how many dequeues before it are open
	// and how many were cancelled.
	QueueSlot func(open, cancelled int) int
	// PendingDequeueReads makes a dequeue that has not taken its message count as its reader at continue-as-new.
	PendingDequeueReads bool
	// CarryForward splits the unread queue messages, in the order of history, into those for the next execution and those
	// that are lost.
	CarryForward func(unread []engine.CarriedEvent, limit int) (carried, lost []engine.CarriedEvent)
	// CarriedStatus returns the custom status that the next execution gets.
	CarriedStatus func(last *string) *string
	// FreedEventWakes makes code go on in the same turn with an event that a dropped wait has left it.
	FreedEventWakes bool
	// DropsBeforeBreadcrumb makes a dropped dequeue give up its message before the drop is recorded.
	DropsBeforeBreadcrumb bool
	// KVStamp returns when a key was set: the recorded time if it is known, else now.
	KVStamp func(recorded uint64, known bool, nowMs uint64) uint64
	// PruneOrder orders the keys, which are ascending, that a prune clears.
	PruneOrder func(replaying bool, keys []string) []string
	// KVKeyCount returns the number of keys that counts for the limit: all, or those of the snapshot and of this turn.
	KVKeyCount func(all, ofTurn func() int) int
	// EndRecordsWaits makes an end record the waits and dequeues that are open.
	EndRecordsWaits bool
	// DiscardsFreed makes a dropped wait take what it was given with it, whatever the semantics of the build.
	DiscardsFreed bool
	// ByOrigin, if not nil, changes the other rules for a turn of an execution that a build of that version began; nil
	// stands for a stamp that is no version.
	ByOrigin func(began *engine.Version, r *Rules)
	// LimitEnds makes a broken limit end the execution like any other failure; otherwise the failure is appended.
	LimitEnds bool
}

// Origin is what is known of an execution when a build chooses the semantics of its replay.
type Origin struct {
	// Stamp is the version on its first event, Latest that on its last one; nil for a text that is no version.
	Stamp, Latest *engine.Version
	// Continued reports whether a continue-as-new began the execution, First whether this is its first turn, and
	// Replaying whether the code is at a place that history has.
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
