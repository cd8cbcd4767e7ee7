package orchhost

import (
	"time"

	"github.com/durosim/durosim/engine"
)

// Host runs an orchestration's code. Package replay implements it; orchestration code never sees it.
//
// Only the coroutine that the host resumed may call it. Await, Select and ContinueAsNew suspend that coroutine. When
// the host tears the code down, every method panics with Over, except that a waiting Await or Select returns and the
// Context panics instead: the cost of a panic grows with the frames that it unwinds, and most turns end with one.
type Host interface {
	// Info returns the data that never changes during a turn.
	Info() Info
	// Replaying reports whether the code is rerunning a part that earlier turns have committed.
	Replaying() bool
	// Trace writes a line that leaves no event.
	Trace(text string)
	// Schedule emits an action and returns the token of its future. For a detached start, the token has no meaning.
	Schedule(a Action) Token
	// Spawn creates a child coroutine for fn. It begins to run when the current one suspends.
	Spawn(fn func() (string, error)) Token
	// Await suspends until the future has a result. The error is Over if there will be no result.
	Await(t Token) (string, error)
	// Select suspends until one of the futures has a result, drops the others and returns the winner's index, or a
	// negative number if there will be no winner.
	Select(ts []Token) int
	// Drop abandons a future.
	Drop(t Token)
	// ContinueAsNew emits the action and does not return. An empty version means "by policy".
	ContinueAsNew(version, input string)
	// Update emits an action that changes the instance's state, and applies it at once.
	Update(a Action)
	// CustomStatus returns the instance's custom status, nil if there is none.
	CustomStatus() *string
	// KV returns the instance's key-value state, sorted by key. The caller must not change it. It is valid until the
	// next Update.
	KV() []engine.KVEntry
	// PruneKV clears the keys that were last set before beforeMs, and returns their number.
	PruneKV(beforeMs uint64) int
}

// Over is the panic value for code that still waits when its turn ends. Code never gets it as an error.
var Over error = over{}

type over struct{}

func (over) Error() string { return "orch: the turn is over" }

// Token numbers the futures of a turn in the order of their creation, from 1.
type Token int32

// Info describes an execution to its Context.
type Info struct {
	Instance    string
	ExecutionID uint64
	Name        string
	Version     string
}

// Action is a request from the code. Fields that its kind does not use are zero.
type Action struct {
	Kind     ActionKind
	Name     string        // activity, child, detached start: the handler; wait, dequeue: the event; key-value: the key
	Input    string        // activity, child, detached start, continue-as-new; custom status: the text; key-value: the value
	Instance string        // child: explicit id, empty for an automatic one; detached start: the id
	Version  string        // child, detached start, continue-as-new: handler version, empty for "by policy"
	Topic    string        // wait of the second generation
	Session  string        // activity: the session, empty for none
	Tag      string        // activity: the tag, empty for none
	Delay    time.Duration // timer
}

// ActionKind is the kind of an Action.
type ActionKind uint8

// The kinds of actions.
const (
	ActionActivity ActionKind = iota + 1
	ActionTimer
	ActionWait
	ActionWait2
	ActionSubOrchestration
	ActionDetached
	ActionContinueAsNew
	ActionDequeue
	ActionSetCustomStatus
	ActionResetCustomStatus
	ActionSetKV
	ActionClearKV
	ActionClearAllKV
)
