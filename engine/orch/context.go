package orch

import (
	"time"

	"github.com/durosim/durosim/engine/orchhost"
)

// Context is how an orchestration interacts with the world. It may be used only from the turn's coroutine.
type Context struct {
	host    orchhost.Host
	futures *Futures // nil if each future is allocated by itself
}

// NewContext returns a context backed by a host. Only the engine calls it, to make the context that it passes to an
// orchestration.
func NewContext(h orchhost.Host) *Context { return &Context{host: h} }

// InstanceID returns the id of the running instance.
func (c *Context) InstanceID() string { return c.host.Info().Instance }

// ExecutionID returns the number of the current execution. It starts at 1 and increases by one with each
// continue-as-new.
func (c *Context) ExecutionID() uint64 { return c.host.Info().ExecutionID }

// Name returns the name under which the orchestration was started.
func (c *Context) Name() string { return c.host.Info().Name }

// Version returns the handler version that was chosen when the execution began.
func (c *Context) Version() string { return c.host.Info().Version }

// IsReplaying reports whether the code is replaying what earlier turns have committed. Code must not base decisions on
// it.
func (c *Context) IsReplaying() bool { return c.host.Replaying() }

// Trace writes a line the first time the code gets here, and nothing during replay.
func (c *Context) Trace(text string) {
	if !c.host.Replaying() {
		c.host.Trace(text)
	}
}

// ScheduleActivity schedules an activity. The future yields the activity's result or error.
func (c *Context) ScheduleActivity(name, input string, options ...ActivityOption) (f *Future) {
	// The compiler can just inline this function, so a future that is awaited immediately is not allocated.
	token, f := c.activity(name, input, options)
	if f == nil {
		f = &Future{c, token}
	}
	return
}

// ScheduleTimer schedules a timer that fires d after the start of the turn, in whole milliseconds of store time. Its
// result is empty. If d is not positive, the timer is due at once, but still takes a turn to fire.
func (c *Context) ScheduleTimer(d time.Duration) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionTimer, Delay: d})
}

// ScheduleWait waits for an event that a client raises under the given name. The result is the event's data. Waits for
// the same name are served in the order in which they were scheduled. An event is lost if no wait scheduled in an
// earlier turn is open for it.
func (c *Context) ScheduleWait(name string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionWait, Name: name})
}

// ScheduleWait2 is the second generation of ScheduleWait: it waits for an event with the given name and topic. If the
// execution's pinned build does not know the second generation, it behaves like ScheduleWait(name).
func (c *Context) ScheduleWait2(name, topic string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionWait2, Name: name, Topic: topic})
}

// DequeueEvent takes the oldest message from the instance's queue called name. The result is the message's data.
// Messages stay in the queue until they are taken, even if they arrive before the dequeue, and the 20 oldest unread
// messages are carried over a continue-as-new. Concurrent dequeues from the same queue are served in scheduling order.
// If a dequeue is dropped after it was given a message, the message goes to the next dequeue.
func (c *Context) DequeueEvent(name string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionDequeue, Name: name})
}

// ScheduleSubOrchestration starts a child orchestration. Its id is derived from the parent's id and the position of the
// schedule in the history. Positions restart after a continue-as-new, so an execution can produce an id that a child of
// the previous execution already has; the start then fails with "instance already exists". Orchestrations that continue
// as new should choose their own ids.
func (c *Context) ScheduleSubOrchestration(name, input string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionSubOrchestration, Name: name, Input: input})
}

// ScheduleSubOrchestrationWithID starts a child orchestration with exactly the given id. There is one exception: an id
// that begins with "sub::" is prefixed with the parent's id, as an automatic id is, or rejected by builds that reserve
// such ids ([engine.Build].OwnChildIDs). An empty id means an automatic one.
func (c *Context) ScheduleSubOrchestrationWithID(name, instance, input string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionSubOrchestration, Name: name, Instance: instance, Input: input})
}

// ScheduleSubOrchestrationVersioned starts a child orchestration with exactly the given handler version.
func (c *Context) ScheduleSubOrchestrationVersioned(name, version, input string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionSubOrchestration, Name: name, Version: version, Input: input})
}

// ScheduleSubOrchestrationVersionedWithID starts a child orchestration with exactly this id and handler version.
func (c *Context) ScheduleSubOrchestrationVersionedWithID(name, version, instance, input string) *Future {
	return c.schedule(orchhost.Action{Kind: orchhost.ActionSubOrchestration, Name: name, Version: version, Instance: instance, Input: input})
}

// StartOrchestration starts an instance with exactly the given id and does not wait for it. The instance has no parent,
// and its result is not available here.
func (c *Context) StartOrchestration(name, instance, input string) {
	c.StartOrchestrationVersioned(name, "", instance, input)
}

// StartOrchestrationVersioned is like StartOrchestration, with exactly the given handler version.
func (c *Context) StartOrchestrationVersioned(name, version, instance, input string) {
	c.host.Schedule(orchhost.Action{Kind: orchhost.ActionDetached, Name: name, Version: version, Instance: instance, Input: input})
}

// ContinueAsNew ends this execution and starts the next one with the given input. It does not return.
func (c *Context) ContinueAsNew(input string) {
	c.host.ContinueAsNew("", input)
}

// ContinueAsNewVersioned is like ContinueAsNew, with exactly the given handler version. It does not return.
func (c *Context) ContinueAsNewVersioned(version, input string) {
	c.host.ContinueAsNew(version, input)
}

// Go runs fn as a child coroutine of this turn. The future yields the result of fn. The child starts when the running
// code suspends. Coroutines run one at a time, in the order in which they become ready, and a panic in any of them
// panics the orchestration. Dropping the future ends the child and drops everything it has scheduled. When the
// orchestration returns, its children end.
func (c *Context) Go(fn func(*Context) (string, error)) *Future {
	return &Future{ctx: c, token: c.host.Spawn(func() (string, error) { return fn(c) })}
}

func (c *Context) schedule(a orchhost.Action) *Future {
	return &Future{ctx: c, token: c.host.Schedule(a)}
}
