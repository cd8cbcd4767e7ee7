package machine

import (
	"fmt"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
)

// Input is an event that a node reacts to. The set of Inputs is closed: each is a pointer to one of the structs below.
// Each carries the time on the node's clock, in milliseconds.
type Input interface{ isInput() }

// Start tells a new node to begin fetching.
type Start struct{ NowMs int64 }

// Answer is the answer to a ProviderCall. If no answer arrived by the deadline, the driver sends a retryable error
// instead.
type Answer struct {
	NowMs int64
	Call  CallID
	Err   error
	// Orchestration and Work hold the result of a fetch. Both are nil if the fetch found nothing.
	Orchestration *engine.FetchedOrchestration
	Work          *engine.FetchedWork
	// Count is the result of a session call. Value is the result of ReadKVValue, or nil if the key does not exist.
	Count int
	Value *string
	// Events is the result of reading a history. Only released runtimes make that call.
	Events []engine.Event
}

// Wake reports that a timer is due.
type Wake struct {
	NowMs int64
	Timer TimerID
}

// Finished reports that a job is done. If Panic is set, the activity panics with that text instead of running its code.
type Finished struct {
	NowMs int64
	Job   JobID
	Panic string
}

// Drain asks a node to stop gracefully. The node stops fetching, finishes the work it holds, and then emits Stopped.
type Drain struct{ NowMs int64 }

func (*Start) isInput()    {}
func (*Answer) isInput()   {}
func (*Wake) isInput()     {}
func (*Finished) isInput() {}
func (*Drain) isInput()    {}

// CallID, TimerID and JobID identify a node's requests. The node numbers them from 1 and never reuses a number within
// an incarnation.
type (
	CallID  uint64
	TimerID uint64
	JobID   uint64
)

// Effect is a request that a node makes. The set of Effects is closed: each is a pointer to one of the structs below.
// The driver executes the returned slice in order.
type Effect interface{ isEffect() }

// ProviderCall requests one provider call. If no answer arrives within Deadline, the driver answers with a retryable
// error. A Deadline of 0 means no deadline: a fetch may stay parked forever.
type ProviderCall struct {
	ID       CallID
	Slot     Slot
	Deadline time.Duration
	// Cadence is the interval at which the node would poll if its fetches found nothing. It is 0 for calls other than
	// fetches.
	Cadence time.Duration
	// Once makes the driver answer a fetch immediately even if it finds nothing.
	Once    bool
	Request call.Call
}

// CancelCall cancels a fetch that may still be parked. The driver immediately answers a parked fetch with no work.
type CancelCall struct{ ID CallID }

// SetTimer requests a Wake after a delay on the node's clock.
type SetTimer struct {
	Timer TimerID
	After time.Duration
	// Purpose names the reason for the timer.
	Purpose string
}

// CancelTimer cancels a pending timer.
type CancelTimer struct{ Timer TimerID }

// RunTurn announces that the node is running a turn. The driver sends Finished when the turn is over.
type RunTurn struct {
	Job         JobID
	Slot        Slot
	Instance    string
	LockTimeout time.Duration // lets the driver draw durations close to the lock's expiry
}

// RunActivity announces that the node is running an activity. The driver sends Finished when the activity is over.
type RunActivity struct {
	Job          JobID
	Slot         Slot
	Item         engine.ActivityExecuteItem
	AttemptCount uint32
	LockTimeout  time.Duration
}

// CancelJob announces that the node no longer waits for the job. The driver sends no Finished for it.
type CancelJob struct{ Job JobID }

// Log is a structured log line (docs/contract/runtime.md#r11.2).
type Log struct {
	Level    Level
	Text     string
	Instance string
	Fields   []Field
}

// Field is a named value in a log line.
type Field struct{ Name, Value string }

// Level is the severity of a log line.
type Level uint8

const (
	LevelInfo Level = iota
	LevelWarn
	LevelError
)

// Note reports a node's decision about a delivery to checkers and counters.
type Note struct {
	Decision Decision
	Slot     Slot
	Token    string
	Instance string
	// ExecutionID is the execution that the decision concerns.
	ExecutionID  uint64
	AttemptCount uint32
	// Delay is the delay before abandoned work becomes visible again.
	Delay time.Duration
	// Cause explains the decision in plain text.
	Cause string
	// Dropped lists the messages that the node dropped. Each entry has the message's index in the batch and the rule
	// that dropped it.
	Dropped []DroppedMessage
	// Turn is set only if the decision is DecideTurn.
	Turn *TurnNote
}

// DroppedMessage identifies a message that the node acknowledged without acting on it.
type DroppedMessage = replay.Dropped

// TurnNote describes the result of a turn.
type TurnNote struct {
	First   bool
	Handler string // name@version
	Result  string // one of Continue, Completed, Failed, ContinueAsNew, Cancelled
	Events  int
	Polls   int
	// Resumed reports that the node had kept the execution and did not replay its history.
	Resumed bool
	// PanickedAt is the source location of the handler's panic, or of its use of the Context from another goroutine. It is
	// empty if the handler did neither, or if the location is unknown.
	PanickedAt string
	// Nondeterministic describes the first difference between two computations of the turn, which is the handler's
	// fault. It is empty if they agree, or if the turn was computed only once (see Config.DoubleCheck).
	Nondeterministic string
	// Ack is the turn's result. Asked holds the requests made by the turn's code (see Config.Watch); it is nil if the turn
	// was resumed. Both are valid only during the step.
	Ack   *call.AckOrchestrationItem
	Asked []asked.Call
}

// Decision is a node's decision about a delivery.
type Decision uint8

// The decisions of the orchestration dispatcher come first, in the order of its tests
// (docs/contract-decisions.md#row-1). The worker's decisions follow.
const (
	DecideNone Decision = iota
	DecideDropTerminal
	DecidePoison
	DecideHistoryError
	DecideIncompatible
	DecideWaitForStart // the input arrived before its execution's continue-as-new start
	DecideNoHandler
	DecideTurn
	DecideAckFailed
	DecideWorkPoison
	DecideWorkNoHandler
	DecideWorkRun
	DecideWorkLost
	DecideWorkDone
	DecideDrained // abandoned because it was fetched while the node was draining
	// DecideDropUnstarted means that the instance has no history and the batch has no start. It results from the same
	// test as DecideDropTerminal.
	DecideDropUnstarted
	DecideSessionsFull // abandoned because it is a session activity and the node is at its session limit
	DecideReadFailed   // abandoned because a system activity's read failed
	DecideLooked       // inspected and abandoned by a sweeper
	DecideSwept        // the execution was ended by a sweeper
)

var decisionNames = []string{"none", "drop-terminal", "poison", "history-error", "incompatible", "wait-for-start", "no-handler", "turn",
	"ack-failed", "work-poison", "work-no-handler", "work-run", "work-lost", "work-done", "drained", "drop-unstarted", "sessions-full", "read-failed",
	"looked", "swept"}

// String returns the decision's name.
func (d Decision) String() string { return decisionNames[d] }

// ActivityPanicked announces that an activity's code has panicked. At is the source location, or empty if it is unknown.
type ActivityPanicked struct {
	Activity node.ActivityContext
	Text, At string
}

// Stopped announces that a draining node holds no more work.
type Stopped struct{}

func (*ProviderCall) isEffect()     {}
func (*CancelCall) isEffect()       {}
func (*SetTimer) isEffect()         {}
func (*CancelTimer) isEffect()      {}
func (*RunTurn) isEffect()          {}
func (*RunActivity) isEffect()      {}
func (*CancelJob) isEffect()        {}
func (*Log) isEffect()              {}
func (*Note) isEffect()             {}
func (*Stopped) isEffect()          {}
func (*ActivityPanicked) isEffect() {}

// Slot identifies one of a node's loops.
type Slot struct {
	Kind  SlotKind
	Index int
}

// String returns the slot's name for use in reports, such as "orchestrator 0".
func (s Slot) String() string {
	switch s.Kind {
	case SlotOrchestration:
		return "orchestrator " + strconv.Itoa(s.Index)
	case SlotWorker:
		return "worker " + strconv.Itoa(s.Index)
	case SlotSessions:
		return "sessions"
	}
	panic(fmt.Sprintf("machine: slot of kind %d", s.Kind))
}

// SlotKind is the purpose of a loop.
type SlotKind uint8

const (
	SlotOrchestration SlotKind = iota
	SlotWorker
	SlotSessions
)

// The values of SetTimer.Purpose.
const (
	timerPoll         = "poll"
	timerFetchBackoff = "fetch backoff"
	timerAckRetry     = "ack retry"
	timerRenewal      = "renewal"
	timerGrace        = "grace"
	timerSessions     = "sessions"
	timerSweep        = "sweep"
)
