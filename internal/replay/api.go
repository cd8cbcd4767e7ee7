package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/orchhost"
)

// Input holds everything that a turn depends on. Turn reads nothing else and does not change the input.
type Input struct {
	Build       *engine.Build
	Instance    string
	ExecutionID uint64
	// History is the stored history of this execution, ascending; empty on its first turn.
	History []engine.Event
	// Start becomes the execution's first event. It is required if History is empty and ignored otherwise.
	Start *Start
	// KVSnapshot is the instance's key-value state at the start of this execution, sorted by key.
	KVSnapshot []engine.KVEntry
	// Messages is the batch in enqueue order, including start items.
	Messages []engine.WorkItem
	// Handler is the orchestration's code, as the registry resolved it.
	Handler orch.Handler
	// NowMs is the store time of the turn's start in milliseconds.
	NowMs uint64
	// Parent is the parent link for an execution with a history that lacks it; usually nil.
	Parent *engine.ParentLink
	// Rules are the replaceable rules; nil or zero means DefaultRules. Otherwise every rule must be set, unless its
	// comment says what nil means.
	Rules *Rules
	// DoubleCheck runs the turn twice and compares the outputs: see Output.Nondeterministic.
	DoubleCheck bool
	// Watcher stands between the code and the turn; nil means no watcher.
	Watcher Watcher
	// Workspace is memory for the computation; if it is nil, the call allocates its own.
	Workspace *Workspace
}

// Watcher sees the requests of the code. It must pass them on unchanged.
type Watcher interface {
	// Watch is called when code begins to run. It returns a host that passes all calls on to the given one.
	Watch(orchhost.Host) orchhost.Host
	// Over is called when the turn is over. Calls that the code makes from then on, while it is torn down, have no
	// effect.
	Over()
}

// Start describes the beginning of an execution and becomes its OrchestrationStarted event.
type Start struct {
	Name    string
	Version string
	Input   string
	Parent  *engine.ParentLink
	// CarryForwardEvents are the queue messages that the previous execution did not read. InitialCustomStatus is the
	// custom status that it left behind.
	CarryForwardEvents  []engine.CarriedEvent
	InitialCustomStatus *string
}

// Result is how a turn ended.
type Result uint8

const (
	ResultContinue Result = iota
	ResultCompleted
	ResultFailed
	ResultContinueAsNew
	ResultCancelled
)

// Output is the complete effect of a turn. The caller owns it.
type Output struct {
	Result  Result
	Details engine.ErrorDetails // for Failed and Cancelled
	// Delta, WorkerItems, OrchestratorItems, Metadata and Cancelled are the contents of the ack, in the ack's order.
	Delta             []engine.Event
	WorkerItems       []engine.WorkItem
	OrchestratorItems []engine.WorkItem
	Metadata          engine.ExecutionMetadata
	Cancelled         []engine.ScheduledActivityIdentifier
	// Dropped are the messages that the turn consumed without an event, each with the rule that dropped it.
	Dropped []Dropped
	// NotCarried are the queue messages that a continue-as-new leaves behind because there are too many.
	NotCarried []engine.CarriedEvent
	// Nondeterminism describes where the code and the history or the messages disagree, nil if the turn did not fail
	// for that reason.
	Nondeterminism *Nondeterminism
	// PanickedAt describes where the code panicked; it is empty if the code did not panic or the place is unknown. It
	// is for human readers and appears in no history and no trace.
	PanickedAt string
	// Polls is the number of times that the turn polled the code.
	Polls int
	// Traces are the lines that the code wrote while it was not replaying.
	Traces []string
	// Nondeterministic describes where two runs of this turn differ. It is empty if they agree or Input.DoubleCheck is
	// off. A difference is a fault of the handler, not of the engine; the rest of the output comes from the first run.
	Nondeterministic string
}

// String returns the result's name: Continue, Completed, Failed, ContinueAsNew, Cancelled.
func (r Result) String() string { return resultNames[r] }

var resultNames = [...]string{"Continue", "Completed", "Failed", "ContinueAsNew", "Cancelled"}

// Dropped is a message that a turn discarded by a named rule.
type Dropped struct {
	Message int // index in Input.Messages
	Rule    string
}

// The rules by which a turn drops messages.
const (
	DropTerminal        = "terminal"             // the execution had ended before this turn
	DropStaleExecution  = "stale-execution"      // a completion for another execution
	dropDuplicate       = "duplicate-completion" // the schedule is already closed, with any outcome
	dropDuplicateCancel = "duplicate-cancel"     // only the first cancel request counts
	dropDuplicateStart  = "duplicate-start"      // the execution already has its start
	dropNoSchedule      = "no-schedule"          // a completion without a schedule; the turn fails
	dropKindMismatch    = "kind-mismatch"        // a completion of a different kind than its schedule; the turn fails
	dropNotOrchestrator = "not-orchestrator-work"
)
