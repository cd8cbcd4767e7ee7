package liveness

import (
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// contentionChecker checks rule L12: poison takes effect even under lasting disturbance, not only in recovery. A
// message is delivered above its receiver's max_attempts at most contentionSlack times, no matter how many slots
// compete for the store and how long their fetches take. A delivery that was given back uncounted does not count. If a
// delivery above max_attempts was cut short by a fault of its holder, it adds to the slack, because the poison may not
// have reached the store. Without this exception:
//
//  1. A receives delivery 11 of 10 and acks it as poison.
//  2. A crashes before the ack, or the ack is lost. The lock expires.
//  3. B receives delivery 12, and so on for as long as such faults last. No engine can prevent this.
//
// A delivery that waits for a continue-as-new start is excused, too: it is not poison before that has begun
// (docs/contract-decisions.md#row-5), and so is one whose lock is shorter than an answer and an ack may take.
//
// Waiting is not such a fault, because the full lock must remain when its holder gets the answer (S25).
type contentionChecker struct {
	check.Base
	live *track.State
	// untilMs is, indexed by node number - 1, when the last trouble ends that may have kept an ack from reaching the store.
	untilMs []int64
	over    map[observe.MessageNo]*overCount // messages that were delivered above max_attempts; never iterated over, so map order does not matter
	// outageMs is when the current outage ends. Until then, the store may refuse every call.
	outageMs int64
}

// contentionSlack is how often a message may be delivered above max_attempts without any fault.
const contentionSlack = 10

// shortestLockMs is how long the answer to a fetch and the ack after it may take without any fault. A shorter lock may
// have ended before the poison comes.
const shortestLockMs = 6

// overCount counts how often a message was delivered above max_attempts.
type overCount struct {
	times, excused uint32
	count          uint32 // the highest attempt count among these deliveries
	// The last delivery: its holder, or 0 if the delivery does not count, and its time.
	node, incarnation uint32
	atMs              int64
	reported          bool
}

func newContentionChecker(s *track.State) check.Checker {
	return &contentionChecker{live: s, untilMs: make([]int64, len(s.Nodes)), over: map[observe.MessageNo]*overCount{}, Base: check.Base{
		Run: s.Run, OnEnd: check.Ends{OK: check.SetOf(observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem)},
		OnRecord: check.SetOf(record.Fault, record.NodePaused, record.NodeResumed, record.NodeCrashed, record.NodeStopped, record.NodeDraining, record.Note),
	}}
}

func (c *contentionChecker) Record(r *cluster.Record) {
	if r.Kind == record.Note {
		d := c.live.Find(r.Node, r.Note.Token)
		if d != nil && (r.Note.Decision == machine.DecideWaitForStart || r.Note.Decision == machine.DecideIncompatible && betweenExecutions(c.Run, d)) {
			for _, no := range d.Messages {
				if mine := c.over[no]; mine != nil {
					mine.excused++
				}
			}
		}
		return
	}
	untilMs := r.AtMs
	if r.Kind == record.Fault {
		switch r.Fault {
		case faults.Unavailable:
			c.outageMs = max(c.outageMs, r.AtMs+check.OutageMs)
		case faults.SlowFetch, faults.SlowAnswer, faults.ClockSkew:
			return // the fault does not affect whether the poison reaches the store
		}
		untilMs += r.For.Milliseconds()
	}
	if r.Node > 0 && int(r.Node) <= len(c.untilMs) {
		c.untilMs[r.Node-1] = max(c.untilMs[r.Node-1], untilMs)
	}
}

func (c *contentionChecker) Ended(_ *model.Call, o *observe.Observation) {
	n := c.live.Node(o.Caller.Node)
	for _, no := range o.Messages {
		row := c.Run.Model.Row(no)
		mine := c.over[no]
		if mine != nil && mine.node != 0 && c.troubled(mine) {
			mine.excused++
		}
		switch {
		case n == nil: // the receiver is a probe, and probes do not poison
			if mine != nil {
				mine.excused++
				mine.node = 0
			}
			continue
		case row.Count <= n.Options.MaxAttempts:
			continue
		case mine == nil:
			mine = &overCount{}
			c.over[no] = mine
		}
		if c.lock(o, row).UntilMs-o.AtMs <= shortestLockMs {
			mine.excused++
		}
		mine.node, mine.incarnation, mine.atMs = n.Number, o.Caller.Incarnation, c.Run.World.NowMs()
		if row.Count > mine.count {
			mine.times, mine.count = mine.times+1, row.Count
		}
		if mine.times > contentionSlack+mine.excused && !mine.reported {
			mine.reported = true
			c.Run.Liveness("L12", n.Number, o.Instance, "%s received %s at attempt %d, max_attempts is %d, and this is delivery %d above that: expected it to leave the queue as poison by delivery %d = %d slack + %d that a fault of the holder ended. Its lock now: %s",
				c.Run.Who(o.Caller), model.ItemText(row), row.Count, n.Options.MaxAttempts, mine.times, contentionSlack+mine.excused, contentionSlack, mine.excused, c.Run.LockText(c.lock(o, row)))
		}
	}
}

// troubled reports whether the last holder is gone or had trouble after it got the message.
func (c *contentionChecker) troubled(d *overCount) bool {
	n := c.live.Node(d.node)
	return c.outageMs >= d.atMs || c.untilMs[d.node-1] >= d.atMs || n.Incarnation != d.incarnation || !n.Live()
}

func (c *contentionChecker) lock(o *observe.Observation, row *model.Row) model.Lock {
	if o.CallKind == observe.CallFetchWorkItem {
		return row.Lock
	}
	return c.Run.Model.Instance(o.Instance).Lock
}
