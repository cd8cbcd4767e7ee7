package cluster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

var drawsDuplicateRequest = drawnKindOf(faults.DuplicateRequest)

// clients starts instances, sends them events, and cancels, deletes and prunes them. It acts as a single caller outside
// all nodes.
type clients struct {
	*base
	provider engine.Provider
	codec    engine.Codec
	version  engine.Version // version of the build that the codec belongs to
	knows    engine.KindSet // the kinds of events that clients know, apart from help in recovery
	raised   []recoveryRaises
	known    observe.InstanceNo // the highest instance number so far
	open     observe.Open       // the instances that may not have ended
	idle     observe.Open       // those of them that may have to be sent something
	busy     int                // how many have something to consume, and are not in idle
	planned  map[string]int     // the plan's instances by name; lookups only
	waiting  []func()           // make the operators' calls that are waiting in the store
	refused  []Remark           // about the operators' calls that the store refused
	last     time.Duration      // when the plan's last client or probe action is due
	retries  int                // the messages that a client has yet to send again
}

// recoveryRaises holds the number of events that clients have sent to an instance during recovery, and the time of the
// last one.
type recoveryRaises struct {
	atMs  int64
	times int
	busy  bool // it had something to consume when it was last looked at, and has not changed since
}

// clientRetry is how long a client waits before it resends a message if it does not know whether the store accepted it.
const clientRetry = time.Second

// An action event packs the action's index above the attempt, which takes the low attemptBits bits.
const attemptBits = 32

// connect gives clients the codec of the newest build in the run, because clients are upgraded first, unless the plan
// names another.
func (c *clients) connect() {
	newest := c.builds[0]
	for _, b := range c.builds {
		if b.Semantics == engine.SemanticsStandard && b.Version.Compare(newest.Version) >= 0 {
			newest = b
		}
	}
	own := newest
	if c.plan.Clients != "" {
		own = plan.FindBuild(c.builds, c.plan.Clients)
	}
	c.knows = own.Codec.Kinds()
	c.version, c.codec, c.provider = newest.Version, newest.Codec, c.storeHandle(newest.Codec, observe.Caller{})
}

// begin schedules all client actions and records when the last one is due. Messages in the store count.
func (c *clients) begin() {
	c.planned = make(map[string]int, len(c.plan.Instances))
	last := time.Duration(0)
	if c.plan.Contents != nil { // as an earlier cluster left the store
		for _, in := range c.plan.Contents.Instances {
			c.preload(in)
		}
		for _, m := range c.plan.Contents.Messages {
			c.seedMessage(m)
			last = max(last, m.Delay)
		}
	}
	for i := range c.plan.Instances {
		p := &c.plan.Instances[i]
		c.planned[p.ID] = i
		if !p.Existing {
			c.kernel.At(c.start.Add(p.StartAt), c.instanceKey(p.ID).At(labelStart), event{kind: evInstance, a: uint64(i)})
		}
		last = max(last, p.StartAt)
		for j := range p.Actions {
			c.kernel.At(c.start.Add(p.Actions[j].At), c.actionKey(i, j, 0), event{kind: evAction, a: uint64(i), b: uint64(j) << attemptBits})
			last = max(last, p.Actions[j].At)
		}
	}
	for i := range c.plan.Histories {
		h := &c.plan.Histories[i]
		c.seedHistory(h)
		c.kernel.At(c.start.Add(h.KickAt), c.root.Name(labelHistory, h.Instance), event{kind: evKick, a: uint64(i)})
		last = max(last, h.KickAt)
	}
	c.last = last
}

func (c *clients) instanceKey(id string) sim.Key { return c.root.Name(labelInstance, id) }

func (c *clients) actionKey(i, j int, attempt uint32) sim.Key {
	return c.instanceKey(c.plan.Instances[i].ID).Num(labelAction, uint64(j)).Num(labelRetry, uint64(attempt))
}

func (c *clients) onInstance(i, attempt int) {
	p := &c.plan.Instances[i]
	c.insist(startItem(p), c.instanceKey(p.ID).Num(labelRetry, uint64(attempt)), attempt > 0, event{kind: evInstance, a: uint64(i), b: uint64(attempt + 1)})
}

// insist sends a message, for the first time or again. If the client does not know that the store accepted it, next comes
// later.
func (c *clients) insist(item engine.WorkItem, key sim.Key, again bool, next event) {
	if again {
		c.retries--
	}
	if !c.send(item, key) {
		c.retries++
		c.kernel.After(clientRetry, key, next)
	}
}

func (c *clients) onAction(i int, packed uint64) {
	j, attempt := int(packed>>attemptBits), uint32(packed)
	a := &c.plan.Instances[i].Actions[j]
	id := c.plan.Instances[i].ID
	if a.Verb == plan.ActionDelete || a.Verb == plan.ActionPrune {
		c.manage(id, a, c.actionKey(i, j, attempt))
		return
	}
	var item engine.WorkItem
	switch a.Verb {
	case plan.ActionRaise:
		item = c.raiseItem(id, a.Name, a.Data, c.knows)
		if a.Blind { // a client that does not know events with a topic leaves it out
			item = engine.ExternalRaisedItem{Instance: id, Name: a.Name, Data: a.Data}
			if a.Topic != "" && c.knows.Has(eventdata.KindExternalEvent2) {
				item = engine.ExternalRaised2Item{Instance: id, Name: a.Name, Topic: a.Topic, Data: a.Data}
			}
		}
	case plan.ActionEnqueue:
		item = engine.QueueMessageItem{Instance: id, Name: a.Name, Data: a.Data}
	case plan.ActionCancel:
		item = engine.CancelInstanceItem{Instance: id, Reason: a.Data}
	default:
		panic(fmt.Sprintf("cluster: action %q", a.Verb))
	}
	c.insist(item, c.actionKey(i, j, attempt), attempt > 0, event{kind: evAction, a: uint64(i), b: packed + 1})
}

// raiseItem returns an event with the same generation and topic as the instance's open wait for that name. If there is
// no such wait, or the client does not know that kind, it returns a first-generation event.
func (c *clients) raiseItem(id, name, data string, knows engine.KindSet) engine.WorkItem {
	for _, e := range c.openWaits(id) {
		if wait, ok := e.Data.(eventdata.ExternalSubscribed2); ok && wait.Name == name && knows.Has(e.Kind()) {
			return engine.ExternalRaised2Item{Instance: id, Name: name, Topic: wait.Topic, Data: data}
		}
	}
	return engine.ExternalRaisedItem{Instance: id, Name: name, Data: data}
}

// send sends a message and reports whether the client knows that the store accepted it. A client that does not know
// resends the message, as real clients do, even if the store has in fact accepted it.
func (c *clients) send(item engine.WorkItem, key sim.Key) bool {
	c.changed = true
	c.record(&Record{Kind: record.ClientSent, Instance: item.Target(), Item: item})
	if c.draws(drawsRequestLost, "", key) {
		c.record(&Record{Kind: record.Fault, Fault: faults.RequestLost, Instance: item.Target(), Item: item})
		return false
	}
	times := uint32(1)
	if c.draws(drawsDuplicateRequest, "", key) {
		c.record(&Record{Kind: record.Fault, Fault: faults.DuplicateRequest, Instance: item.Target(), Item: item})
		times = 2
	}
	for i := range times {
		if c.kernel.Now() < c.downUntil || c.draws(drawsRetryableError, "", tryKey(key, i+1)) {
			return false
		}
		if err := c.provider.EnqueueForOrchestrator(c.ctx, item, 0); err != nil {
			if !errors.Is(err, engine.ErrPermanent) {
				return false
			}
			if c.foreign == nil {
				panic(fmt.Sprintf("cluster: a client's message is refused: %v", err))
			}
			return true // the second judge says that the store is wrong, and the client gives up
		}
		c.record(&Record{Kind: record.ClientAccepted, Instance: item.Target(), Item: item, StoreCall: c.storeCall})
	}
	if c.draws(drawsAnswerLost, "", key) {
		c.record(&Record{Kind: record.Fault, Fault: faults.AnswerLost, Instance: item.Target(), Item: item})
		return false
	}
	return true
}

// history returns the history of an instance's current execution, decoded with the clients' codec or, failing that,
// with that of any build. It is not a provider call.
func (c *clients) history(id string) ([]engine.Event, error) {
	p, ok := c.store.Peek(id)
	if !ok {
		return nil, nil
	}
	history, err := c.store.PeekHistory(id, p.Execution, c.codec)
	for i := len(c.builds) - 1; err != nil && i >= 0; i-- {
		if other, otherErr := c.store.PeekHistory(id, p.Execution, c.builds[i].Codec); otherErr == nil {
			return other, nil
		}
	}
	return history, err
}

// openWaits returns the open waits of an instance's current execution, or none if the history cannot be decoded.
func (c *clients) openWaits(id string) []engine.Event {
	history, err := c.history(id)
	if err != nil || len(history) == 0 {
		return nil
	}
	i := slices.IndexFunc(c.builds, func(b *engine.Build) bool { return b.Version.String() == history[0].DuroxideVersion })
	if i < 0 {
		return replay.OpenWaits(history, nil)
	}
	return replay.OpenWaits(history, c.builds[i])
}
