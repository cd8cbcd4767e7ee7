package machine

import (
	"fmt"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/asked"
	"github.com/durosim/durosim/internal/call"
)

// Input is the closed set of events that a node reacts to. Each is a pointer to one of the structs below. Every input
// carries the node's clock in milliseconds.
type Input interface{ isInput() }

// Start makes a fresh node begin to fetch.
type Start struct{ NowMs int64 }

// Answer is the answer to a ProviderCall, or the retryable error that the driver sends when no answer came by the
// deadline.
type Answer struct {
	NowMs int64
	Call  CallID
	Err   error
	// Orchestration and Work are the results of a fetch; both are nil if the fetch found nothing.
	Orchestration *engine.FetchedOrchestration
	Work          *engine.FetchedWork
	// Count is the result of a session call. Value is the result of ReadKVValue, nil if the key does not exist.
	Count int
	Value *string
	// Events is the result of a history read, which only released runtimes make.
	Events []engine.Event
}

// Wake reports that a timer is due.
type Wake struct {
	NowMs int64
	Timer TimerID
}

// Finished reports that a job is done. Panic makes an activity panic with that text instead of running it.
type Finished struct {
	NowMs int64
	Job   JobID
	Panic string
}

// Drain asks a node to stop gracefully: it fetches nothing more, finishes what it holds, and then emits Stopped.
type Drain struct{ NowMs int64 }

func (*Start) isInput()    {}
func (*Answer) isInput()   {}
func (*Wake) isInput()     {}
func (*Finished) isInput() {}
func (*Drain) isInput()    {}

// CallID, TimerID and JobID are numbers that a node assigns, starting at 1. It never reuses a number within an
// incarnation.
type (
	CallID  uint64
	TimerID uint64
	JobID   uint64
)

// Effect is the closed set of requests that a node makes. Each is a pointer to one of the structs below. The driver
// executes the returned slice in order.
type Effect interface{ isEffect() }

// ProviderCall asks for one provider call. If no answer comes within Deadline, the driver answers with a retryable
// error. A Deadline of 0 means no deadline: a fetch may stay parked forever.
type ProviderCall struct {
	ID       CallID
	Slot     Slot
	Deadline time.Duration
	// Cadence is how often the node would poll while a fetch finds nothing; 0 for calls other than fetches.
	Cadence time.Duration
	// Once makes the driver answer at once if a fetch finds nothing.
	Once    bool
	Request call.Call
}

// CancelCall cancels a fetch that may still be parked. The driver answers a parked fetch at once, with no work.
type CancelCall struct{ ID CallID }

// SetTimer asks for a Wake after a delay on the node's clock.
type SetTimer struct {
	Timer TimerID
	After time.Duration
	// Purpose describes the timer's use.
	Purpose string
}

// CancelTimer cancels a timer that has not fired.
type CancelTimer struct{ Timer TimerID }

// RunTurn reports that the node is running a turn; Finished is due when the turn's time is up.
type RunTurn struct {
	Job         JobID
	Slot        Slot
	Instance    string
	ExecutionID uint64
	LockTimeout time.Duration // lets the driver draw durations near the expiry
}

// RunActivity reports that an activity is running; Finished is due when the activity's time is up.
type RunActivity struct {
	Job          JobID
	Slot         Slot
	Item         engine.ActivityExecuteItem
	AttemptCount uint32
	LockTimeout  time.Duration
}

// CancelJob reports that the node no longer waits for the job; no Finished is due.
type CancelJob struct{ Job JobID }

// Log is a structured log line (docs/contract/runtime.md#r11.2).
type Log struct {
	Level    Level
	Text     string
	Instance string
	Fields   []Field
}

// Field is a named value of a log line.
type Field struct{ Name, Value string }

// Level is the severity of a log line.
type Level uint8

const (
	LevelInfo Level = iota
	LevelWarn
	LevelError
)

// Note reports the node's decision about a delivery to checkers and counters.
type Note struct {
	Decision Decision
	Slot     Slot
	Token    string
	Instance string
	// ExecutionID is the execution that the decision is about.
	ExecutionID  uint64
	AttemptCount uint32
	// Delay is the delay of an abandon.
	Delay time.Duration
	// Cause is the reason in words.
	Cause string
	// Dropped lists the dropped messages of the batch by index, each with the rule that dropped it.
	Dropped []DroppedMessage
	// Turn is set if the decision is DecideTurn.
	Turn *TurnNote
}

// DroppedMessage is a message that the node acknowledged without acting on it.
type DroppedMessage struct {
	Index int
	Rule  string
}

// TurnNote describes a computed turn.
type TurnNote struct {
	First   bool
	Handler string // name@version
	Result  string // Continue, Completed, Failed, ContinueAsNew, Cancelled
	Events  int
	Polls   int
	// PanickedAt describes where the handler panicked; it is empty if the handler did not panic.
	PanickedAt string
	// Nondeterministic describes where two computations of the turn differ, which is a fault of the handler. It is
	// empty if they agree, or if the node computes turns only once (see Config.DoubleCheck).
	Nondeterministic string
	// Ack is the result of the turn, and Asked holds the requests of its code (see Config.Watch). Both are valid only
	// during the step.
	Ack   *call.AckOrchestrationItem
	Asked []asked.Call
}

// Decision is a node's decision about a delivery.
type Decision uint8

// The decisions of the orchestration dispatcher, in the order of its tests (docs/contract-decisions.md#row-1), then
// those of the worker.
const (
	DecideNone Decision = iota
	DecideDropTerminal
	DecidePoison
	DecideHistoryError
	DecideIncompatible
	DecideWaitForStart // input that arrived before the continue-as-new start of its execution
	DecideNoHandler
	DecideTurn
	DecideAckFailed
	DecideWorkPoison
	DecideWorkNoHandler
	DecideWorkRun
	DecideWorkLost
	DecideWorkDone
	DecideDrained // fetched while draining, abandoned
	// DecideDropUnstarted shares its test with DecideDropTerminal: the instance has no history and the batch no start.
	DecideDropUnstarted
	DecideSessionsFull // a session activity beyond the cap, abandoned
	DecideReadFailed   // a system activity could not read, abandoned
	DecideLooked       // a sweeper looked at it and abandoned it
	DecideSwept        // a sweeper ended it
)

var decisionNames = []string{"none", "drop-terminal", "poison", "history-error", "incompatible", "wait-for-start", "no-handler", "turn",
	"ack-failed", "work-poison", "work-no-handler", "work-run", "work-lost", "work-done", "drained", "drop-unstarted", "sessions-full", "read-failed",
	"looked", "swept"}

// String returns the decision's name.
func (d Decision) String() string { return decisionNames[d] }

// Stopped reports that a draining node no longer holds any work.
type Stopped struct{}

func (*ProviderCall) isEffect() {}
func (*CancelCall) isEffect()   {}
func (*SetTimer) isEffect()     {}
func (*CancelTimer) isEffect()  {}
func (*RunTurn) isEffect()      {}
func (*RunActivity) isEffect()  {}
func (*CancelJob) isEffect()    {}
func (*Log) isEffect()          {}
func (*Note) isEffect()         {}
func (*Stopped) isEffect()      {}

// Slot is one of a node's loops.
type Slot struct {
	Kind  SlotKind
	Index int
}

// String returns the slot's name for reports, such as "orchestrator 0".
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

// SlotKind is the kind of a loop.
type SlotKind uint8

const (
	SlotOrchestration SlotKind = iota
	SlotWorker
	SlotSessions
)

// The purposes of timers.
const (
	timerPoll         = "poll"
	timerFetchBackoff = "fetch backoff"
	timerAckRetry     = "ack retry"
	timerRenewal      = "renewal"
	timerGrace        = "grace"
	timerSessions     = "sessions"
	timerSweep        = "sweep"
)
