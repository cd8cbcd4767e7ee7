package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/deadletter"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// routing returns how nodes handle work that they cannot run under the plan's strategy.
func routing(p *plan.Plan) machine.Routing {
	switch p.Strategy {
	case plan.StrategyBounce:
		return machine.Routing{Bounces: true}
	case plan.StrategyStall:
		return machine.Routing{Stalls: true}
	case plan.StrategySweeper:
		patience := p.Patience.Or()
		return machine.Routing{SweepEvery: patience.Every, SweepAfter: patience.After}
	}
	return machine.Routing{}
}

// deadLetters is the store's dead-letter policy. As long as anything is queued, it examines the queue periodically, each
// time in a single instant.
type deadLetters struct {
	*base
	queue    *deadletter.Queue
	patience plan.Patience
	provider engine.Provider
	next     sim.Time // the earliest time of the next look
	armed    kernel.Handle
	armedAt  sim.Time // when the scheduled look is due, or 0
	seen     uint64   // the queue's generation when arm was last called
	looks    uint64
}

// unseen differs from every generation of a queue.
const unseen = ^uint64(0)

var labelDeadLetters = sim.NewLabel("letters")

// openDeadLetters makes the dead-letter policy if the plan has one. Like clients, it uses the newest codec.
func (w *World) openDeadLetters() {
	if w.plan.Strategy != plan.StrategyDeadletter {
		return
	}
	patience := w.plan.Patience.Or()
	w.deadLetters = &deadLetters{
		base: w.base, patience: patience, seen: unseen, provider: w.storeHandle(w.clients.codec, observe.Caller{Incarnation: deadletter.Caller}),
		queue: deadletter.New(deadletter.Options{After: patience.After, Now: w.nowMs, Version: w.clients.version, Rules: &w.planted.For("", "").DeadLetters}),
	}
}

// arm schedules the next look if there is something to examine, now or later. It is called after every event.
func (l *deadLetters) arm() {
	if l == nil || l.seen == l.store.QueueGeneration(observe.QueueOrchestrator) {
		return
	}
	l.seen = l.store.QueueGeneration(observe.QueueOrchestrator)
	e := l.store.NextOrchestration(nil)
	if !e.Now && e.AtMs == never {
		return
	}
	at := max(l.next, l.kernel.Now())
	if !e.Now {
		at = max(at, sim.Time(e.AtMs)*1000)
	}
	if l.armedAt != 0 && l.armedAt <= at {
		return
	}
	l.kernel.Cancel(l.armed)
	l.armedAt = at
	l.armed = l.kernel.At(at, l.root.Num(labelDeadLetters, l.looks), event{kind: evDeadLetters})
}

// onLook makes the policy examine the queue.
func (l *deadLetters) onLook() {
	l.changed = true
	l.looks++
	known := len(l.queue.Messages())
	l.queue.Sweep(l.ctx, l.provider)
	for _, x := range l.queue.Messages()[known:] {
		l.record(&Record{Kind: record.DeadLetter, Instance: x.Instance, Text: x.Cause})
	}
	l.next, l.armedAt, l.seen = l.kernel.Now().Add(l.patience.Every), 0, unseen
}
