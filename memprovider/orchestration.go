package memprovider

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
)

const (
	opEnqueueForOrchestrator = "enqueue_for_orchestrator"
	opFetchOrchestration     = "fetch_orchestration_item"
)

// EnqueueForOrchestrator implements engine.Provider.
func (p *provider) EnqueueForOrchestrator(_ context.Context, item engine.WorkItem, delay time.Duration) error {
	s := p.store
	req := s.begin(observe.CallEnqueueForOrchestrator, p.caller)
	req.Item, req.Delay = item, delay
	s.started()
	return s.end(result{}, p.enqueue(opEnqueueForOrchestrator, observe.QueueOrchestrator, item, s.rules.VisibleAt(s.now, milliseconds(delay))))
}

// enqueue inserts a message into a queue. The message is visible from visibleMs on.
func (p *provider) enqueue(op string, queue observe.Queue, item engine.WorkItem, visibleMs int64) *engine.ProviderError {
	if err := belongs(op, queue, item); err != nil {
		return err
	}
	data, err := p.encode(item)
	if err != nil {
		return engine.Permanentf(op, "%w", err)
	}
	p.store.insert(queue, p.store.named(item.Target()), item, data, p.codecNo, visibleMs)
	return nil
}

// belongs returns an error for an item that does not belong in the queue.
func belongs(op string, queue observe.Queue, item engine.WorkItem) *engine.ProviderError {
	switch {
	case item == nil:
		return engine.Permanentf(op, "no work item")
	case queue == observe.QueueOrchestrator && item.Kind() == engine.ItemActivityExecute:
		return engine.Permanentf(op, "%s belongs in the worker queue", item.Kind())
	case queue == observe.QueueWorker && item.Kind() != engine.ItemActivityExecute:
		return engine.Permanentf(op, "%s belongs in the orchestrator queue", item.Kind())
	}
	return nil
}

// FetchOrchestrationItem implements engine.Provider. Among the instances that can be delivered, it takes the one with
// the oldest visible message.
func (p *provider) FetchOrchestrationItem(_ context.Context, lockTimeout, _ time.Duration, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	s := p.store
	req := s.begin(observe.CallFetchOrchestrationItem, p.caller)
	req.Filter, req.LockTimeout = filter, lockTimeout
	s.started()
	f, in, err := p.fetch(s.lockFrom()+milliseconds(lockTimeout), filter)
	r := result{nothing: f == nil, fetched: f}
	if in != nil {
		r.instance = in.no
	}
	return f, s.end(r, err)
}

// fetch chooses an instance and carries out the steps of Rules.FetchOrder: filter, lock, count, decode. It returns
// nothing if no instance is eligible. With the correct order, choose has already applied the filter, so that the filter
// step always succeeds.
func (p *provider) fetch(untilMs int64, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, *instance, *engine.ProviderError) {
	s := p.store
	if s.claimLost() {
		return nil, nil, nil
	}
	s.dropOrphans(filter)
	mirrored := s.mirror != nil
	for _, in := range s.choose(filter) {
		d := delivery{p: p, in: in, mirrored: mirrored, lock: s.token(orchestratorToken, holding{instance: in.no}, untilMs)}
		passed := true
		for _, step := range s.rules.FetchOrder {
			if passed = d.step(step, filter); !passed {
				break
			}
		}
		if !passed {
			continue
		}
		if d.failed != nil && s.rules.UndecodableIsOrphan && in.visibleQueueMessages == len(in.visible) {
			for len(in.visible) > 0 {
				s.remove(in.visible[0], observe.RemovedOrphan)
			}
			s.releaseLock(in)
			continue
		}
		if d.failed != nil && !s.rules.DeliversDecodeError {
			return nil, nil, engine.Permanentf(opFetchOrchestration, "%w", d.failed)
		}
		return d.fetched(), in, nil
	}
	return nil, nil, nil
}

// choose returns the instances that the fetch tries, best first. If the fetch filters first, there is at most one, and
// the index finds it without examining instances that the filter excludes.
func (s *Store) choose(filter *engine.CapabilityFilter) []*instance {
	s.candidates = s.candidates[:0]
	if s.mirror != nil {
		return s.mirrored(s.candidates)
	}
	if s.rules.FetchOrder[0] == FetchFilter {
		if in := s.index.pick(filter, s.rules); in != nil {
			s.candidates = append(s.candidates, in)
		}
		return s.candidates
	}
	for _, b := range s.index.buckets {
		for i := range b.ready.entries {
			s.candidates = append(s.candidates, b.ready.entries[i].item)
		}
	}
	slices.SortFunc(s.candidates, func(a, b *instance) int { return cmp.Compare(a.visible[0].no, b.visible[0].no) })
	return s.candidates
}

// dropOrphans drops the orphaned queue messages that precede what the fetch will take.
func (s *Store) dropOrphans(filter *engine.CapabilityFilter) {
	for s.index.orphans.head() != nil && s.index.next(filter, s.rules).Drops {
		in := s.index.orphans.head().item
		for len(in.visible) > 0 {
			s.remove(in.visible[0], observe.RemovedOrphan)
		}
		s.settle()
	}
}

// delivery is a fetch in progress for one instance.
type delivery struct {
	p        *provider
	in       *instance
	lock     lock
	mirrored bool // the instance was chosen by Mirror
	locked   bool
	count    uint32
	// The results of decoding. failed is the history's error, or else that of the first message that cannot be decoded.
	context  itemContext
	history  []engine.Event
	messages []engine.WorkItem
	failed   error
}

// step performs one step of the fetch. It returns false if the filter does not admit the instance.
func (d *delivery) step(step FetchStep, filter *engine.CapabilityFilter) bool {
	s := d.p.store
	switch step {
	case FetchFilter:
		if d.mirrored || s.rules.Admits(filter, s.rules.Pin(d.in.pins())) {
			return true
		}
		if d.locked {
			s.releaseLock(d.in)
		}
		return false
	case FetchLock:
		s.takeLock(d.in, d.lock)
		d.locked = true
	case FetchCount:
		d.takeBatch()
	case FetchDecode:
		d.decode()
	default:
		panic(fmt.Sprintf("memprovider: unknown fetch step %d", step))
	}
	return true
}

// takeBatch marks and counts every visible message.
func (d *delivery) takeBatch() {
	s := d.p.store
	s.delivered = s.delivered[:0]
	for i, r := range d.in.visible {
		s.mark(r, &d.lock)
		s.setCount(r, r.count+1)
		if i == 0 {
			d.count = r.count
		} else {
			d.count = s.rules.BatchCount(d.count, r.count)
		}
		s.delivered = append(s.delivered, r.no)
	}
}

// decode reads the context, history and messages. It skips the history of an instance without context.
func (d *delivery) decode() {
	s := d.p.store
	d.messages = s.arena.messages.Make(len(d.in.visible))
	var start engine.WorkItem
	for _, r := range d.in.visible {
		item, err := s.decodeItem(r, d.p.codecNo)
		if err != nil {
			if d.failed == nil && !s.rules.SkipsUndecodableMessage {
				d.failed = err
			}
			continue
		}
		if start == nil && isStart(item.Kind()) {
			start = item
		}
		d.messages = append(d.messages, item)
	}
	d.context = contextOf(d.in, start)
	if d.in.hasContext() {
		var err error
		d.history, err = s.decode(d.in, d.context.execution, d.p.codecNo, s.rules.SkipsUndecodable)
		if err != nil && !s.rules.SwallowsDecodeError(d.in.meta.created) {
			d.failed = err
		}
		d.context.fromHistory(d.in, d.history)
	}
	if d.failed != nil {
		d.history = nil
		for _, r := range d.in.visible {
			s.setCount(r, s.rules.CountAfterDecodeError(max(r.count, 1)-1, r.count))
		}
	}
}

// fetched returns the result of the fetch.
func (d *delivery) fetched() *engine.FetchedOrchestration {
	c := &d.context
	f := d.p.store.arena.fetched.New()
	f.LockToken, f.AttemptCount = d.lock.token, d.count
	f.Item = engine.OrchestrationItem{
		Instance: d.in.name, OrchestrationName: c.name, Version: c.version, ExecutionID: c.id,
		History: d.history, Messages: d.messages,
	}
	f.Item.KVSnapshot = d.in.kv.snapshot(d.p.store.rules.SnapshotsMerged)
	if d.failed != nil {
		f.Item.HistoryError = d.failed.Error()
	}
	if d.p.store.options.Plain && d.failed == nil {
		return f
	}
	if c.execution != nil {
		f.Item.CurrentStatus, f.Item.Pin = c.execution.state.status, c.execution.pin
	}
	if d.in.meta.parent.Instance != "" {
		parent := d.in.meta.parent
		f.Item.Parent = &parent
	}
	return f
}

// itemContext is the part of an item that identifies the orchestration.
type itemContext struct {
	name, version string
	id            uint64
	execution     *execution // nil if there is no such execution
}

// unknownVersion is used when a version is missing.
const unknownVersion = "unknown"

// contextOf determines the context as in docs/contract/provider.md#p5.2, step 6: from the instances row, else from the
// start event of the latest execution, else from the first start message.
func contextOf(in *instance, start engine.WorkItem) itemContext {
	c := itemContext{id: engine.InitialExecutionID, version: unknownVersion}
	switch {
	case in.meta.created:
		c.name, c.version, c.id = in.meta.orchestration, cmp.Or(in.meta.version, unknownVersion), in.meta.current
	case in.hasContext():
		c.id = in.latest() // the history has the name and version
	default:
		switch m := engine.Known(start).(type) {
		case engine.StartItem:
			c.name, c.version = m.Orchestration, cmp.Or(m.Version, unknownVersion)
		case engine.ContinueAsNewItem:
			c.name, c.version = m.Orchestration, cmp.Or(m.Version, unknownVersion)
		}
	}
	c.execution = in.execution(c.id)
	return c
}

// fromHistory fills in the name and version for an instance without a row.
func (c *itemContext) fromHistory(in *instance, history []engine.Event) {
	if in.meta.created {
		return
	}
	for _, e := range history {
		if started, ok := eventdata.Known(e.Data).(eventdata.OrchestrationStarted); ok {
			c.name, c.version = started.Name, cmp.Or(started.Version, unknownVersion)
			return
		}
	}
}
