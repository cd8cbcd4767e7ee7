package stray

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
)

// history is a stored history of the orchestration Stray, with its code and the messages that it gets.
type history struct {
	was []stored // the events after an activity that both history and code have, from id 4
	is  func(ctx *orch.Context) error
	// sent returns the messages that the instance gets; nil means the event "go".
	sent func(instance string) []engine.WorkItem
	// pin is the build that the execution is pinned to, 1.5.0 if empty.
	pin string
	// headless replaces the start by another event.
	headless bool
	// child is set if the start names a parent, without the parent's execution, as in old runtimes; linked if the store
	// has the whole link. The parent is deleted by now.
	child, linked bool
	// garbled is the text of one more event, which no codec can read.
	garbled *string
}

// stored is an event in a stored history, with the id of its schedule.
type stored struct {
	data   engine.EventData
	source uint64
}

// start returns the first event of the n-th history, whose code finds itself by its input.
func (h *history) start(n int) engine.EventData {
	started := eventdata.OrchestrationStarted{Name: name, Version: version, Input: strconv.Itoa(n)}
	switch {
	case h.headless:
		return eventdata.ExternalEvent{Name: "no start"}
	case h.child:
		started.ParentInstance, started.ParentID = parent.Instance, parent.EventID
	}
	return started
}

// both are the events of the activity that each history and its code have.
var both = [2]engine.EventData{eventdata.ActivityScheduled{Name: "Work", Input: "both"}, eventdata.ActivityCompleted{Result: "Work(both)"}}

// parent is the link to the parent of a child.
var parent = engine.ParentLink{Instance: "a parent", ExecutionID: 3, EventID: 5}

// errOver ends code that has no more calls to make.
var errOver = errors.New("over")

func awaiting(schedule func(*orch.Context) *orch.Future) func(*orch.Context) error {
	return func(ctx *orch.Context) error {
		_, err := schedule(ctx).Await()
		return err
	}
}

func changing(change func(*orch.Context)) func(*orch.Context) error {
	return func(ctx *orch.Context) error { change(ctx); return nil }
}

// histories lists them. Code and history agree in most.
var histories = []history{
	// Completions of what was never scheduled, of what is no schedule, and of another kind.
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{done(to, 99)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{failed(to, 99, erring)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{fired(to, 99)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{childDone(to, 99)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{childFailed(to, 99, erring)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{done(to, 1)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{done(to, 5)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{fired(to, 4)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{childDone(to, 7)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{failed(to, 8, erring)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{childFailed(to, 4, erring)} }),
	// Several reasons to fail, in either order: the last disagreement decides, the first error.
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{fired(to, 99), done(to, 98)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{failed(to, 4, broken), fired(to, 99)} }),
	meets(func(to string) []engine.WorkItem { return []engine.WorkItem{fired(to, 99), failed(to, 4, broken)} }),
	meets(func(to string) []engine.WorkItem {
		return []engine.WorkItem{failed(to, 4, broken), childFailed(to, 6, engine.ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: "second", Message: "error"}})}
	}),
	// Duplicates, messages for another execution, and starts of what has begun.
	meets(func(to string) []engine.WorkItem {
		return []engine.WorkItem{done(to, 2), failed(to, 2, erring), done(to, 4), done(to, 4), ended(to, "first"), ended(to, "second")}
	}),
	meets(func(to string) []engine.WorkItem {
		return []engine.WorkItem{
			engine.ActivityCompletedItem{Instance: to, ExecutionID: 7, ID: 4, Result: "stale"},
			engine.SubOrchCompletedItem{ParentInstance: to, ParentExecutionID: 2, ParentID: 6, Result: "stale"}, ended(to, "over"),
		}
	}),
	meets(func(to string) []engine.WorkItem {
		return []engine.WorkItem{
			engine.StartItem{Instance: to, Orchestration: "Revised", Version: "1.0.0", ExecutionID: engine.InitialExecutionID},
			engine.StartItem{Instance: to, Orchestration: "Revised", Version: "1.0.0", ExecutionID: engine.InitialExecutionID, ParentInstance: to, ParentExecutionID: 1, ParentID: 6},
			ended(to, "over"),
		}
	}),
	meets(func(to string) []engine.WorkItem {
		return []engine.WorkItem{
			engine.ContinueAsNewItem{Instance: to, Orchestration: "Revised", Input: "0", Version: "1.0.0"}, ended(to, "over"),
		}
	}),
	// A history without a start, and one of a child whose start, as in old runtimes, lacks the execution of its parent.
	{is: awaiting(waitForGo), headless: true},
	{is: func(*orch.Context) error { return errOver }, child: true, linked: true},
	// Code that drops only a part of what it dropped, or gets a result of what it dropped and returns.
	{was: []stored{
		{eventdata.ActivityScheduled{Name: "Work", Input: "one"}, 0}, {eventdata.ActivityScheduled{Name: "Work", Input: "two"}, 0}, {eventdata.ActivityScheduled{Name: "Work", Input: "three"}, 0},
		{eventdata.ActivityCancelRequested{Reason: eventdata.ReasonDroppedFuture}, 4}, {eventdata.ActivityCancelRequested{Reason: eventdata.ReasonDroppedFuture}, 5},
	}, is: func(ctx *orch.Context) error {
		ctx.ScheduleActivity("Work", "one").Drop()
		two := ctx.ScheduleActivity("Work", "two")
		ctx.ScheduleActivity("Work", "three").Drop()
		_, err := two.Await()
		return err
	}},
	{was: []stored{
		{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}, {eventdata.ActivityCancelRequested{Reason: eventdata.ReasonDroppedFuture}, 4}, {eventdata.ActivityCompleted{Result: "late"}, 4},
	}, is: func(ctx *orch.Context) error {
		if _, err := ctx.ScheduleActivity("Work", "in").Await(); err != nil {
			return err
		}
		return errOver
	}},
	{was: []stored{{eventdata.KeyValuesCleared{}, 0}}, is: changing(func(ctx *orch.Context) { ctx.SetCustomStatus("is") })},
	// As many messages as code may take in one turn, and one more or less.
	takes(98), takes(99), takes(100), takes(101),
	// What only builds from 2.0.0 on read.
	{pin: "2.0.0", was: []stored{{eventdata.ExternalSubscribed2{Name: "was", Topic: "topic"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleWait2("is", "topic") })},
	{pin: "2.0.0", was: []stored{{eventdata.ExternalSubscribed2{Name: "name", Topic: "was"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleWait2("name", "is") })},
	// An event of the second generation for code that waits for the first.
	meets(func(to string) []engine.WorkItem {
		return []engine.WorkItem{engine.ExternalRaised2Item{Instance: to, Name: "never", Topic: "topic", Data: "new"}, ended(to, "over")}
	}),
	// A history with a breadcrumb of an end, but without one.
	{was: []stored{
		{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}, {eventdata.ActivityCancelRequested{Reason: eventdata.ReasonTerminalFailed}, 4},
	}, is: changing(func(ctx *orch.Context) { ctx.ScheduleActivity("Work", "in") })},
	alike,
	// Three messages for three dequeues, of which the first is awaited last.
	{was: []stored{
		{eventdata.QueueEventDelivered{Name: "many", Data: "one"}, 0}, {eventdata.QueueEventDelivered{Name: "many", Data: "two"}, 0}, {eventdata.QueueEventDelivered{Name: "many", Data: "three"}, 0},
	}, is: func(ctx *orch.Context) error {
		one, two, three := ctx.DequeueEvent("many"), ctx.DequeueEvent("many"), ctx.DequeueEvent("many")
		second, _ := two.Await()
		third, _ := three.Await()
		first, _ := one.Await()
		return gets(first+second+third, "onetwothree")
	}},
	// An event for the last of many names that are waited for at once.
	{was: manyWaits(), is: func(ctx *orch.Context) error {
		var last *orch.Future
		for i := range waitCount {
			last = ctx.ScheduleWait(strconv.Itoa(i))
		}
		what, _ := last.Await()
		return gets(what, "late")
	}, sent: func(to string) []engine.WorkItem {
		return []engine.WorkItem{engine.ExternalRaisedItem{Instance: to, Name: strconv.Itoa(waitCount - 1), Data: "late"}}
	}},
	// Two waits dropped one after the other: the code has gone on in between, and got what the first one freed.
	{was: []stored{
		{eventdata.ExternalSubscribed{Name: "w"}, 0}, {eventdata.ExternalSubscribed{Name: "w"}, 0}, {eventdata.ExternalSubscribed{Name: "w"}, 0},
		{eventdata.ExternalEvent{Name: "w", Data: "one"}, 0}, {eventdata.ExternalEvent{Name: "w", Data: "two"}, 0},
		{eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonDroppedFuture}, 4}, {eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonDroppedFuture}, 5},
	}, is: func(ctx *orch.Context) error {
		first, second, third := ctx.ScheduleWait("w"), ctx.ScheduleWait("w"), ctx.ScheduleWait("w")
		first.Drop()
		what, _ := third.Await()
		second.Drop()
		return gets(what, "two")
	}},
	// A wait that is dropped before its rival has a result: it has none later.
	{was: []stored{
		{eventdata.ExternalSubscribed{Name: "w"}, 0}, {eventdata.TimerCreated{FireAtMs: 1}, 0},
		{eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonDroppedFuture}, 4}, {eventdata.TimerFired{FireAtMs: 1}, 5},
	}, is: func(ctx *orch.Context) error {
		i, _, _ := orch.Select(ctx.ScheduleWait("w"), ctx.ScheduleTimer(time.Second))
		return gets(strconv.Itoa(i), "1")
	}},
	// A turn whose messages leave no event: its code asks for something all the same, and is over.
	{is: func(ctx *orch.Context) error {
		ctx.ScheduleSubOrchestrationWithID("Leaf", "never begun", "in")
		if ctx.IsReplaying() {
			return errors.New("it replays what nobody has asked for before")
		}
		return errOver
	}, sent: func(to string) []engine.WorkItem {
		return []engine.WorkItem{engine.ActivityCompletedItem{Instance: to, ExecutionID: 7, ID: 4, Result: "stale"}}
	}},
	// A history with cancel requests, but without an end.
	{was: []stored{{eventdata.OrchestrationCancelRequested{Reason: "first"}, 0}, {eventdata.OrchestrationCancelRequested{Reason: "second"}, 0}},
		is: func(*orch.Context) error { return nil }},
	// An event before the breadcrumb of a wait that was dropped long ago: the code sees it before the breadcrumb frees
	// another wait's event.
	{was: []stored{
		{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}, {eventdata.ExternalSubscribed{Name: "w"}, 0}, {eventdata.ExternalSubscribed{Name: "w"}, 0}, {eventdata.ExternalSubscribed{Name: "bell"}, 0},
		{eventdata.ActivityCompleted{Result: "done"}, 4}, {eventdata.ExternalEvent{Name: "w", Data: "freed"}, 0}, {eventdata.ExternalEvent{Name: "bell", Data: "rings"}, 0},
		{eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonDroppedFuture}, 5},
	}, is: func(ctx *orch.Context) error {
		work, dropped, wait, bell := ctx.ScheduleActivity("Work", "in"), ctx.ScheduleWait("w"), ctx.ScheduleWait("w"), ctx.ScheduleWait("bell")
		dropped.Drop()
		if _, err := bell.Await(); err != nil {
			return err
		}
		_, what, _ := orch.Select(wait, work)
		return gets(what, "done")
	}},
	// Where a drop discards: an event that comes after it goes to the next wait, before the breadcrumb is there.
	{was: []stored{
		{eventdata.ExternalSubscribed{Name: "w"}, 0}, {eventdata.ExternalSubscribed{Name: "w"}, 0}, {eventdata.TimerCreated{FireAtMs: 1}, 0}, {eventdata.TimerFired{FireAtMs: 1}, 6},
		{eventdata.ExternalEvent{Name: "w", Data: "after the drop"}, 0}, {eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonDroppedFuture}, 4},
	}, is: func(ctx *orch.Context) error {
		dropped, wait := ctx.ScheduleWait("w"), ctx.ScheduleWait("w")
		if _, err := ctx.ScheduleTimer(time.Second).Await(); err != nil {
			return err
		}
		dropped.Drop()
		what, _ := wait.Await()
		return gets(what, "after the drop")
	}},
	// The same with a dequeue that is dropped before the turn has an event for it.
	{was: []stored{
		{eventdata.QueueSubscribed{Name: "q"}, 0}, {eventdata.QueueSubscribed{Name: "q"}, 0},
		{eventdata.QueueEventDelivered{Name: "q", Data: "first"}, 0}, {eventdata.QueueEventDelivered{Name: "q", Data: "second"}, 0},
		{eventdata.QueueSubscriptionCancelled{Reason: eventdata.ReasonDroppedFuture}, 4},
	}, is: func(ctx *orch.Context) error {
		ctx.DequeueEvent("q").Drop()
		what, _ := ctx.DequeueEvent("q").Await()
		return gets(what, "first")
	}},
	// The start of a next execution for an instance that has none, besides.
	{is: awaiting(waitForGo), sent: func(to string) []engine.WorkItem {
		return []engine.WorkItem{engine.ContinueAsNewItem{Instance: to + ", unheard of", Orchestration: "Leaf", Version: "1.0.0", Input: "next"}, ended(to, "over")}
	}},
	// A child whose parent's execution neither its start nor the store has.
	{is: func(*orch.Context) error { return errOver }, child: true},
	// Keys of known ages, pruned at the age of the younger one.
	{was: []stored{
		{eventdata.KeyValueSet{Key: "older", Value: "1", LastUpdatedAtMs: 5}, 0}, {eventdata.KeyValueSet{Key: "younger", Value: "1", LastUpdatedAtMs: 9}, 0},
	}, is: func(ctx *orch.Context) error {
		ctx.SetKVValue("older", "1")
		ctx.SetKVValue("younger", "1")
		if n := ctx.PruneKVValuesUpdatedBefore(9); n != 1 {
			return fmt.Errorf("%d keys are older than the younger one", n)
		}
		return nil
	}},
	// A timer for which first a coroutine waits, and then the code that has scheduled it.
	{was: []stored{
		{eventdata.TimerCreated{FireAtMs: 2}, 0}, {eventdata.TimerCreated{FireAtMs: 1}, 0}, {eventdata.TimerFired{FireAtMs: 1}, 5}, {eventdata.TimerFired{FireAtMs: 2}, 4},
	}, is: func(ctx *orch.Context) error {
		long, short := ctx.ScheduleTimer(time.Second), ctx.ScheduleTimer(time.Second)
		other := ctx.Go(func(*orch.Context) (string, error) { return long.Await() })
		orch.Join(short)
		orch.Join(long)
		orch.Join(other)
		return errOver
	}},
}

// gets ends code that gets what it must.
func gets(what, want string) error {
	if what != want {
		return fmt.Errorf("it gets %q, not %q", what, want)
	}
	return errOver
}

// misled is a parent whose child's code disagrees with its history, which ends the parent in the same way.
var misled = meets(func(to string) []engine.WorkItem {
	return []engine.WorkItem{childFailed(to, 6, eventdata.Nondeterminism("a child"))}
})

// meets returns the way of an instance that has one of everything open, and gets messages.
func meets(sent func(to string) []engine.WorkItem) history {
	return history{was: open, is: func(ctx *orch.Context) error {
		orch.Join(ctx.ScheduleActivity("Work", "open"), ctx.ScheduleTimer(time.Hour), ctx.ScheduleSubOrchestrationWithID("Leaf", "open", "in"),
			ctx.ScheduleWait("mail"), ctx.DequeueEvent("post"), ctx.ScheduleWait("never"), ctx.DequeueEvent("never"))
		return nil
	}, sent: sent}
}

// alike has waits whose names and topics are alike once they are joined, with a slash or without. The second wait of each
// pair gets an event, and the first one must not see it.
var alike = history{
	pin: "2.0.0",
	was: []stored{
		{eventdata.ExternalSubscribed2{Name: "go/to", Topic: "pic"}, 0}, {eventdata.ExternalSubscribed2{Name: "go", Topic: "to/pic"}, 0},
		{eventdata.ExternalSubscribed2{Name: "got", Topic: "opic"}, 0}, {eventdata.ExternalSubscribed2{Name: "go", Topic: "topic"}, 0},
	}, is: func(ctx *orch.Context) error {
		a, b := ctx.ScheduleWait2("go/to", "pic"), ctx.ScheduleWait2("go", "to/pic")
		c, d := ctx.ScheduleWait2("got", "opic"), ctx.ScheduleWait2("go", "topic")
		first, _, _ := orch.Select(a, b)
		second, _, _ := orch.Select(c, d)
		if first == 1 && second == 1 {
			return errOver
		}
		return errors.New("another wait's event")
	},
	sent: func(to string) []engine.WorkItem {
		return []engine.WorkItem{
			engine.ExternalRaised2Item{Instance: to, Name: "go", Topic: "to/pic", Data: "with a slash"},
			engine.ExternalRaised2Item{Instance: to, Name: "go", Topic: "topic", Data: "without"},
		}
	},
}

// open holds one schedule of each kind, from id 4: an activity, a timer, a child, waits and dequeues. One wait and one
// dequeue got something; a message of a queue has no dequeue.
var open = []stored{
	{eventdata.ActivityScheduled{Name: "Work", Input: "open"}, 0}, {eventdata.TimerCreated{FireAtMs: 1 << 41}, 0},
	{eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: "open", Input: "in"}, 0},
	{eventdata.ExternalSubscribed{Name: "mail"}, 0}, {eventdata.QueueSubscribed{Name: "post"}, 0},
	{eventdata.ExternalSubscribed{Name: "never"}, 0}, {eventdata.QueueSubscribed{Name: "never"}, 0},
	{eventdata.ExternalEvent{Name: "mail", Data: "a letter"}, 0}, {eventdata.QueueEventDelivered{Name: "post", Data: "a parcel"}, 0},
	{eventdata.QueueEventDelivered{Name: "other", Data: "a parcel"}, 0},
}

// takes returns the way of an instance that takes n messages from a queue in one turn, and then waits for another.
func takes(n int) history {
	var was []stored
	for i := range n {
		was = append(was, stored{eventdata.QueueEventDelivered{Name: "many", Data: strconv.Itoa(i)}, 0})
	}
	return history{was: was, is: func(ctx *orch.Context) error {
		for range n {
			if _, err := ctx.DequeueEvent("many").Await(); err != nil {
				return err
			}
		}
		return nil
	}}
}

// waitCount is more names than a turn looks through one by one.
const waitCount = 12

// manyWaits returns a wait for each of these names.
func manyWaits() (list []stored) {
	for i := range waitCount {
		list = append(list, stored{eventdata.ExternalSubscribed{Name: strconv.Itoa(i)}, 0})
	}
	return list
}

func waitForGo(ctx *orch.Context) *orch.Future { return ctx.ScheduleWait("go") }

// The errors of completions: one of the application, and one that is not and fails the turn.
var (
	erring = engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: "no"}}
	broken = engine.ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: "work", Message: "broken"}}
)

func done(to string, id uint64) engine.WorkItem {
	return engine.ActivityCompletedItem{Instance: to, ExecutionID: 1, ID: id, Result: "done"}
}

func failed(to string, id uint64, details engine.ErrorDetails) engine.WorkItem {
	return engine.ActivityFailedItem{Instance: to, ExecutionID: 1, ID: id, Details: details}
}

func fired(to string, id uint64) engine.WorkItem {
	return engine.TimerFiredItem{Instance: to, ExecutionID: 1, ID: id, FireAtMs: 1}
}

func childDone(to string, id uint64) engine.WorkItem {
	return engine.SubOrchCompletedItem{ParentInstance: to, ParentExecutionID: 1, ParentID: id, Result: "done"}
}

func childFailed(to string, id uint64, details engine.ErrorDetails) engine.WorkItem {
	return engine.SubOrchFailedItem{ParentInstance: to, ParentExecutionID: 1, ParentID: id, Details: details}
}

func ended(to, why string) engine.WorkItem {
	return engine.CancelInstanceItem{Instance: to, Reason: why}
}
