package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
)

// Input holds everything that a turn depends on. Turn reads nothing else and never modifies it.
type Input struct {
	Build       *engine.Build
	Instance    string
	ExecutionID uint64
	// History is the execution's stored history in ascending order of ids. It is empty on the first turn.
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
	// Rules holds the replaceable rules. Nil or the zero value means DefaultRules. If it is set, all fields must be
	// set, except those documented to allow nil.
	Rules *Rules
	// DoubleCheck makes Turn compute the turn twice, the second time by a replay, and compare the outputs. See
	// Output.Nondeterministic.
	DoubleCheck bool
	// Watcher observes the code's requests; nil means no watcher.
	Watcher Watcher
	// Arena is scratch memory for the computation. If it is nil, Turn allocates its own.
	Arena *Arena
	// Keep makes Turn leave the code suspended if the execution goes on, as Output.Kept. It needs an Arena.
	Keep bool
	// Kept is what an earlier turn of the execution kept. Turn goes on from there if History is what that turn left, and
	// drops it otherwise. A Watcher sees nothing of a turn that goes on.
	Kept *Kept
	// places makes the turn note where the code asks for what. See DiffersAt.
	places bool
}

// Watcher observes the requests that the orchestration code makes to the turn. It must pass each request on unchanged.
type Watcher interface {
	// Watch is called before the code starts. It returns a host that forwards every call to its argument.
	Watch(orchhost.Host) orchhost.Host
	// Over is called at the end of the turn. During teardown, the code may make further calls, but these have no
	// effect.
	Over()
}

// Start describes the beginning of an execution. It becomes the OrchestrationStarted event.
type Start struct {
	Name    string
	Version string
	Input   string
	Parent  *engine.ParentLink
	// CarryForwardEvents holds the previous execution's unread queue messages. InitialCustomStatus is its final custom
	// status.
	CarryForwardEvents  []engine.CarriedEvent
	InitialCustomStatus *string
}

// Result is the way in which a turn ended.
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
	// Delta, WorkerItems, OrchestratorItems, Metadata and Cancelled are the ack's arguments, in order.
	Delta             []engine.Event
	WorkerItems       []engine.WorkItem
	OrchestratorItems []engine.WorkItem
	Metadata          engine.ExecutionMetadata
	Cancelled         []engine.ScheduledActivityIdentifier
	// Dropped lists the messages that the turn consumed without recording an event, with the rule that dropped each.
	Dropped []Dropped
	// NotCarried lists the queue messages that a continue-as-new lost because of its carry-forward limit.
	NotCarried []engine.CarriedEvent
	// Nondeterminism describes the first disagreement between the code and the history or messages. It is nil unless
	// the turn failed for this reason.
	Nondeterminism *Nondeterminism
	// Kept is the suspended execution; see Input.Keep. Resumed reports whether this turn went on from Input.Kept.
	Kept    *Kept
	Resumed bool
	// PanickedAt is the source location of the code's panic, or of its use of the Context from another goroutine. It is empty if the code did not panic or the location is
	// unknown. It is for human readers and never appears in a history or a trace.
	PanickedAt string
	// Polls counts the turn's polls of the code.
	Polls int
	// Traces holds the lines that the code logged while it was not replaying.
	Traces []string
	// Nondeterministic describes the first difference between the two computations of this turn. It is empty if they
	// agree or if Input.DoubleCheck is off. A difference is the handler's fault, not the engine's. The rest of the
	// output comes from the first computation.
	Nondeterministic string
}

// String returns the result's name: Continue, Completed, Failed, ContinueAsNew or Cancelled.
func (r Result) String() string { return resultNames[r] }

var resultNames = [...]string{"Continue", "Completed", "Failed", "ContinueAsNew", "Cancelled"}

// Dropped identifies a message that the turn discarded, and the rule that discarded it.
type Dropped struct {
	Index int // in the batch
	Rule  string
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
