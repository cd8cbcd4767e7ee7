package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/orchhost"
)

// Input is everything that a turn depends on. Turn reads nothing else and never modifies it.
type Input struct {
	Build       *engine.Build
	Instance    string
	ExecutionID uint64
	// History is the execution's stored history in ascending order. It is empty on the first turn.
	History []engine.Event
	// Start becomes the execution's first event. It is required if History is empty and ignored otherwise.
	Start *Start
	// KVSnapshot is the instance's key-value state at the start of this execution, sorted by key.
	KVSnapshot []engine.KVEntry
	// Messages is the batch in enqueue order, including start items.
	Messages []engine.WorkItem
	// Handler is the orchestration code that the registry resolved.
	Handler orch.Handler
	// NowMs is the store time at the start of the turn, in milliseconds.
	NowMs uint64
	// Parent supplies the parent link for an execution whose history lacks one. It is usually nil.
	Parent *engine.ParentLink
	// Rules are the replaceable rules. Nil or the zero value means DefaultRules; otherwise every field must be set,
	// except those documented to allow nil.
	Rules *Rules
	// DoubleCheck runs the turn twice and compares the outputs. See Output.Nondeterministic.
	DoubleCheck bool
	// Watcher observes the code's requests; nil means no watcher.
	Watcher Watcher
	// Workspace is scratch memory for the computation. If it is nil, Turn allocates its own.
	Workspace *Workspace
}

// Watcher sits between the orchestration code and the turn, and sees every request that the code makes. It must pass
// requests on unchanged.
type Watcher interface {
	// Watch is called before the code starts running. It returns a host that forwards every call to the given one.
	Watch(orchhost.Host) orchhost.Host
	// Over is called at the end of the turn. The code may make further calls while it is torn down, but they have no
	// effect.
	Over()
}

// Start describes the beginning of an execution and becomes its OrchestrationStarted event.
type Start struct {
	Name    string
	Version string
	Input   string
	Parent  *engine.ParentLink
	// CarryForwardEvents holds the queue messages that the previous execution left unread. InitialCustomStatus is the
	// custom status at its end.
	CarryForwardEvents  []engine.CarriedEvent
	InitialCustomStatus *string
}

// Result says how a turn ended.
type Result uint8

const (
	ResultContinue Result = iota
	ResultCompleted
	ResultFailed
	ResultContinueAsNew
	ResultCancelled
)

// Output is everything that a turn produces. The caller owns it.
type Output struct {
	Result  Result
	Details engine.ErrorDetails // set if Result is Failed or Cancelled
	// Delta, WorkerItems, OrchestratorItems, Metadata and Cancelled are the arguments of the ack, in order.
	Delta             []engine.Event
	WorkerItems       []engine.WorkItem
	OrchestratorItems []engine.WorkItem
	Metadata          engine.ExecutionMetadata
	Cancelled         []engine.ScheduledActivityIdentifier
	// Dropped lists the messages that the turn consumed without recording an event, each with the rule that dropped it.
	Dropped []Dropped
	// NotCarried lists the queue messages that exceed the carry-forward limit of a continue-as-new and are lost.
	NotCarried []engine.CarriedEvent
	// Nondeterminism describes where the code disagrees with the history or the messages. It is nil unless that is why
	// the turn failed.
	Nondeterminism *Nondeterminism
	// PanickedAt is the source location of the code's panic. It is empty if the code did not panic or the location is
	// unknown. It is meant for human readers and never appears in a history or a trace.
	PanickedAt string
	// Polls counts how often the turn polled the code.
	Polls int
	// Traces holds the lines that the code logged while it was not replaying.
	Traces []string
	// Nondeterministic describes where two runs of this turn differ. It is empty if they agree or if Input.DoubleCheck
	// is off. A difference is the handler's fault, not the engine's. The rest of the output comes from the first run.
	Nondeterministic string
}

// String returns the result's name: Continue, Completed, Failed, ContinueAsNew or Cancelled.
func (r Result) String() string { return resultNames[r] }

var resultNames = [...]string{"Continue", "Completed", "Failed", "ContinueAsNew", "Cancelled"}

// Dropped identifies a message that the turn discarded, and the rule that discarded it.
type Dropped struct {
	Message int // index in Input.Messages
	Rule    string
}

// The rules that make a turn drop a message.
const (
	DropTerminal        = "terminal"             // the execution had already ended
	DropStaleExecution  = "stale-execution"      // the completion is for another execution
	dropDuplicate       = "duplicate-completion" // the schedule already has a completion, whatever its outcome
	dropDuplicateCancel = "duplicate-cancel"     // the execution already has a cancel request
	dropDuplicateStart  = "duplicate-start"      // the execution has already started
	dropNoSchedule      = "no-schedule"          // the completion has no matching schedule; the turn fails
	dropKindMismatch    = "kind-mismatch"        // the completion is of a different kind than its schedule; the turn fails
	dropNotOrchestrator = "not-orchestrator-work"
)
