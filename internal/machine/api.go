package machine

import (
	"fmt"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/asked"
	"github.com/durosim/durosim/internal/call"
)

// Input is the closed set of events that a node reacts to. Every Input is a pointer to one of the structs below and
// carries the time on the node's clock, in milliseconds.
type Input interface{ isInput() }

// Start makes a new node start fetching.
type Start struct{ NowMs int64 }

// Answer carries the answer to a ProviderCall. If no answer arrived by the deadline, the driver sends a retryable error
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

// Finished reports that a job is done. If Panic is set, the activity panics with that text instead of running.
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

// CallID, TimerID and JobID identify what a node has asked for. The node numbers them from 1 and never reuses a number
// within an incarnation.
type (
	CallID  uint64
	TimerID uint64
	JobID   uint64
)

// Effect is the closed set of requests that a node makes. Every Effect is a pointer to one of the structs below. The
// driver executes the returned slice in order.
type Effect interface{ isEffect() }

// ProviderCall asks for one provider call. If no answer comes within Deadline, the driver answers with a retryable
// error. A Deadline of 0 means no deadline: a fetch may stay parked forever.
type ProviderCall struct {
	ID       CallID
	Slot     Slot
	Deadline time.Duration
	// Cadence is how often the node would poll while a fetch finds nothing. It is 0 for calls other than fetches.
	Cadence time.Duration
	// Once makes the driver answer a fetch immediately even if it finds nothing.
	Once    bool
	Request call.Call
}

// CancelCall cancels a fetch that may still be parked. The driver immediately answers a parked fetch with no work.
type CancelCall struct{ ID CallID }

// SetTimer asks for a Wake after a delay on the node's clock.
type SetTimer struct {
	Timer TimerID
	After time.Duration
	// Purpose says what the timer is for.
	Purpose string
}

// CancelTimer cancels a timer that has not fired.
type CancelTimer struct{ Timer TimerID }

// RunTurn announces that the node is running a turn. The driver sends Finished when the turn's time is up.
type RunTurn struct {
	Job         JobID
	Slot        Slot
	Instance    string
	ExecutionID uint64
	LockTimeout time.Duration // lets the driver draw durations close to the lock's expiry
}

// RunActivity announces that the node is running an activity. The driver sends Finished when the activity's time is up.
type RunActivity struct {
	Job          JobID
	Slot         Slot
	Item         engine.ActivityExecuteItem
	AttemptCount uint32
	LockTimeout  time.Duration
}

// CancelJob announces that the node no longer waits for the job, so the driver sends no Finished for it.
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

// Note tells checkers and counters what a node decided about a delivery.
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
	// Cause is the reason in plain text.
	Cause string
	// Dropped lists the messages that the node dropped, each by its index in the batch and with the rule that dropped
	// it.
	Dropped []DroppedMessage
	// Turn is set only if the decision is DecideTurn.
	Turn *TurnNote
}

// DroppedMessage identifies a message that the node acknowledged without acting on it.
type DroppedMessage struct {
	Index int
	Rule  string
}

// TurnNote describes a turn that the node computed.
type TurnNote struct {
	First   bool
	Handler string // name@version
	Result  string // one of Continue, Completed, Failed, ContinueAsNew, Cancelled
	Events  int
	Polls   int
	// PanickedAt is the source location of the handler's panic. It is empty if the handler did not panic.
	PanickedAt string
	// Nondeterministic describes where two computations of the turn differ, which is the handler's fault. It is empty
	// if they agree or if the node computes each turn only once (see Config.DoubleCheck).
	Nondeterministic string
	// Ack is the turn's result, and Asked holds the requests that its code made (see Config.Watch). Both are valid only
	// during the step.
	Ack   *call.AckOrchestrationItem
	Asked []asked.Call
}

// Decision says what a node decided to do with a delivery.
type Decision uint8

// The decisions of the orchestration dispatcher, in the order of its tests (docs/contract-decisions.md#row-1), followed
// by those of the worker.
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
	DecideDrained // fetched while draining, so abandoned
	// DecideDropUnstarted is decided by the same test as DecideDropTerminal. It means that the instance has no history
	// and the batch has no start.
	DecideDropUnstarted
	DecideSessionsFull // a session activity over the limit, abandoned
	DecideReadFailed   // a system activity's read failed, so it was abandoned
	DecideLooked       // a sweeper inspected the batch and abandoned it
	DecideSwept        // a sweeper ended the execution
)

var decisionNames = []string{"none", "drop-terminal", "poison", "history-error", "incompatible", "wait-for-start", "no-handler", "turn",
	"ack-failed", "work-poison", "work-no-handler", "work-run", "work-lost", "work-done", "drained", "drop-unstarted", "sessions-full", "read-failed",
	"looked", "swept"}

// String returns the decision's name.
func (d Decision) String() string { return decisionNames[d] }

// Stopped announces that a draining node no longer holds any work.
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

// Slot identifies one of a node's loops.
type Slot struct {
	Kind  SlotKind
	Index int
}

// String returns the slot's name as shown in reports, such as "orchestrator 0".
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

// SlotKind says what a loop does.
type SlotKind uint8

const (
	SlotOrchestration SlotKind = iota
	SlotWorker
	SlotSessions
)

// The purposes that SetTimer can name.
const (
	timerPoll         = "poll"
	timerFetchBackoff = "fetch backoff"
	timerAckRetry     = "ack retry"
	timerRenewal      = "renewal"
	timerGrace        = "grace"
	timerSessions     = "sessions"
	timerSweep        = "sweep"
)
