package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orchhost"
)

// Rules holds the decisions in a turn that a planted bug can replace. Each is a flag or a small function of plain
// values.
type Rules struct {
	// ForThisExecution reports whether a completion that carries the execution id carried belongs to the execution
	// current.
	ForThisExecution func(current, carried uint64) bool
	// IsDuplicate reports whether to drop a completion as a duplicate. closed reports whether the schedule already has
	// a completion, sameOutcome whether that completion has the same outcome, and activityFailed whether the new one is
	// an activity failure.
	IsDuplicate func(closed, sameOutcome, activityFailed bool) bool
	// Completes returns the schedule that a completion closes. It is either own or an element of open(), which returns
	// the open schedules of the same kind in ascending order. A nil function means own.
	Completes func(own uint64, open func() []uint64) uint64
	// Pins reports whether a turn pins the execution to its build. first reports whether it is the first turn.
	Pins func(first bool) bool
	// ComparesInputs makes a replay compare the inputs that the code gives with those that the history recorded.
	ComparesInputs bool
	// IsReplaying returns what the code is told about replaying. behind reports whether there is history that the code
	// has not reached, and history whether there is any.
	IsReplaying func(behind, history bool) bool
	// PollLimit returns the number of polls at which a turn fails. replayed is the number of polls that the replay of
	// history and messages took.
	PollLimit func(replayed int) int
	// Winner returns which of n futures wins a Select. At least one is ready.
	Winner func(replaying bool, n int, ready func(i int) bool) int
	// Recipient returns the future that receives a result. It is either own or an element of pending(), which returns
	// the pending futures of the same kind in ascending order. A nil function means own.
	Recipient func(own orchhost.Token, pending func() []orchhost.Token) orchhost.Token
	// Writes reports whether build b writes events of kind k into an execution with that pin.
	Writes func(b *engine.Build, k engine.EventKind, pin *engine.Version) bool
	// Semantics returns the semantics with which build b replays an execution of origin x.
	Semantics func(b *engine.Build, x Origin) engine.Semantics
	// CancelEnds makes a cancel request end the execution.
	CancelEnds bool
	// TellsParent reports whether an execution that ends with result r answers its parent.
	TellsParent func(r Result) bool
	// AnswersResult reports whether the answer to the parent after result r is a result. If not, it is a failure.
	AnswersResult func(r Result) bool
	// RecordsDetached makes the turn record an event for each detached start.
	RecordsDetached bool
	// SystemResult returns the result of the system activity name as seen by the code. recorded is the recorded result.
	// A nil function means that.
	SystemResult func(name, recorded string, nowMs uint64) string
	// RacedResult returns the value of a future that has won a Select. own is the future's own value.
	RacedResult func(own string) string
	// Code simulates a change in the deployed code: it returns the actions that the code now requests in place of a. A
	// nil function means that the code has not changed.
	Code func(a orchhost.Action) []orchhost.Action
	// StampsFailure makes a failure event carry its instance and execution ids.
	StampsFailure bool
	// NamesPanicPlace makes the turn report the location of its code's panic.
	NamesPanicPlace bool
	// WithdrawsDropped makes the turn cancel a dropped activity's work item.
	WithdrawsDropped bool
	// CarriedParent returns the parent link to pass to the next execution.
	CarriedParent func(own *engine.ParentLink) *engine.ParentLink
	// ApplyOrder compares two of this turn's new events; the lesser one is applied to the code first. A nil function
	// means history order.
	ApplyOrder func(a, b *engine.Event) int
	// StartsDetached reports whether a turn with result r enqueues its detached starts.
	StartsDetached func(r Result) bool
	// CancelsChildren reports whether an execution that ends with result r cancels running children. returned reports
	// whether the code returned.
	CancelsChildren func(r Result, returned bool) bool
	// CancelsUnstarted makes the turn send cancel requests even to children whose start it did not enqueue.
	CancelsUnstarted bool
	// ChildsParent returns the parent link for a child's start.
	ChildsParent func(own engine.ParentLink) engine.ParentLink
	// AnswersRefusedStart makes the turn notify a parent whose child already exists.
	AnswersRefusedStart bool
	// QueueSlot returns the index, among the untaken messages, of the message that a dequeue gets. open and cancelled
	// are the numbers of earlier dequeues that are open or cancelled.
	QueueSlot func(open, cancelled int) int
	// PendingDequeueReads makes continue-as-new treat an open dequeue's message as read.
	PendingDequeueReads bool
	// CarriesOn makes continue-as-new carry what the execution before has carried over even above the build's limit.
	CarriesOn bool
	// CarryForward splits the unread queue messages into those carried to the next execution and those lost. unread is
	// in history order.
	CarryForward func(unread []engine.CarriedEvent, limit int) (carried, lost []engine.CarriedEvent)
	// CarriedStatus returns the custom status to pass to the next execution.
	CarriedStatus func(last *string) *string
	// FreedEventWakes lets the code process an event freed by a dropped wait within the same turn.
	FreedEventWakes bool
	// DropsBeforeBreadcrumb makes a dropped dequeue release its message before the turn records the drop.
	DropsBeforeBreadcrumb bool
	// KVStamp returns the time at which a key was set: recorded if known is set, and nowMs otherwise.
	KVStamp func(recorded uint64, known bool, nowMs uint64) uint64
	// PruneOrder returns the order in which a prune clears keys. keys is in ascending order.
	PruneOrder func(replaying bool, keys []string) []string
	// KVKeyCount returns the key count to compare with the limit: that of all keys, or only of the keys from the
	// snapshot and this turn.
	KVKeyCount func(all, ofTurn func() int) int
	// EndRecordsWaits makes the end of an execution record its open waits and dequeues.
	EndRecordsWaits bool
	// DiscardsFreed makes a dropped wait discard its arrival, regardless of the build's semantics.
	DiscardsFreed bool
	// ByOrigin, if not nil, adjusts the other rules for an execution. began is the version of the build that began the
	// execution, or nil if the stamp is not a version.
	ByOrigin func(began *engine.Version, r *Rules)
	// LimitEnds makes an exceeded limit end the execution like any other failure. If false, the turn merely appends the
	// failure.
	LimitEnds bool
}

// Origin holds the facts about an execution that determine its replay semantics.
type Origin struct {
	// Stamp and Latest are the versions on the first and last events, or nil if the text is not a version.
	Stamp, Latest *engine.Version
	// Continued reports whether a continue-as-new began the execution. First reports whether this is its first turn.
	// Replaying reports whether the code is at a point covered by the history.
	Continued, First, Replaying bool
}

// defaultRules are the correct rules. They are never changed.
var defaultRules = DefaultRules()

// DefaultRules returns the correct rules.
func DefaultRules() Rules {
	return Rules{
		ForThisExecution: func(current, carried uint64) bool { return current == carried },
		IsDuplicate:      func(closed, _, _ bool) bool { return closed },
		Pins:             func(first bool) bool { return first },
		ComparesInputs:   true,
		IsReplaying:      func(behind, _ bool) bool { return behind },
		PollLimit:        func(replayed int) int { return replayed + quiescencePolls },
		Winner:           firstReady,
		Writes:           (*engine.Build).Writes,
		Semantics:        byFirstStamp,
		CancelEnds:       true,
		TellsParent:      everyEndButContinue,
		AnswersResult:    func(r Result) bool { return r == ResultCompleted },
		RecordsDetached:  true,
		RacedResult:      func(own string) string { return own },
		StampsFailure:    true,
		NamesPanicPlace:  true,
		WithdrawsDropped: true,
		CarriedParent:    func(own *engine.ParentLink) *engine.ParentLink { return own },
		StartsDetached:   func(r Result) bool { return r != ResultCancelled },
		CancelsChildren:  func(Result, bool) bool { return true },
		CancelsUnstarted: false,
		ChildsParent:     func(own engine.ParentLink) engine.ParentLink { return own },

		AnswersRefusedStart:   true,
		QueueSlot:             func(open, _ int) int { return open },
		PendingDequeueReads:   false,
		CarriesOn:             true,
		CarryForward:          carryOldest,
		CarriedStatus:         func(last *string) *string { return last },
		FreedEventWakes:       true,
		DropsBeforeBreadcrumb: false,
		KVStamp:               recordedStamp,
		PruneOrder:            func(_ bool, keys []string) []string { return keys },
		KVKeyCount:            func(all, _ func() int) int { return all() },
		EndRecordsWaits:       true,
		LimitEnds:             true,
	}
}

func byFirstStamp(b *engine.Build, x Origin) engine.Semantics { return b.SemanticsOf(x.Stamp) }

func firstReady(_ bool, n int, ready func(i int) bool) int {
	for i := range n {
		if ready(i) {
			return i
		}
	}
	return -1
}

func everyEndButContinue(r Result) bool { return r != ResultContinue && r != ResultContinueAsNew }

func recordedStamp(recorded uint64, known bool, nowMs uint64) uint64 {
	if known {
		return recorded
	}
	return nowMs
}
