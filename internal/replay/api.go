package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/orchhost"
)

// Input is everything that a turn depends on. Turn reads nothing else and changes none of it.
type Input struct {
	Build       *engine.Build
	Instance    string
	ExecutionID uint64
	// History is the stored history of this execution, ascending; empty on its first turn.
	History []engine.Event
	// Start makes an execution's first event. It is required when History is empty, and ignored otherwise.
	Start *Start
	// KVSnapshot is the instance's key-value state at the start of this execution, sorted by key.
	KVSnapshot []engine.KVEntry
	// Messages is the batch, in enqueue order, start items included.
	Messages []engine.WorkItem
	// Handler is the orchestration's code, as the registry resolved it.
	Handler orch.Handler
	// NowMs is the store time of the turn's start in milliseconds.
	NowMs uint64
	// Parent is the link to the parent for an execution whose history lacks it; usually nil.
	Parent *engine.ParentLink
	// Rules are the replaceable rules; nil or zero means DefaultRules. Otherwise every rule must be set, unless its
	// comment explains nil.
	Rules *Rules
	// DoubleCheck runs the turn twice and compares: see Output.Nondeterministic.
	DoubleCheck bool
	// Watcher stands between the code and the turn; nil means nothing does.
	Watcher Watcher
	// Workspace is memory to compute in; nil makes some for this call only.
	Workspace *Workspace
}

// Watcher sees what the code asks for. It must do what it is asked to, and change nothing.
type Watcher interface {
	// Watch returns a host that passes on all calls to another: code begins to run.
	Watch(orchhost.Host) orchhost.Host
	// Over tells that the turn is over: what the code does from now on, while it is being ended, has no effect.
	Over()
}

// Start is the beginning of an execution; it becomes its OrchestrationStarted.
type Start struct {
	Name    string
	Version string
	Input   string
	Parent  *engine.ParentLink
	// CarryForwardEvents are the queue messages that the previous execution did not read, InitialCustomStatus is the
	// custom status that it left.
	CarryForwardEvents  []engine.CarriedEvent
	InitialCustomStatus *string
}

// Result is how a turn ended.
type Result uint8

// The results of a turn.
const (
	ResultContinue Result = iota
	ResultCompleted
	ResultFailed
	ResultContinueAsNew
	ResultCancelled
)

// Output is the whole effect of a turn. The caller owns it.
type Output struct {
	Result  Result
	Details engine.ErrorDetails // for Failed and Cancelled
	// Delta, WorkerItems, OrchestratorItems, Metadata and Cancelled are the contents of the ack, in its order.
	Delta             []engine.Event
	WorkerItems       []engine.WorkItem
	OrchestratorItems []engine.WorkItem
	Metadata          engine.ExecutionMetadata
	Cancelled         []engine.ScheduledActivityIdentifier
	// Dropped are the messages that the turn consumed without an event, each with the rule that dropped it.
	Dropped []Dropped
	// NotCarried are the queue messages that a continue-as-new leaves behind because there are too many.
	NotCarried []engine.CarriedEvent
	// Nondeterminism describes where code and history, or messages, disagree, nil if the turn did not fail for that.
	Nondeterminism *Nondeterminism
	// PanickedAt is where the code panicked, in words, empty if it did not or nothing tells. It is for people: no history
	// and no trace has it.
	PanickedAt string
	// Polls counts the polls of the code.
	Polls int
	// Traces are the lines that the code wrote while it was not replaying.
	Traces []string
	// Nondeterministic describes where two runs of this same turn differ, empty if they agree or Input.DoubleCheck is
	// off. It is a verdict on the handler, not on the engine; the rest of the output is the first run's.
	Nondeterministic string
}

// String returns the result's name: Continue, Completed, Failed, ContinueAsNew, Cancelled.
func (r Result) String() string { return resultNames[r] }

var resultNames = [...]string{"Continue", "Completed", "Failed", "ContinueAsNew", "Cancelled"}

// Dropped is a message that a named rule discarded.
type Dropped struct {
	Message int // index in Input.Messages
	Rule    string
}

// The rules by which a turn drops messages.
const (
	DropTerminal        = "terminal"             // the execution had ended before this turn
	DropStaleExecution  = "stale-execution"      // a completion for another execution
	dropDuplicate       = "duplicate-completion" // the schedule is closed already, with whatever outcome
	dropDuplicateCancel = "duplicate-cancel"     // the first cancel request counts
	dropDuplicateStart  = "duplicate-start"      // the execution has its start
	dropNoSchedule      = "no-schedule"          // a completion that nothing asked for; the turn fails
	dropKindMismatch    = "kind-mismatch"        // a completion of another kind than its schedule; the turn fails
	dropNotOrchestrator = "not-orchestrator-work"
)
