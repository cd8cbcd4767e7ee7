package liveness

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
)

// This file records what leaves the queues. L02 uses this as evidence when an instance waits for an activity or a
// message that is gone.

func (c *obligations) Observe(o *observe.Observation) {
	if o.Kind == observe.RowRemoved {
		c.leaves(o)
		return
	}
	if o.Kind == observe.RowInserted && o.Queue == observe.QueueOrchestrator && int(o.Instance) < len(c.left) {
		c.left[o.Instance].told = o.Call
	}
	c.open.Touch(o.Instance)
}

// leaving describes the last call that removed activities of an instance from the worker queue.
type leaving struct {
	events []uint64
	reason observe.RemoveReason
	number uint64
	call   observe.CallKind
	by     observe.Caller
	atMs   int64
	told   uint64 // the last call that sent a message to the instance
	last   lastMessage
	// startMs is when the start of a next execution last left: what waited for it has its time from then on.
	startMs int64
}

// departures sums up what has left a queue since the last check: the earliest time at which any of it became visible,
// and when the last of it left.
type departures struct{ visibleMs, atMs int64 }

type departuresOf [observe.QueueWorker + 1]departures // indexed by queue

// moves notes for each message of an instance that the line in front of it has moved. Work is taken in the order in which
// it becomes visible, so a message is not late while that before it is served: its bound has only what is still in front
// of it, counted from when the line last moved.
func (c *obligations) moves(in *model.Instance) {
	for _, rows := range [...][]*model.Row{in.Queue, in.Work} {
		for _, r := range rows {
			gone, mine := c.moved[r.Queue], c.live.Row(r.No)
			if gone.atMs != 0 && gone.visibleMs <= mine.FirstVisibleMs {
				mine.MovedMs = gone.atMs
			}
		}
	}
}

// movedMs returns when the line in front of the first of these messages last moved.
func (c *obligations) movedMs(rows []*model.Row) (ms int64) {
	first := int64(model.NeverMs)
	for _, r := range rows {
		if mine := c.live.Row(r.No); mine.FirstVisibleMs < first {
			first, ms = mine.FirstVisibleMs, mine.MovedMs
		}
	}
	return ms
}

// lastMessage describes the message that left an instance's queue most recently.
type lastMessage struct {
	no         observe.MessageNo
	kind       engine.WorkItemKind
	id         uint64 // the schedule that it completes, or 0
	sender     uint32
	deliveries uint32
	call       observe.CallKind
	by         observe.Caller
	atMs       int64
}

func (c *obligations) leaves(o *observe.Observation) {
	call := c.Run.Model.Call(o.Call)
	if o.Instance == 0 || o.Reason == observe.RemovedUndone || call == nil {
		return
	}
	d, visibleMs := &c.moved[o.Queue], c.live.Row(o.Message).FirstVisibleMs
	if d.atMs == 0 || visibleMs < d.visibleMs {
		d.visibleMs = visibleMs
	}
	d.atMs = o.AtMs
	for len(c.left) <= int(o.Instance) {
		c.left = append(c.left, leaving{})
	}
	l := &c.left[o.Instance]
	if o.Queue != observe.QueueWorker {
		r, mine := c.Run.Model.Row(o.Message), c.live.Row(o.Message)
		l.last = lastMessage{o.Message, r.Kind, r.ID, mine.Sender, mine.Deliveries, call.Kind, call.Caller, o.AtMs}
		if r.Kind == engine.ItemContinueAsNew {
			l.startMs = o.AtMs
		}
		return
	}
	if l.number != o.Call {
		*l = leaving{events: l.events[:0], reason: o.Reason, number: o.Call, call: call.Kind, by: call.Caller, atMs: o.AtMs, told: l.told, last: l.last, startMs: l.startMs}
	}
	l.events = append(l.events, c.Run.Model.Row(o.Message).ID)
}

// lastLeft describes how an instance's last activities and last message left their queues. It is used if nothing is
// queued for the instance, which may then be waiting for one of these.
func (c *obligations) lastLeft(in *model.Instance) string {
	if len(in.Queue)+len(in.Work) > 0 || int(in.No) >= len(c.left) {
		return ""
	}
	l := &c.left[in.No]
	return c.lastActivities(l) + c.lastMessage(&l.last)
}

func (c *obligations) lastActivities(l *leaving) string {
	if l.events == nil {
		return ""
	}
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

func (c *obligations) lastMessage(m *lastMessage) string {
	if m.no == 0 {
		return ""
	}
	what := string(m.kind)
	if m.id != 0 {
		what += fmt.Sprintf(" for event %d", m.id)
	}
	delivered := "after it was handed out"
	if m.deliveries == 0 {
		delivered = "although it was never handed out"
	}
	return fmt.Sprintf("; the last message to leave its queue, %s (message %d, %s), went %s with %s of %s, %s", what, m.no, c.sender(m.sender), c.at(m.atMs), m.call, c.Run.Who(m.by), delivered)
}

// sender names who sent a message.
func (c *obligations) sender(node uint32) string {
	if node == 0 {
		return "sent by a client"
	}
	return "sent by " + c.Run.NodeName(node)
}
