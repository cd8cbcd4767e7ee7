package orch

import (
	"time"

	"github.com/durosim/durosim/internal/orchhost"
)

// Context is an orchestration's access to the world. Only the turn's coroutine may use it.
type Context struct{ host orchhost.Host }

// NewContext returns a context for a host. Only the engine calls it: it passes each orchestration its context.
func NewContext(h orchhost.Host) *Context { return &Context{host: h} }

// InstanceID returns the id of the instance that runs the code.
func (c *Context) InstanceID() string { return c.host.Info().Instance }

// ExecutionID returns the number of the execution, which starts at 1 and grows by one with each continue-as-new.
func (c *Context) ExecutionID() uint64 { return c.host.Info().ExecutionID }

// Name returns the name under which the code was started.
func (c *Context) Name() string { return c.host.Info().Name }

// Version returns the handler version that was resolved when the execution began.
func (c *Context) Version() string { return c.host.Info().Version }

// IsReplaying reports whether the code is rerunning what earlier turns have committed. Code must not base any decision
// on it.
func (c *Context) IsReplaying() bool { return c.host.Replaying() }

// Trace writes a line when the code runs for the first time, and nothing when it is being replayed.
func (c *Context) Trace(text string) {
	if !c.host.Replaying() {
		c.host.Trace(text)
	}
}

// ScheduleActivity schedules an activity. The future's result is the activity's result, or its error.
func (c *Context) ScheduleActivity(name, input string, options ...ActivityOption) *Future {
	// This function is small enough to be inlined, so a future that is awaited at once costs nothing.
	return &Future{host: c.host, token: c.activity(name, input, options)}
}

// ScheduleTimer schedules a timer, due d after the turn's start in whole milliseconds of store time; the result is
// empty. A timer whose d is not positive is due at once, and still takes a turn.
func (c *Context) ScheduleTimer(d time.Duration) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionTimer, Delay: d})
}

// ScheduleWait waits for an event that a client raises under the name; the result is its data. Waits for one name are
// served in the order in which they were scheduled. An event that finds no unserved wait of an earlier turn is lost.
func (c *Context) ScheduleWait(name string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionWait, Name: name})
}

// ScheduleWait2 is the second generation of ScheduleWait: it waits for an event of that name and topic. In an execution
// whose pinned build does not know the second generation, it behaves like ScheduleWait(name).
func (c *Context) ScheduleWait2(name, topic string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionWait2, Name: name, Topic: topic})
}

// DequeueEvent takes the oldest untaken message from the instance's queue of that name; the result is its data.
// Messages stay in the queue until they are taken, even those that arrive before a dequeue, and the oldest 20 untaken
// ones cross a continue-as-new. Concurrent dequeues of one name are served in the order in which they were scheduled; a
// dropped dequeue passes its message to the next one.
func (c *Context) DequeueEvent(name string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionDequeue, Name: name})
}

// ScheduleSubOrchestration starts a child under an id made from the parent's id and the schedule's place in history.
// Places restart after a continue-as-new, so an execution can produce the id of a child of the previous execution; the
// start then fails with "instance already exists". Orchestrations that continue as new should choose their own ids.
func (c *Context) ScheduleSubOrchestration(name, input string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionSubOrchestration, Name: name, Input: input})
}

// ScheduleSubOrchestrationWithID starts a child under that id, verbatim, except that an id that begins with "sub::" is
// prefixed with the parent's, like an automatic one, or refused by a build that keeps such ids for itself
// ([engine.Build].OwnChildIDs). An empty id selects an automatic one.
func (c *Context) ScheduleSubOrchestrationWithID(name, instance, input string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionSubOrchestration, Name: name, Instance: instance, Input: input})
}

// ScheduleSubOrchestrationVersioned starts a child of exactly that handler version.
func (c *Context) ScheduleSubOrchestrationVersioned(name, version, input string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionSubOrchestration, Name: name, Version: version, Input: input})
}

// ScheduleSubOrchestrationVersionedWithID starts a child of exactly that handler version, under that id.
func (c *Context) ScheduleSubOrchestrationVersionedWithID(name, version, instance, input string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionSubOrchestration, Name: name, Version: version, Instance: instance, Input: input})
}

// StartOrchestration starts an instance under that id, verbatim, and does not wait for it: it has no parent and no
// result.
func (c *Context) StartOrchestration(name, instance, input string) {
	c.StartOrchestrationVersioned(name, "", instance, input)
}

// StartOrchestrationVersioned is StartOrchestration with exactly that handler version.
func (c *Context) StartOrchestrationVersioned(name, version, instance, input string) {
	c.host.Schedule(orchhost.Action{Kind: orchhost.ActionDetached, Name: name, Version: version, Instance: instance, Input: input})
}

// ContinueAsNew ends this execution and begins the next one with that input. It does not return.
func (c *Context) ContinueAsNew(input string) {
	c.host.ContinueAsNew("", input)
}

// ContinueAsNewVersioned is ContinueAsNew with exactly that handler version. It does not return.
func (c *Context) ContinueAsNewVersioned(version, input string) {
	c.host.ContinueAsNew(version, input)
}

// Go runs fn as a child coroutine of this turn; the future's result is that of fn. The child begins when the
// running code suspends, coroutines run one at a time, in the order in which they become ready, and a panic in one
// panics the orchestration. Dropping the future ends the child and drops what the child has scheduled. When the
// orchestration returns, its children end.
func (c *Context) Go(fn func(*Context) (string, error)) *Future {
	return &Future{host: c.host, token: c.host.Spawn(func() (string, error) { return fn(c) })}
}

func (c *Context) schedule(a orchhost.Action) *Future {
	return &Future{host: c.host, token: c.host.Schedule(a)}
}
