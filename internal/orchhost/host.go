package orchhost

import (
	"time"

	"github.com/durosim/durosim/engine"
)

// Host runs an orchestration's code. Package replay implements it. Orchestration code never sees it.
//
// Only the coroutine that the host has resumed may call it. Await, Select and ContinueAsNew suspend that coroutine.
// When the host tears the code down, every method panics with Over. The exception is an Await or Select that is already
// waiting: it returns, and the Context panics instead. A panic costs more the more frames it unwinds, and most turns
// end this way.
type Host interface {
	// Info returns data that stays the same throughout a turn.
	Info() Info
	// Replaying reports whether the code is rerunning a part that earlier turns have already committed.
	Replaying() bool
	// Trace logs a line. It leaves no event in the history.
	Trace(text string)
	// Schedule emits an action and returns its future's token. For a detached start, the token is meaningless.
	Schedule(a Action) Token
	// Spawn creates a child coroutine that runs fn. The child starts running when the current coroutine suspends.
	Spawn(fn func() (string, error)) Token
	// Await suspends the coroutine until the future has a result. The error is Over if it will never have one.
	Await(t Token) (string, error)
	// Select suspends the coroutine until one of the futures has a result, drops the others, and returns the winner's
	// index. It returns a negative number if there will be no winner.
	Select(ts []Token) int
	// Drop gives up a future.
	Drop(t Token)
	// ContinueAsNew emits the action and does not return. An empty version leaves the choice to the registry's policy.
	ContinueAsNew(version, input string)
	// Update emits an action that changes the instance's state, and applies it immediately.
	Update(a Action)
	// CustomStatus returns the instance's custom status, or nil if there is none.
	CustomStatus() *string
	// KV returns the instance's key-value state, sorted by key. The caller must not modify it. It is valid until the
	// next Update.
	KV() []engine.KVEntry
	// PruneKV clears the keys that were last set before beforeMs and returns how many it cleared.
	PruneKV(beforeMs uint64) int
}

// Over is the panic value for code that is still waiting when its turn ends. Code never receives it as an error.
var Over error = over{}

type over struct{}

func (over) Error() string { return "orch: the turn is over" }

// Token numbers a turn's futures in creation order, starting at 1.
type Token int32

// Info describes an execution to the code's Context.
type Info struct {
	Instance    string
	ExecutionID uint64
	Name        string
	Version     string
}

// Action is a request made by the code. Fields that do not apply to its kind are zero.
type Action struct {
	Kind     ActionKind
	Name     string        // handler of an activity, child or detached start; event of a wait or dequeue; key of a key-value action
	Input    string        // input of an activity, child, detached start or continue-as-new; text of a custom status; value of a key
	Instance string        // id of a detached start; explicit id of a child, or empty for an automatic id
	Version  string        // handler version of a child, detached start or continue-as-new; empty to leave it to the policy
	Topic    string        // topic of a second-generation wait
	Session  string        // session of an activity, or empty
	Tag      string        // tag of an activity, or empty
	Delay    time.Duration // timer
}

// ActionKind says what an Action requests.
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
