package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

// Routing configures how a node finds work that it can run, and what it does with other work. The zero value follows
// the contract: the provider filters, and work that no node admits waits.
type Routing struct {
	// Bounces makes the node fetch without a filter. The node then abandons work that it cannot replay, with the same
	// growing delay as for a missing handler. Each delivery counts as an attempt, so the work eventually becomes
	// poison.
	Bounces bool
	// Stalls makes the node fetch without a filter, too. It abandons work that it cannot replay, uncounted and for
	// StallDelay, so that the work waits for a node that can.
	Stalls bool
	// SweepEvery, if not 0, adds a slot that passes over all queued work and pauses for SweepEvery between passes. The
	// slot ends work that the node cannot replay once SweepAfter has passed since it first saw that work.
	SweepEvery, SweepAfter time.Duration
}

// Unprocessable is the prefix of the poison cause for bounced work.
const Unprocessable = "work item could not be processed on this node (orchestration not registered here, or execution history is unsupported)"

// routed configures a new node according to r.
func (n *Node) routed(r Routing) {
	n.routing = r
	if r.Bounces {
		n.filter = nil
	}
	if r.SweepEvery > 0 {
		n.slots = append(n.slots, slot{id: Slot{SlotOrchestration, n.options.OrchestrationConcurrency}, sweeps: true})
	}
}

// fetchesAll reports whether the node fetches work that it may be unable to replay.
func (n *Node) fetchesAll() bool { return n.routing.Bounces || n.routing.Stalls }

// fetchFilter returns the filter of the node's fetches.
func (n *Node) fetchFilter() *engine.CapabilityFilter {
	if n.fetchesAll() {
		return nil
	}
	return n.filter
}

// bounceDelay returns the abandon delay for the count-th delivery of work that this node cannot replay.
func (n *Node) bounceDelay(count uint32) time.Duration {
	switch {
	case n.routing.Stalls:
		return StallDelay
	case !n.routing.Bounces:
		return IncompatibleDelay
	}
	return n.rules.BounceBackoff(count, n.options.UnregisteredBackoffBase, n.options.UnregisteredBackoffMax)
}

const (
	// sweepLooks is the maximum number of instances inspected in one pass.
	sweepLooks = 64
	// sweepDelay is the sweeper's abandon delay for work that its node could run. Until the delay has passed, the
	// sweeper's next fetches find other work. For work that the node cannot run, the delay is IncompatibleDelay.
	sweepDelay = 100 * time.Millisecond
)

// sweeper is the state of the sweeping slot.
type sweeper struct {
	passing bool
	met     []string // instances seen in this pass
	blocked []sighting
}

// sighting is a batch that the sweeper has seen and its node cannot replay. Equal messages may come again, but not
// without progress in between, which makes the history longer.
type sighting struct {
	instance  string
	execution uint64
	events    int    // in the history, or 0 if it cannot be decoded
	first     string // text of the batch's first message, or empty if it cannot be decoded
	sinceMs   int64
	lastMs    int64 // time of the last pass that saw it
}

// nextSweep fetches the next batch of a pass, or pauses until the next pass.
func (n *Node) nextSweep(s *slot) {
	w := &n.sweeper
	if !w.passing {
		w.passing = true
		w.met = w.met[:0]
		n.pause(s, timerSweep, n.routing.SweepEvery)
		return
	}
	s.phase = phaseFetching
	n.counters.Fetches++
	look := n.callTo(s.id, call.FetchOrchestrationItem{
		LockTimeout: n.options.OrchestratorLockTimeout, PollTimeout: n.options.DispatcherLongPollTimeout,
	})
	s.call, look.Cadence = look.ID, n.routing.SweepEvery
	if len(w.met) > 0 { // only the first fetch of a pass waits for work
		look.Cadence, look.Once, look.Deadline = 0, true, n.options.CallDeadline
	}
}

// endPass ends a sweeper's pass. It forgets work that no pass has seen for more than SweepAfter, because that work is
// no longer blocked. A shorter absence proves nothing, because another node's sweeper may be holding the work. An
// undecodable batch is forgotten after half that time, because the sweeper cannot tell it apart from the next one.
func (n *Node) endPass() {
	n.sweeper.passing = false
	after := n.routing.SweepAfter.Milliseconds()
	n.sweeper.blocked = slices.DeleteFunc(n.sweeper.blocked, func(x sighting) bool {
		age := n.nowMs - x.lastMs
		return age > after || x.first == "" && age > after/2
	})
}

// look decides what to do with a batch that the sweeper has fetched.
func (n *Node) look(s *slot, d *delivery) {
	w := &n.sweeper
	id := d.Item.Instance
	if slices.Contains(w.met, id) {
		n.endPass()
	} else if w.met = append(w.met, id); len(w.met) == sweepLooks {
		n.endPass()
	}
	if n.rules.SweepSpares(n.admits(d)) {
		n.abandon(s, Note{Decision: DecideLooked, Delay: sweepDelay, Cause: "a sweeper looked at it"})
		return
	}
	since := n.sight(d)
	if d.waitsForStart() && !d.undecodable() || !n.rules.SweepDue(time.Duration(n.nowMs-since)*time.Millisecond, n.routing.SweepAfter) {
		n.abandon(s, Note{Decision: DecideLooked, Delay: IncompatibleDelay, Cause: n.incompatible(d)})
		return
	}
	if !n.dropsEnded(s, d) {
		n.sweepAway(s, d, time.Duration(n.nowMs-since)*time.Millisecond)
	}
}

// sight records that this pass saw a batch that the node cannot replay. It returns the time at which a pass first saw
// the batch.
func (n *Node) sight(d *delivery) int64 {
	w := &n.sweeper
	now := sighting{
		instance: d.Item.Instance, execution: d.execution(), events: len(d.Item.History), sinceMs: n.nowMs, lastMs: n.nowMs,
	}
	if len(d.Item.Messages) > 0 {
		now.first = n.messagesText(d.Item.Messages[:1])
	}
	for i := range w.blocked {
		x := &w.blocked[i]
		if x.instance == now.instance && x.execution == now.execution && x.events == now.events && x.first == now.first {
			x.lastMs = n.nowMs
			return x.sinceMs
		}
	}
	w.blocked = append(w.blocked, now)
	return n.nowMs
}

// sweepAway ends an execution that has been blocked for SweepAfter or longer. The effect is the same as for poison.
func (n *Node) sweepAway(s *slot, d *delivery, blocked time.Duration) {
	text := fmt.Sprintf("%sblocked for %v, since no node took it; %s", eventdata.Swept, blocked.Truncate(time.Second), n.incompatible(d))
	n.logSwept(d, text)
	n.endAsPoison(s, d, DecideSwept, text, dropSwept)
}

// endAsPoison ends the execution with a poison error, whatever the batch's attempt count.
func (n *Node) endAsPoison(s *slot, d *delivery, decision Decision, text, rule string) {
	ack := n.poisonAck(d, d.status == engine.StatusContinuedAsNew && n.rules.PoisonWaitsForStart, text)
	s.hold.execution = ack.ExecutionID
	note := Note{Decision: decision, Cause: text, Dropped: d.dropAll(rule)}
	n.note(s, note)
	n.counters.countDrops(note.Dropped)
	n.startRenewing(s)
	n.commit(s, decision, call.AckOrchestrationItem(ack))
}
