package safety

import (
	"math"
	"time"

	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// delayChecker checks rule S15: a row stays invisible for as long as requested. It checks the visibility time when an
// abandon, an enqueue or an ack sets it, and once more when the row is delivered.
type delayChecker struct{ check.Base }

func newDelayChecker(m *check.Run) check.Checker { return &delayChecker{check.Base{Run: m}} }

func (*delayChecker) Ends() check.Ends {
	return check.Ends{OK: check.SetOf(
		observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem, observe.CallAbandonOrchestrationItem, observe.CallAbandonWorkItem,
		observe.CallEnqueueForOrchestrator, observe.CallAckOrchestrationItem,
	)}
}

func (d *delayChecker) Ended(c *model.Call, o *observe.Observation) {
	switch c.Kind {
	case observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem:
		for _, no := range c.Messages {
			if r := d.Run.Model.Row(no); r.Before(c.ID).VisibleMs > o.AtMs {
				d.report(c, r, "was delivered at "+d.Run.At(o.AtMs), r.Before(c.ID).VisibleMs)
			}
		}
	case observe.CallAbandonOrchestrationItem:
		in := model.HeldBy(c)
		if in == nil || in.BatchToken != c.Request.Token {
			return
		}
		if d.delaysMore(c, in); c.Request.Delay <= 0 {
			return
		}
		for _, no := range in.Batch {
			d.keeps(c, d.Run.Model.Row(no), after(o.AtMs, c.Request.Delay))
		}
	case observe.CallAbandonWorkItem:
		for _, r := range c.Rows {
			switch {
			case r.Was.Lock.Token != c.Request.Token:
			case c.Request.Delay > 0:
				d.keeps(c, r, after(o.AtMs, c.Request.Delay))
			case r.VisibleMs > max(o.AtMs, r.Was.VisibleMs):
				d.hidden(c, r)
			}
		}
	case observe.CallEnqueueForOrchestrator:
		for _, r := range c.Rows {
			if r.InsertedBy == c.ID && c.Request.Delay > 0 {
				d.keeps(c, r, after(o.AtMs, c.Request.Delay))
			}
		}
	case observe.CallAckOrchestrationItem:
		if c.Inserted[observe.QueueOrchestrator] == 0 {
			return
		}
		for _, r := range c.Rows {
			if r.InsertedBy == c.ID {
				d.keeps(c, r, r.FireAtMs) // 0 for other messages than timers
			}
		}
	}
}

// delaysMore reports a message that an abandon delays although the caller did not ask for that. It is either a message
// in the batch, if the caller asked for no delay, or a message that arrived after the fetch. If a message is delayed
// every time other messages are given back, it may never be delivered.
func (d *delayChecker) delaysMore(c *model.Call, in *model.Instance) {
	for _, r := range c.Rows {
		if r.VisibleMs <= r.Was.VisibleMs || r.VisibleMs <= c.BeganMs {
			continue
		}
		if c.Request.Delay <= 0 || r.Instance != in || r.Delivered != in.BatchCall {
			d.hidden(c, r)
			return
		}
	}
}

func (d *delayChecker) hidden(c *model.Call, r *model.Row) {
	d.Run.Violate(check.Breach{
		Property: "S15", Class: cluster.ClassSafety, Node: c.Caller.Node, Instance: r.Instance.No, Item: model.ItemText(r),
		Message: model.ItemText(r) + " is hidden until " + d.Run.At(r.VisibleMs) + " by " + c.Kind.String() + " of " + d.Run.Who(c.Caller) +
			": expected an abandon to delay only the messages that its token marked, by the delay that it names",
	})
}

// keeps reports a queued message that will become visible too early.
func (d *delayChecker) keeps(c *model.Call, r *model.Row, wantMs int64) {
	if r.Present && r.VisibleMs < wantMs {
		d.report(c, r, "becomes visible at "+d.Run.At(r.VisibleMs), wantMs)
	}
}

func (d *delayChecker) report(c *model.Call, r *model.Row, seen string, wantMs int64) {
	d.Run.Violate(check.Breach{
		Property: "S15", Class: cluster.ClassSafety, Node: c.Caller.Node, Instance: r.Instance.No, Item: model.ItemText(r),
		Message: model.ItemText(r) + " " + seen + " (" + c.Kind.String() + " by " + d.Run.Who(c.Caller) + "): expected not before " + d.Run.At(wantMs),
	})
}

// after adds a duration in whole milliseconds to a time, saturating.
func after(nowMs int64, d time.Duration) int64 {
	return nowMs + min(d.Milliseconds(), math.MaxInt64-nowMs)
}
