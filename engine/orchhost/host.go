package orchhost

import (
	"time"

	"github.com/durosim/durosim/engine"
)

// Host runs an orchestration's code. Package replay implements it. Orchestration code never sees it.
//
// Only the coroutine that the host has resumed may call it. Await, Select and ContinueAsNew suspend that coroutine.
// When the host tears the code down, every method panics with Over. There is one exception: an Await or Select that is
// already waiting returns, and the Context panics instead. A panic costs more the more frames it unwinds, and most
// turns end in this way.
type Host interface {
	// Info returns data that does not change during a turn.
	Info() Info
	// Replaying reports whether the code is rerunning a part that earlier turns have already committed.
	Replaying() bool
	// Trace logs a line. It leaves no event in the history.
	Trace(text string)
	// Schedule emits an action and returns its future's token. A detached start has no future, so its token is
	// meaningless.
	Schedule(a Action) Token
	// ScheduleActivity is Schedule for an activity. Most schedules are activities, and these arguments are passed in
	// registers, whereas an Action is copied at each call.
	ScheduleActivity(name, input, session, tag string) Token
	// Spawn creates a child coroutine that runs fn. The child starts when the current coroutine suspends.
	Spawn(fn func() (string, error)) Token
	// Await suspends the coroutine until the future has a result. The error is Over if it will never have one.
	Await(t Token) (string, error)
	// Select suspends the coroutine until one of the futures has a result, drops the others, and returns the winner's
	// index. If there will be no winner, it returns a negative number.
	Select(ts []Token) int
	// Drop gives up a future.
	Drop(t Token)
	// ContinueAsNew emits the action and does not return. If version is empty, the registry's policy chooses the
	// version.
	ContinueAsNew(version, input string)
	// Update emits an action that changes the instance's state, and applies it immediately.
	Update(a Action)
	// CustomStatus returns the instance's custom status, or nil if there is none.
	CustomStatus() *string
	// KV returns the instance's key-value state, sorted by key. It must not be modified, and is valid until the next
	// Update.
	KV() []engine.KVEntry
	// PruneKV clears the keys that were last set before beforeMs, and returns the number of keys cleared.
	PruneKV(beforeMs uint64) int
}

// Over is the panic value for code that is still waiting at the end of its turn. Code never receives it as an error.
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

// Action is a request by the code. Fields that do not apply to its kind are zero.
type Action struct {
	Kind     ActionKind
	Name     string        // name of the handler (activity, child, detached start), the event (wait, dequeue) or the key (key-value action)
	Input    string        // input of an activity, child, detached start or continue-as-new; text of a custom status; value of a key
	Instance string        // id of a detached start; explicit id of a child, or empty for an automatic id
	Version  string        // handler version of a child, detached start or continue-as-new; if empty, the registry's policy chooses it
	Topic    string        // topic of a second-generation wait
	Session  string        // session of an activity, or empty
	Tag      string        // tag of an activity, or empty
	Delay    time.Duration // timer
}

// ActionKind is the kind of request that an Action makes.
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
