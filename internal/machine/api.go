package machine

import (
	"fmt"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/asked"
	"github.com/durosim/durosim/internal/call"
)

// Input is the closed set of events that a node reacts to, pointers to the structs below. Every input carries the node's
// clock in milliseconds.
type Input interface{ isInput() }

// Start makes a fresh node begin to fetch.
type Start struct{ NowMs int64 }

// Answer is the answer to a ProviderCall, or the retryable error that replaces an answer missing at the deadline.
type Answer struct {
	NowMs int64
	Call  CallID
	Err   error
	// Orchestration and Work are the results of a fetch; both are nil if it found nothing.
	Orchestration *engine.FetchedOrchestration
	Work          *engine.FetchedWork
	// Count is the result of the session calls, Value that of ReadKVValue, nil if the key does not exist.
	Count int
	Value *string
	// Events are the result of the history reads that released runtimes make.
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

// CallID, TimerID and JobID are numbers that a node assigns, from 1; it never reuses one within an incarnation.
type (
	CallID  uint64
	TimerID uint64
	JobID   uint64
)

// Effect is the closed set of what a node asks for, pointers to the structs below. The returned slice is in the order of
// execution.
type Effect interface{ isEffect() }

// ProviderCall asks for one call of the provider. The answer is due within Deadline; after that the driver answers with
// a retryable error. A Deadline of 0 means none: a fetch may stay parked forever.
type ProviderCall struct {
	ID       CallID
	Slot     Slot
	Deadline time.Duration
	// Cadence is how often the node would poll while a fetch finds nothing; 0 for calls other than fetches.
	Cadence time.Duration
	// Once makes the driver answer a fetch that finds nothing at once.
	Once    bool
	Request call.Call
}

// CancelCall cancels a fetch that may still be parked. A parked fetch is answered with nothing at once.
type CancelCall struct{ ID CallID }

// SetTimer asks for a Wake after a delay on the node's clock.
type SetTimer struct {
	Timer TimerID
	After time.Duration
	// Purpose describes the timer's use in words.
	Purpose string
}

// CancelTimer cancels a timer that has not fired.
type CancelTimer struct{ Timer TimerID }

// RunTurn reports that a turn is being computed; Finished is due when its time is up.
type RunTurn struct {
	Job         JobID
	Slot        Slot
	Instance    string
	ExecutionID uint64
	LockTimeout time.Duration // for drawing a duration around the expiry
}

// RunActivity reports that an activity runs; Finished is due when its time is up.
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

// The levels.
const (
	LevelInfo Level = iota
	LevelWarn
	LevelError
)

// Note tells checkers and counters what the node decided about a delivery.
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
	// Cause is the reason, in words.
	Cause string
	// Dropped lists the dropped messages of the batch by index, each with the rule that dropped it.
	Dropped []DroppedMessage
	// Turn is set for decision DecideTurn.
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
	// PanickedAt is where the handler panicked, in words, empty if it did not.
	PanickedAt string
	// Nondeterministic describes where two computations of the turn differ: a verdict on the handler. It is empty if they
	// agree, or if turns are computed once (see Config.DoubleCheck).
	Nondeterministic string
	// Ack is the result of the turn, and Asked holds the requests of its code (see Config.Watch). Both are valid during the
	// step.
	Ack   *call.AckOrchestrationItem
	Asked []asked.Call
}

// Decision is what a node decides to do with a delivery.
type Decision uint8

// The decisions of the orchestration dispatcher, in the order of its tests (docs/contract-decisions.md#row-1), then
// those of the worker.
const (
	DecideNone Decision = iota
	DecideDropTerminal
	DecidePoison
	DecideHistoryError
	DecideIncompatible
	DecideWaitForStart // input that came before the continue-as-new start of its execution
	DecideNoHandler
	DecideTurn
	DecideAckFailed
	DecideWorkPoison
	DecideWorkNoHandler
	DecideWorkRun
	DecideWorkLost
	DecideWorkDone
	DecideDrained // fetched while draining, handed back
	// DecideDropUnstarted shares its test with DecideDropTerminal: the instance has no history and the batch no start.
	DecideDropUnstarted
	DecideSessionsFull // a session activity beyond the cap, handed back
	DecideReadFailed   // a system activity could not read, handed back
	DecideLooked       // a sweeper has looked at it, handed back
	DecideSwept        // a sweeper ended it
)

var decisionNames = []string{"none", "drop-terminal", "poison", "history-error", "incompatible", "wait-for-start", "no-handler", "turn",
	"ack-failed", "work-poison", "work-no-handler", "work-run", "work-lost", "work-done", "drained", "drop-unstarted", "sessions-full", "read-failed",
	"looked", "swept"}

// String returns the decision in words.
func (d Decision) String() string { return decisionNames[d] }

// Stopped reports that a draining node no longer holds anything.
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

// String returns the name of the slot in reports, such as "orchestrator 0".
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

// The kinds of loops.
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
