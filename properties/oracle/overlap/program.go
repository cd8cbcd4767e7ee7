package overlap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

// program holds the calls that callers make on a store.
type program struct {
	first []step // made one after another, before the callers start
	// callers run concurrently. Each has the tokens from the first steps, and the tokens that it gets itself.
	callers [][]step
	// inTurn makes each caller wait until the previous one has ended.
	inTurn bool
}

// step is a call that uses its caller's latest token. If the caller has no token, the step is skipped.
type step struct {
	kind kind
	// instance is the instance that the call is about, unless the token determines it.
	instance string
	// n makes the ids and values of this step different from those of other steps.
	n uint64
}

// kind says which call a step makes.
type kind string

const (
	start   kind = "start"   // start an instance
	raise   kind = "raise"   // raise an event for an instance
	work    kind = "work"    // put an activity into the worker queue
	fetch   kind = "fetch"   // fetch an instance
	turn    kind = "turn"    // commit a turn that changes the history, a key and the status, schedules an activity and sends a message
	renew   kind = "renew"   // renew the instance's lock
	abandon kind = "abandon" // abandon the instance's lock
	take    kind = "take"    // fetch an activity
	done    kind = "done"    // complete an activity
	history kind = "history" // read the history
	value   kind = "value"   // read a key
	values  kind = "values"  // read all keys
	status  kind = "status"  // read the custom status
	stats   kind = "stats"   // read the statistics
	info    kind = "info"    // read the instance through the management surface
	list    kind = "list"    // list all instances
	remove  kind = "remove"  // delete an instance by force
)

// beginnings lists the sequences of steps that may fill the store before the concurrent callers start.
var beginnings = [][]kind{
	{start}, {start, work}, {start, fetch}, {start, fetch, turn}, {start, fetch, turn, raise}, {work, work}, {start, fetch, turn, take},
	{start, fetch, turn, raise, fetch},
}

// habits lists the sequences of steps that a concurrent caller may make.
var habits = [][]kind{
	{fetch, turn}, {fetch, abandon}, {fetch, turn}, {turn}, {turn, fetch}, {abandon}, {renew, turn}, {take, done}, {done}, {take, done}, {raise, fetch},
	{history, value, stats}, {value, status, history}, {info, history, values}, {take, history}, {history, take}, {start, fetch}, {list, info}, {raise, raise},
	{remove}, {work, take},
}

// draw returns the program for a seed.
func draw(seed uint64) program {
	random := rand.New(rand.NewPCG(seed, 1))
	n := uint64(0)
	steps := func(kinds []kind, instance string) (list []step) {
		for _, k := range kinds {
			n++
			list = append(list, step{kind: k, instance: instance, n: n})
		}
		return list
	}
	instances := []string{"A", "A", "A", "B"}
	p := program{first: steps(beginnings[random.IntN(len(beginnings))], "A")}
	for range 2 + random.IntN(2) {
		p.callers = append(p.callers, steps(habits[random.IntN(len(habits))], instances[random.IntN(len(instances))]))
	}
	return p
}

// length returns how many steps a program has.
func (p program) length() int {
	n := len(p.first)
	for _, c := range p.callers {
		n += len(c)
	}
	return n
}

// without returns the program without step i, counting from 0. A caller left without steps is dropped, too.
func (p program) without(i int) program {
	shorter := program{first: slices.Clone(p.first)}
	if i < len(p.first) {
		shorter.first = slices.Delete(shorter.first, i, i+1)
	}
	i -= len(p.first)
	for _, c := range p.callers {
		kept := slices.Clone(c)
		if i >= 0 && i < len(c) {
			kept = slices.Delete(kept, i, i+1)
		}
		i -= len(c)
		if len(kept) > 0 {
			shorter.callers = append(shorter.callers, kept)
		}
	}
	return shorter
}

// caller is a concurrent caller's state, which consists of the tokens that it got.
type caller struct {
	turns []turnLock
	works []workLock
}

type turnLock struct {
	token, instance string
	execution       uint64
}

type workLock struct {
	token string
	item  engine.ActivityExecuteItem
}

// clone returns a copy of the caller.
func (c *caller) clone() *caller {
	return &caller{turns: slices.Clone(c.turns), works: slices.Clone(c.works)}
}

// learn stores the tokens that an answer contains.
func (c *caller) learn(a call.Answer) {
	if f := a.Orchestration; f != nil {
		c.turns = append(c.turns, turnLock{f.LockToken, f.Item.Instance, f.Item.ExecutionID})
	}
	if f := a.Work; f != nil {
		item, _ := engine.Known(f.Item).(engine.ActivityExecuteItem)
		c.works = append(c.works, workLock{f.LockToken, item})
	}
}

// lock is a lock timeout that is longer than any program takes.
const lock = time.Hour

// call returns the call that a step makes, or nil if its caller has no token for it.
func (c *caller) call(s step) call.Call {
	if len(c.turns) == 0 && slices.Contains([]kind{turn, renew, abandon}, s.kind) || len(c.works) == 0 && s.kind == done {
		return nil
	}
	switch s.kind {
	case start:
		return call.EnqueueForOrchestrator{Item: engine.StartItem{Instance: s.instance, Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1}}
	case raise:
		return call.EnqueueForOrchestrator{Item: engine.ExternalRaisedItem{Instance: s.instance, Name: fmt.Sprint("e", s.n)}}
	case work:
		return call.EnqueueForWorker{Item: engine.ActivityExecuteItem{Instance: s.instance, ExecutionID: 1, ID: s.n, Name: "Act"}}
	case fetch:
		return call.FetchOrchestrationItem{LockTimeout: lock}
	case turn:
		return c.turns[len(c.turns)-1].ack(s.n)
	case renew:
		return call.RenewOrchestrationItemLock{LockToken: c.turns[len(c.turns)-1].token, ExtendFor: lock}
	case abandon:
		return call.AbandonOrchestrationItem{LockToken: c.turns[len(c.turns)-1].token}
	case take:
		return call.FetchWorkItem{LockTimeout: lock}
	case done:
		held := c.works[len(c.works)-1]
		return call.AckWorkItem{LockToken: held.token, Completion: engine.ActivityCompletedItem{
			Instance: held.item.Instance, ExecutionID: held.item.ExecutionID, ID: held.item.ID, Result: "r"}}
	case history:
		return call.Read{Instance: s.instance}
	case value:
		return call.GetKVValue{Instance: s.instance, Key: "k"}
	case values:
		return call.GetKVAllValues{Instance: s.instance}
	case status:
		return call.GetCustomStatus{Instance: s.instance}
	case stats:
		return call.GetInstanceStats{Instance: s.instance}
	case info:
		return call.GetInstanceInfo{Instance: s.instance}
	case list:
		return call.ListInstances{}
	case remove:
		return call.DeleteInstance{Instance: s.instance, Force: true}
	}
	panic("overlap: no step is of kind " + string(s.kind))
}

// ack returns an ack that writes everything an ack can write.
func (l turnLock) ack(n uint64) call.Call {
	id := 10 * n
	event := func(data eventdata.Data) engine.Event {
		id++
		return engine.Event{EventID: id, InstanceID: l.instance, ExecutionID: l.execution, TimestampMs: 1, DuroxideVersion: "1.0.0", Data: data}
	}
	text := fmt.Sprint("v", n)
	return call.AckOrchestrationItem{LockToken: l.token, ExecutionID: l.execution,
		HistoryDelta: []engine.Event{
			event(eventdata.KeyValueSet{Key: "k", Value: text, LastUpdatedAtMs: 1}), event(eventdata.CustomStatusUpdated{Status: &text}),
		},
		WorkerItems:       []engine.WorkItem{engine.ActivityExecuteItem{Instance: l.instance, ExecutionID: l.execution, ID: id, Name: "Act"}},
		OrchestratorItems: []engine.WorkItem{engine.ExternalRaisedItem{Instance: l.instance, Name: fmt.Sprint("t", n)}},
		Metadata:          engine.ExecutionMetadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", Status: engine.StatusRunning},
	}
}
