package overlap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
	kind string // one of kinds
	// instance is the instance that the call is about, unless the token determines it.
	instance string
	// n makes the ids and values of this step different from those of other steps.
	n uint64
}

// beginnings lists the sequences of kinds of steps that may fill the store before the concurrent callers start.
var beginnings = []string{
	"start", "start work", "start fetch", "start fetch turn", "start fetch turn raise", "work work", "start fetch turn take",
	"start fetch turn raise fetch", "start fetch turn raise fetch", "start fetch end raise fetch", "start other fetch turn fetch turn",
}

// callPatterns lists the sequences of kinds of steps that a concurrent caller may make.
var callPatterns = []string{
	"fetch turn", "fetch abandon", "fetch turn", "turn", "turn fetch", "abandon", "renew turn",
	"take done", "done", "take done", "raise fetch", "history value stats", "value status history", "info history values", "take history",
	"history take", "start fetch", "list info", "raise raise", "remove", "work take",
	"end", "end", "values values", "values values", "append", "events metrics", "metrics info", "unforced", "both", "list metrics", "take quit take", "take extend done",
}

func draw(seed uint64) program {
	random := rand.New(rand.NewPCG(seed, 1))
	n := uint64(0)
	steps := func(kinds, instance string) (list []step) {
		for k := range strings.FieldsSeq(kinds) {
			n++
			list = append(list, step{kind: k, instance: instance, n: n})
		}
		return list
	}
	instances := []string{"A", "A", "A", "B"}
	p := program{first: steps(beginnings[random.IntN(len(beginnings))], "A")}
	for range 2 + random.IntN(2) {
		p.callers = append(p.callers, steps(callPatterns[random.IntN(len(callPatterns))], instances[random.IntN(len(instances))]))
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

// kinds has the call that each kind of step makes. It is only used for lookups.
var kinds = map[string]struct {
	held func(c *caller) bool // whether the caller has the token that the call needs; nil if it needs none
	call func(c *caller, s step) call.Call
}{
	"start": {nil, func(_ *caller, s step) call.Call {
		return call.EnqueueForOrchestrator{Item: engine.StartItem{Instance: s.instance, Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1}}
	}},
	"raise": {nil, func(_ *caller, s step) call.Call {
		return call.EnqueueForOrchestrator{Item: engine.ExternalRaisedItem{Instance: s.instance, Name: fmt.Sprint("e", s.n)}}
	}},
	"work": {nil, func(_ *caller, s step) call.Call {
		return call.EnqueueForWorker{Item: engine.ActivityExecuteItem{Instance: s.instance, ExecutionID: 1, ID: s.n, Name: "Act"}}
	}},
	"fetch": {nil, func(*caller, step) call.Call { return call.FetchOrchestrationItem{LockTimeout: lock} }},
	"other": {nil, func(*caller, step) call.Call {
		return call.EnqueueForOrchestrator{Item: engine.StartItem{Instance: "B", Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1}}
	}},
	"turn": {(*caller).hasTurn, func(c *caller, s step) call.Call { return c.turn().ack(s.n, engine.StatusRunning) }},
	"end":  {(*caller).hasTurn, func(c *caller, s step) call.Call { return c.turn().ack(s.n, engine.StatusCompleted) }},
	"renew": {(*caller).hasTurn, func(c *caller, _ step) call.Call {
		return call.RenewOrchestrationItemLock{LockToken: c.turn().token, ExtendFor: lock}
	}},
	"abandon": {(*caller).hasTurn, func(c *caller, _ step) call.Call { return call.AbandonOrchestrationItem{LockToken: c.turn().token} }},
	"take":    {nil, func(*caller, step) call.Call { return call.FetchWorkItem{LockTimeout: lock} }},
	"done": {(*caller).hasWork, func(c *caller, _ step) call.Call {
		held := c.workLock()
		return call.AckWorkItem{LockToken: held.token, Completion: engine.ActivityCompletedItem{
			Instance: held.item.Instance, ExecutionID: held.item.ExecutionID, ID: held.item.ID, Result: "r"}}
	}},
	"history": {nil, func(_ *caller, s step) call.Call { return call.Read{Instance: s.instance} }},
	"value":   {nil, func(_ *caller, s step) call.Call { return call.GetKVValue{Instance: s.instance, Key: "k"} }},
	"values":  {nil, func(_ *caller, s step) call.Call { return call.GetKVAllValues{Instance: s.instance} }},
	"status":  {nil, func(_ *caller, s step) call.Call { return call.GetCustomStatus{Instance: s.instance} }},
	"stats":   {nil, func(_ *caller, s step) call.Call { return call.GetInstanceStats{Instance: s.instance} }},
	"info":    {nil, func(_ *caller, s step) call.Call { return call.GetInstanceInfo{Instance: s.instance} }},
	"list":    {nil, func(*caller, step) call.Call { return call.ListInstances{} }},
	"metrics": {nil, func(*caller, step) call.Call { return call.GetSystemMetrics{} }},
	"events":  {nil, func(_ *caller, s step) call.Call { return call.ReadWithExecution{Instance: s.instance, ExecutionID: 1} }},
	"append": {nil, func(_ *caller, s step) call.Call {
		r := call.AppendWithExecution{Instance: s.instance, ExecutionID: 1}
		for i := range uint64(2) {
			r.Events = append(r.Events, engine.Event{EventID: 1000 + 10*s.n + i, InstanceID: s.instance, ExecutionID: 1, DuroxideVersion: "1.0.0", Data: eventdata.ActivityScheduled{Name: "Act"}})
		}
		return r
	}},
	"quit": {(*caller).hasWork, func(c *caller, _ step) call.Call { return call.AbandonWorkItem{LockToken: c.workLock().token} }},
	"extend": {(*caller).hasWork, func(c *caller, _ step) call.Call {
		return call.RenewWorkItemLock{LockToken: c.workLock().token, ExtendFor: lock}
	}},
	"unforced": {nil, func(_ *caller, s step) call.Call { return call.DeleteInstance{Instance: s.instance} }},
	"both": {nil, func(*caller, step) call.Call {
		return call.DeleteInstancesAtomic{Instances: []string{"A", "B"}, Force: true}
	}},
	"remove": {nil, func(_ *caller, s step) call.Call { return call.DeleteInstance{Instance: s.instance, Force: true} }},
}

func (c *caller) hasTurn() bool { return len(c.turns) > 0 }
func (c *caller) hasWork() bool { return len(c.works) > 0 }

// turn returns the latest token of an instance.
func (c *caller) turn() turnLock { return c.turns[len(c.turns)-1] }

// workLock returns the latest token of an activity.
func (c *caller) workLock() workLock { return c.works[len(c.works)-1] }

// call returns the call that a step makes, or nil if its caller has no token for it.
func (c *caller) call(s step) call.Call {
	k := kinds[s.kind]
	if k.held != nil && !k.held(c) {
		return nil
	}
	return k.call(c, s)
}

// ack returns an ack that writes everything an ack can write.
func (l turnLock) ack(n uint64, status engine.Status) call.Call {
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
		Metadata:          engine.ExecutionMetadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", Status: status},
	}
}
