package memprovider

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

const opAckOrchestration = "ack_orchestration_item"

// AckOrchestrationItem implements engine.Provider. It validates as much as possible before it changes anything. If a
// later step still fails, the earlier steps are rolled back. It rejects lists that hold an item of the wrong kind
// (F17), and execution 0.
func (p *provider) AckOrchestrationItem(_ context.Context, ack engine.OrchestrationAck) error {
	s := p.store
	req := s.begin(observe.CallAckOrchestrationItem, p.caller)
	s.acking = ack
	req.Token, req.Ack = ack.LockToken, &s.acking
	s.started()
	in, err := p.acknowledge(&s.acking)
	r := result{}
	if in != nil {
		r.instance = in.no
	}
	ended := s.end(r, err)
	s.acking = engine.OrchestrationAck{} // do not retain the caller's slices
	return ended
}

func (p *provider) acknowledge(ack *engine.OrchestrationAck) (*instance, *engine.ProviderError) {
	s := p.store
	in, h, err := s.holder(opAckOrchestration, ack.LockToken)
	if err != nil {
		return nil, err
	}
	if !s.rules.MayCommit(s.sees(s.rules.CommitSees, ack.LockToken, h)) {
		return in, invalidToken(opAckOrchestration, ack.LockToken, h)
	}
	if err := p.prepare(ack); err != nil {
		return in, err
	}
	c := commit{p: p, ack: ack, in: in}
	c.token, _, _ = s.lookup(orchestratorToken, ack.LockToken)
	atomic := s.rules.AckIsAtomic
	if atomic {
		if err := c.checkEvents(); err != nil {
			return in, err
		}
	}
	s.journaling = atomic
	for _, step := range s.rules.AckOrder {
		if err := c.step(step); err != nil {
			s.takeBack()
			return in, err
		}
	}
	s.forgetJournal()
	return in, nil
}

// prepare encodes the ack's events, then its worker items, then its orchestrator items. It rejects acks that would be
// invalid in any state of the store.
func (p *provider) prepare(ack *engine.OrchestrationAck) *engine.ProviderError {
	if ack.ExecutionID == 0 {
		return engine.Permanentf(opAckOrchestration, "execution id 0 is invalid")
	}
	s := p.store
	clear(s.encoded)
	s.encoded = s.encoded[:0]
	for i := range ack.HistoryDelta {
		e := &ack.HistoryDelta[i]
		if e.EventID == 0 {
			return engine.Permanentf(opAckOrchestration, "event id 0 of a %s: the runtime assigns ids from 1", e.Kind())
		}
		var err error
		if s.scratch, err = p.codec.AppendEvent(s.scratch[:0], *e); err != nil {
			return engine.Permanentf(opAckOrchestration, "event %d: %w", e.EventID, err)
		}
		s.encoded = append(s.encoded, s.arena.eventBytes.Clone(s.scratch))
	}
	for _, list := range []struct {
		queue observe.Queue
		items []engine.WorkItem
	}{{observe.QueueWorker, ack.WorkerItems}, {observe.QueueOrchestrator, ack.OrchestratorItems}} {
		for _, item := range list.items {
			if err := belongs(opAckOrchestration, list.queue, item); err != nil {
				return err
			}
			data, err := p.encode(item)
			if err != nil {
				return engine.Permanentf(opAckOrchestration, "%w", err)
			}
			s.encoded = append(s.encoded, data)
		}
	}
	return nil
}

// commit is an ack in progress.
type commit struct {
	p     *provider
	ack   *engine.OrchestrationAck
	in    *instance
	token uint64
}

// checkEvents rejects event ids that are already stored or that occur twice in the delta.
func (c *commit) checkEvents() *engine.ProviderError {
	delta := c.ack.HistoryDelta
	ex := c.in.execution(c.ack.ExecutionID)
	last := uint64(0)
	ascending := true
	for i := range delta {
		id := delta[i].EventID
		if ex != nil {
			if _, dup := ex.find(id); dup {
				return c.duplicate(id)
			}
		}
		ascending = ascending && id > last
		last = id
	}
	if ascending {
		return nil
	}
	seen := make(map[uint64]bool, len(delta)) // lookups only
	for i := range delta {
		if seen[delta[i].EventID] {
			return c.duplicate(delta[i].EventID)
		}
		seen[delta[i].EventID] = true
	}
	return nil
}

func (c *commit) duplicate(id uint64) *engine.ProviderError {
	return engine.Permanentf(opAckOrchestration, "duplicate event %d of %s, execution %d", id, c.in.name, c.ack.ExecutionID)
}

// step performs one step of the ack. The steps are independent of each other, so their order can be configured.
func (c *commit) step(step AckStep) *engine.ProviderError {
	s := c.p.store
	if hook := s.options.BeforeAckStep; hook != nil {
		if err := hook(step); err != nil {
			return asProviderError(step, err)
		}
	}
	switch step {
	case AckConsume:
		c.consume()
	case AckInstance:
		c.instance()
	case AckExecution:
		s.create(c.in, c.ack.ExecutionID)
	case AckPin:
		c.pin()
	case AckPointer:
		if c.in.meta.created {
			s.setPointer(c.in, s.rules.PointerAfterAck(c.in.meta.current, c.ack.ExecutionID))
		}
	case AckEvents:
		return c.events()
	case AckStatus:
		if m := &c.ack.Metadata; m.Status != "" {
			s.setStatus(c.in, s.historyOf(c.in, c.ack.ExecutionID), m.Status, m.Output)
		}
	case AckCustomStatus:
		c.customStatus()
	case AckKV:
		c.keyValues()
	case AckEnqueueWork:
		for i, item := range c.ack.WorkerItems {
			data := s.encoded[len(c.ack.HistoryDelta)+i]
			s.insert(observe.QueueWorker, s.named(item.Target()), item, data, c.p.codecNo, s.now)
		}
	case AckCancelWork:
		for _, id := range c.ack.CancelledActivities {
			s.cancel(id)
		}
	case AckEnqueueMessages:
		for i, item := range c.ack.OrchestratorItems {
			data := s.encoded[len(c.ack.HistoryDelta)+len(c.ack.WorkerItems)+i]
			s.insert(observe.QueueOrchestrator, s.named(item.Target()), item, data, c.p.codecNo, s.visibleAt(item))
		}
	case AckRelease:
		s.releaseLock(c.in)
	default:
		panic(fmt.Sprintf("memprovider: unknown ack step %d", step))
	}
	return nil
}

func asProviderError(step AckStep, err error) *engine.ProviderError {
	var p *engine.ProviderError
	if errors.As(err, &p) {
		return p
	}
	return engine.Retryablef(opAckOrchestration, "before the step %q: %w", step, err)
}

func (c *commit) consume() {
	s := c.p.store
	c.in.promote(s.arena, s.now)
	s.candidateRows = append(s.candidateRows[:0], c.in.visible...)
	for _, r := range s.candidateRows {
		if s.rules.Consumes(r.lock.number == c.token) {
			s.remove(r, observe.RemovedAcked)
		}
	}
}

// instance creates or renames the instance if the ack has both name and version; otherwise it does nothing (F20).
func (c *commit) instance() {
	m := &c.ack.Metadata
	if m.OrchestrationName == "" || m.OrchestrationVersion == "" {
		return
	}
	s := c.p.store
	existed := c.in.meta.created
	s.setRow(c.in, m.OrchestrationName, m.OrchestrationVersion, c.ack.ExecutionID)
	if !existed && m.ParentInstanceID != "" {
		s.setParent(c.in, engine.ParentLink{Instance: m.ParentInstanceID, ExecutionID: m.ParentExecutionID, EventID: m.ParentEventID})
	}
}

func (c *commit) pin() {
	s := c.p.store
	var previous *engine.Version
	if in := c.in; in.meta.created && in.meta.current < c.ack.ExecutionID {
		if ex := in.execution(in.meta.current); ex != nil {
			previous = ex.pin
		}
	}
	ex := s.historyOf(c.in, c.ack.ExecutionID)
	s.setPin(c.in, ex, s.intern(s.rules.PinAfterAck(c.ack.Metadata.PinnedVersion, ex.pin, previous)))
}

// events appends the delta and adds it to the decoded cache of the codec that wrote it.
func (c *commit) events() *engine.ProviderError {
	s := c.p.store
	ex := s.historyOf(c.in, c.ack.ExecutionID)
	if s.rules.ReadsHistory {
		if _, err := s.decode(c.in, ex, c.p.codecNo, false); err != nil {
			return engine.Permanentf(opAckOrchestration, "%w", err)
		}
	}
	if s.rules.RewritesHistory {
		if err := c.rewrite(ex); err != nil {
			return err
		}
	}
	for i := range c.ack.HistoryDelta {
		e := &c.ack.HistoryDelta[i]
		if _, dup := ex.find(e.EventID); dup {
			return c.duplicate(e.EventID)
		}
		c.p.append(c.in, ex, e, s.encoded[i])
	}
	return nil
}

// append stores an encoded event and caches its decoded form.
func (p *provider) append(in *instance, ex *execution, e *engine.Event, data []byte) {
	p.store.appendEvent(in, ex, e.EventID, e.Kind(), data)
	if readsAsWritten(p.codec, data) {
		p.store.arena.remember(ex, p.codecNo, *e)
		p.store.recheck(p.codec, data, *e)
	}
}

// rewrite reads the stored events and writes them back. A correct ack never does this.
func (c *commit) rewrite(ex *execution) *engine.ProviderError {
	s := c.p.store
	history, err := s.decode(c.in, ex, c.p.codecNo, false)
	if err != nil {
		return engine.Permanentf(opAckOrchestration, "%w", err)
	}
	for i := range history {
		data, err := c.p.codec.AppendEvent(nil, history[i])
		if err != nil {
			return engine.Permanentf(opAckOrchestration, "%w", err)
		}
		s.removeEvent(c.in, ex, history[i].EventID)
		s.appendEvent(c.in, ex, history[i].EventID, history[i].Kind(), data)
	}
	return nil
}

// visibleAt returns when a message enqueued by an ack becomes visible: immediately, except for timers.
func (s *Store) visibleAt(item engine.WorkItem) int64 {
	if t, ok := engine.Known(item).(engine.TimerFiredItem); ok {
		return s.rules.TimerVisibleAt(s.now, int64(min(t.FireAtMs, math.MaxInt64)))
	}
	return s.now
}

// cancel deletes every row of an activity, locked or not.
func (s *Store) cancel(id engine.ScheduledActivityIdentifier) {
	in := s.known(id.Instance)
	if in == nil {
		return
	}
	for i := 0; i < len(in.work); {
		if r := in.work[i]; s.rules.Cancels(r.execution, r.activity, r.lock.live(s.now), id) {
			s.remove(r, observe.RemovedCancelled)
		} else {
			i++
		}
	}
}
