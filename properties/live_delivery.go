package properties

import (
	"github.com/durosim/durosim/engine"
)

// This file follows deliveries from their fetch to their ack.

func (s *liveState) onDelivery(o *engine.Observation) {
	for _, l := range s.listeners {
		l.onDelivered(o)
	}
	if o.Instance == 0 || s.executing == nil {
		return
	}
	slot := s.executing
	slot.last = 1 - slot.last
	d := &slot.recent[slot.last]
	in := s.m.store.instance(o.Instance)
	*d = delivery{
		token: o.Token, worker: o.CallKind == engine.CallFetchWorkItem, instance: o.Instance, messages: append(d.messages[:0], o.Messages...),
		told: o.NewCount, atMs: o.AtMs, incarnation: s.executingInc, pin: in.pin(), held: true,
	}
	if o.Fetched != nil {
		d.historyError = o.Fetched.Item.HistoryError != ""
	}
	for _, no := range o.Messages {
		switch s.m.store.row(no).kind {
		case engine.ItemStartOrchestration:
			if d.start == startNone {
				d.start = startStart
			}
		case engine.ItemContinueAsNew:
			d.start = startCan
		}
	}
	if !d.worker {
		for _, l := range s.listeners {
			l.onFetched(o.Caller.Node, d)
		}
	}
}

func (s *liveState) onCommit(o *engine.Observation, c *callState) {
	d := s.find(o.Caller.Node, c.request.Ack.LockToken)
	var no engine.InstanceNo
	switch {
	case d != nil:
		no = d.instance
		d.held, d.committed = false, true
	case len(c.instances) > 0:
		no = c.instances[0].no
	default:
		return
	}
	if len(c.request.Ack.HistoryDelta) > 0 {
		in := s.instance(no)
		in.turns++
		in.progressMs = max(in.progressMs, o.AtMs)
	}
	for _, l := range s.listeners {
		l.onCommitted(o.Caller.Node, d, no, c.request.Ack)
	}
}
