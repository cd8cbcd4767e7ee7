package liveness

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/model"
)

// This file records which activities leave the worker queue. L02 shows this as evidence when an instance waits for an
// activity that is gone.

func (c *obligations) Observe(o *observe.Observation) {
	if o.Kind == observe.RowRemoved {
		c.leaves(o)
		return
	}
	if o.Kind == observe.RowInserted {
		c.tells(o)
	}
	c.open.Touch(o.Instance)
}

// leaving is the last call that removed activities of an instance from the worker queue.
type leaving struct {
	events []uint64
	reason observe.RemoveReason
	number uint64
	call   observe.CallKind
	by     observe.Caller
	atMs   int64
	told   uint64 // the last call that sent the instance a message
}

// tells records the last call that sent an instance a message.
func (c *obligations) tells(o *observe.Observation) {
	if o.Queue == observe.QueueOrchestrator && int(o.Instance) < len(c.left) {
		c.left[o.Instance].told = o.Call
	}
}

func (c *obligations) leaves(o *observe.Observation) {
	call := c.Run.Model.Call(o.Call)
	if o.Queue != observe.QueueWorker || o.Instance == 0 || o.Reason == observe.RemovedUndone || call == nil {
		return
	}
	for len(c.left) <= int(o.Instance) {
		c.left = append(c.left, leaving{})
	}
	l := &c.left[o.Instance]
	if l.number != o.Call {
		*l = leaving{events: l.events[:0], reason: o.Reason, number: o.Call, call: call.Kind, by: call.Caller, atMs: o.AtMs, told: l.told}
	}
	l.events = append(l.events, c.Run.Model.Row(o.Message).ID)
}

// lastLeft describes how the last activities of an instance left the queue, if nothing is queued for it: it may wait
// for one of them.
func (c *obligations) lastLeft(in *model.Instance) string {
	if len(in.Queue)+len(in.Work) > 0 || int(in.No) >= len(c.left) || c.left[in.No].events == nil {
		return ""
	}
	l := &c.left[in.No]
	how := "acknowledged"
	switch l.reason {
	case observe.RemovedCancelled:
		how = "cancelled"
	case observe.RemovedDeleted:
		how = "deleted"
	}
	result := ""
	if l.call == observe.CallAckWorkItem && l.told != l.number {
		result = ", which sent it no result"
	}
	ids := strings.Trim(strings.ReplaceAll(fmt.Sprint(l.events), " ", ", "), "[]")
	return fmt.Sprintf("; the last activities to leave the queue, events %s, were %s %s by %s of %s%s", ids, how, c.at(l.atMs), l.call, c.Run.Who(l.by), result)
}
