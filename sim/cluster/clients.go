package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// clientState is what the clients of a run remember. Clients are one caller, outside of all nodes.
type clientState struct {
	provider engine.Provider
	codec    engine.Codec
	raised   []raised
}

// raised is when a client last sent an instance an event in calm, and how often.
type raised struct {
	atMs  int64
	times int
}

// clientRetry is after how long a client sends again what it does not know to be accepted.
const clientRetry = time.Second

// An action event holds the index of the action above the attempt.
const attemptBits = 32

// makeClients gives clients the codec of the newest of the run's builds: they are upgraded first.
func (w *World) makeClients() {
	newest := w.builds[0]
	for _, b := range w.builds {
		if b.Semantics == engine.SemanticsStandard && b.Version.Compare(newest.Version) >= 0 {
			newest = b
		}
	}
	w.clients = &clientState{codec: newest.Codec, provider: w.storeHandle(newest.Codec, engine.Caller{})}
}

// beginClients schedules all that clients do, and returns when the last of it is due.
func (w *World) beginClients() time.Duration {
	last := time.Duration(0)
	for i := range w.plan.Instances {
		p := &w.plan.Instances[i]
		w.kernel.At(w.start.Add(p.StartAt), w.instanceKey(p.ID).At(labelStart), event{kind: evInstance, a: uint64(i)})
		last = max(last, p.StartAt)
		for j := range p.Actions {
			w.kernel.At(w.start.Add(p.Actions[j].At), w.actionKey(i, j, 0), event{kind: evAction, a: uint64(i), b: uint64(j) << attemptBits})
			last = max(last, p.Actions[j].At)
		}
	}
	for i := range w.plan.Histories {
		h := &w.plan.Histories[i]
		w.seedHistory(h)
		w.kernel.At(w.start.Add(h.KickAt), w.root.Name(labelHistory, h.Instance), event{kind: evKick, a: uint64(i)})
		last = max(last, h.KickAt)
	}
	for i := range w.plan.Probes {
		last = max(last, w.beginProbe(i))
	}
	return last
}

// instanceKey names what clients do to an instance.
func (w *World) instanceKey(id string) sim.Key { return w.root.Name(labelInstance, id) }

func (w *World) actionKey(i, j int, attempt uint32) sim.Key {
	return w.instanceKey(w.plan.Instances[i].ID).Num(labelAction, uint64(j)).Num(labelRetry, uint64(attempt))
}

// onInstance starts an instance.
func (w *World) onInstance(i, attempt int) {
	p := &w.plan.Instances[i]
	key := w.instanceKey(p.ID).Num(labelRetry, uint64(attempt))
	if !w.clientSend(startItem(p), key) {
		w.kernel.After(clientRetry, key, event{kind: evInstance, a: uint64(i), b: uint64(attempt + 1)})
	}
}

// onAction does the next thing to an instance.
func (w *World) onAction(i int, packed uint64) {
	j, attempt := int(packed>>attemptBits), uint32(packed)
	a := &w.plan.Instances[i].Actions[j]
	id := w.plan.Instances[i].ID
	if a.Verb == plan.ActionDelete || a.Verb == plan.ActionPrune {
		w.manage(id, a)
		return
	}
	var item engine.WorkItem
	switch a.Verb {
	case plan.ActionRaise:
		item = w.raiseItem(id, a.Name, a.Data)
	case plan.ActionEnqueue:
		item = engine.QueueMessageItem{Instance: id, Name: a.Name, Data: a.Data}
	case plan.ActionCancel:
		item = engine.CancelInstanceItem{Instance: id, Reason: a.Data}
	default:
		panic(fmt.Sprintf("cluster: action %q", a.Verb))
	}
	key := w.actionKey(i, j, attempt)
	if !w.clientSend(item, key) {
		w.kernel.After(clientRetry, key, event{kind: evAction, a: uint64(i), b: packed + 1})
	}
}

// raiseItem is an event in the generation, and on the topic, that the instance's open wait of that name asks for, else in
// the old one.
func (w *World) raiseItem(id, name, data string) engine.WorkItem {
	for _, o := range w.openWaits(id) {
		if o.name == name && o.second {
			return engine.ExternalRaised2Item{Instance: id, Name: name, Topic: o.topic, Data: data}
		}
	}
	return engine.ExternalRaisedItem{Instance: id, Name: name, Data: data}
}

// clientSend sends a message and says whether the client knows that it was accepted. One that was accepted although the
// client does not know it is sent again, as real clients do.
func (w *World) clientSend(item engine.WorkItem, key sim.Key) bool {
	w.changed = true
	w.record(&Record{Kind: RecClientSent, Instance: item.Target(), Item: item})
	if w.draws(faults.RequestLost, "", key) {
		w.record(&Record{Kind: RecFault, Fault: faults.RequestLost, Instance: item.Target(), Item: item})
		return false
	}
	times := uint32(1)
	if w.draws(faults.DuplicateRequest, "", key) {
		w.record(&Record{Kind: RecFault, Fault: faults.DuplicateRequest, Instance: item.Target(), Item: item})
		times = 2
	}
	for i := range times {
		if w.kernel.Now() < w.downUntil || w.draws(faults.RetryableError, "", tryKey(key, i+1)) {
			return false
		}
		if err := w.clients.provider.EnqueueForOrchestrator(w.ctx, item, 0); err != nil {
			if errors.Is(err, engine.ErrPermanent) {
				panic(fmt.Sprintf("cluster: a client's message is refused: %v", err))
			}
			return false
		}
		w.record(&Record{Kind: RecClientAccepted, Instance: item.Target(), Item: item, StoreCall: w.storeCall})
	}
	if w.draws(faults.AnswerLost, "", key) {
		w.record(&Record{Kind: RecFault, Fault: faults.AnswerLost, Instance: item.Target(), Item: item})
		return false
	}
	return true
}

// history is the current execution of an instance, as the clients' codec decodes it, or else any build's: a client has
// all of them at hand. It is not a provider call.
func (w *World) history(id string) ([]engine.Event, error) {
	p, ok := w.store.Peek(id)
	if !ok {
		return nil, nil
	}
	history, err := w.store.PeekHistory(id, p.Execution, w.clients.codec)
	for i := len(w.builds) - 1; err != nil && i >= 0; i-- {
		if other, otherErr := w.store.PeekHistory(id, p.Execution, w.builds[i].Codec); otherErr == nil {
			return other, nil
		}
	}
	return history, err
}

// openWait is a wait that no event has been delivered to.
type openWait struct {
	name, topic string
	second      bool // of the new generation
	queue       bool // a dequeue
}

// openWaits are what the current execution of an instance waits for, by the rules of docs/contract/runtime.md#r7.7: an
// arrival is delivered if more waits of its name are bound and not cancelled than arrivals were delivered before, and a
// queue message is kept for a dequeue.
// Nothing is known of an instance whose history cannot be decoded.
func (w *World) openWaits(id string) []openWait {
	history, err := w.history(id)
	if err != nil {
		return nil
	}
	type wait struct {
		openWait
		event uint64
		taken bool
	}
	var waits []wait
	var queued []string
	arrive := func(name, topic string, second bool) {
		for i := range waits {
			if s := &waits[i]; !s.taken && !s.queue && s.name == name && s.second == second && (!second || s.topic == topic) {
				s.taken = true
				return
			}
		}
	}
	for _, e := range history {
		switch d := e.Data.(type) {
		case engine.ExternalSubscribed:
			waits = append(waits, wait{openWait{name: d.Name}, e.EventID, false})
		case engine.ExternalSubscribed2:
			waits = append(waits, wait{openWait{name: d.Name, topic: d.Topic, second: true}, e.EventID, false})
		case engine.QueueSubscribed:
			waits = append(waits, wait{openWait{name: d.Name, queue: true}, e.EventID, false})
		case engine.QueueEventDelivered:
			queued = append(queued, d.Name)
		case engine.ExternalSubscribedCancelled, engine.QueueSubscriptionCancelled:
			for i := range waits {
				if waits[i].event == e.SourceEventID {
					waits[i].taken = true
				}
			}
		case engine.ExternalEvent:
			arrive(d.Name, "", false)
		case engine.ExternalEvent2:
			arrive(d.Name, d.Topic, true)
		}
	}
	for _, name := range queued { // a message goes to the first dequeue that is left in the end, whenever it came
		for i := range waits {
			if s := &waits[i]; !s.taken && s.queue && s.name == name {
				s.taken = true
				break
			}
		}
	}
	var open []openWait
	for i := range waits {
		if !waits[i].taken {
			open = append(open, waits[i].openWait)
		}
	}
	return open
}
