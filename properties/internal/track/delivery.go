package track

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// This file tracks deliveries from the fetch to the ack.

func (s *State) onDelivery(o *observe.Observation) {
	for _, l := range s.listeners {
		l.OnDelivered(o)
	}
	if o.Instance == 0 || s.executing == nil {
		return
	}
	slot := s.executing
	slot.Last = 1 - slot.Last
	d := &slot.Recent[slot.Last]
	in := s.Run.Model.Instance(o.Instance)
	*d = Delivery{
		Token: o.Token, Worker: o.CallKind == observe.CallFetchWorkItem, Instance: o.Instance, Messages: append(d.Messages[:0], o.Messages...),
		Told: o.NewCount, Incarnation: s.ExecutingInc, Pin: in.Pin(), Held: true,
	}
	if o.Fetched != nil {
		d.HistoryError = o.Fetched.Item.HistoryError != ""
	}
	for _, no := range o.Messages {
		switch s.Run.Model.Row(no).Kind {
		case engine.ItemStartOrchestration:
			if d.Start == startNone {
				d.Start = StartStart
			}
		case engine.ItemContinueAsNew:
			d.Start = StartCan
		}
	}
	if !d.Worker {
		for _, l := range s.listeners {
			l.OnFetched(o.Caller.Node, d)
		}
	}
}

func (s *State) onCommit(o *observe.Observation, c *model.Call) {
	d := s.Find(o.Caller.Node, c.Request.Ack.LockToken)
	var no observe.InstanceNo
	switch {
	case d != nil:
		no = d.Instance
		d.Held, d.Committed = false, true
	case len(c.Instances) > 0:
		no = c.Instances[0].No
	default:
		return
	}
	if len(c.Request.Ack.HistoryDelta) > 0 {
		in := s.Instance(no)
		in.Turns++
		in.ProgressMs = max(in.ProgressMs, o.AtMs)
	}
	for _, l := range s.listeners {
		l.OnCommitted(o.Caller.Node, d, no, c)
	}
}

// BackoffMost returns the longest delay, in milliseconds, that a node may ask for when it gives work back after the
// n-th delivery. That is the contract's curve for a missing handler, or the fixed delay for any other reason.
func BackoffMost(o *node.Options, n uint32) int64 {
	return max(check.GivenBack, check.Backoff(n, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax)).Milliseconds()
}
