package properties

import (
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/cluster"
)

// coverage counts the points that a run reaches.
type coverage struct {
	base
	deaf
	live     *liveState
	counts   [points]uint64
	faults   []uint64 // by index in kinds
	kinds    []faults.Info
	changes  []buildChange // in order of first occurrence
	filtered uint64        // fetches that may have passed something over
}

func newCoverage(m *run, s *liveState) *coverage {
	kinds := faults.Kinds()
	c := &coverage{base: base{m}, live: s, kinds: kinds, faults: make([]uint64, len(kinds))}
	s.subscribe(c)
	m.onFact(func(f fact) { c.hit(factPoints[f]) })
	return c
}

func (c *coverage) hit(p point) { c.counts[p]++ }

// points are the points that were reached, in no order.
func (c *coverage) points() []cluster.Point {
	var list []cluster.Point
	for p, count := range c.counts {
		if count > 0 {
			list = append(list, cluster.Point{Name: pointTable[p].Name, Count: count})
		}
	}
	for i, f := range c.kinds {
		if c.faults[i] > 0 {
			list = append(list, cluster.Point{Name: "fault " + string(f.Kind), Count: c.faults[i]})
		}
	}
	for i := range c.changes {
		list = c.changes[i].points(list, &c.m.store.kinds)
	}
	return list
}

// factPoints are the points that facts are.
var factPoints = [facts]point{
	factAckAfterExpiry:   pointAckAfterExpiry,
	factAnswerLost:       pointAnswerLostAfterCommit,
	factActivityRetaken:  pointActivityRetaken,
	factTakenOver:        pointTakenOver,
	factWaitOver:         pointWaitOver,
	factHealthyPoisoned:  pointHealthyPoisoned,
	factSessionTakenOver: pointSessionTakenOver,
	factDeleted:          pointDeleted,
	factDeletedRunning:   pointDeletedRunning,
	factDeletedHeld:      pointDeletedHeld,
	factLateAck:          pointLateAck,
	factPruned:           pointPruned,
	factPrunedAtWork:     pointPrunedAtWork,
	factCarried:          pointCarried,
	factCarryLimit:       pointCarryLimit,
	factKVMerged:         pointKVMerged,
	factTombstoneMerged:  pointTombstoneMerged,
}

func (c *coverage) onWaits(*instanceState) { c.hit(pointNobodyAdmits) }

// passes looks at what filters passed over now and then, until that was seen.
func (c *coverage) passes() passing {
	c.filtered++
	if c.counts[pointFilteredOut] > 0 || c.filtered%8 != 0 || c.filtered > 1024 && c.filtered%256 != 0 {
		return passNone
	}
	return passFirst
}

func (c *coverage) onPassed(engine.Caller, *instanceState) { c.hit(pointFilteredOut) }

func (c *coverage) onAccepted(o *engine.Observation) {
	in := c.m.store.instance(o.Instance)
	if !in.locked(o.AtMs) {
		return
	}
	if call := c.m.store.call(o.Call); call != nil && call.kind == engine.CallAckOrchestrationItem && call.request.Ack != nil &&
		call.request.Ack.LockToken == in.lock.token {
		return // its own turn sent it
	}
	c.hit(pointDuringLock)
}

func (c *coverage) onDelivered(o *engine.Observation) {
	s := c.live
	if o.NewCount > 1 {
		c.hit(pointAttemptAboveOne)
	}
	call := c.m.store.call(o.Call)
	if o.CallKind != engine.CallFetchOrchestrationItem || call == nil || o.Caller.Node == 0 {
		return
	}
	in := c.m.store.instance(o.Instance)
	if n := s.node(o.Caller.Node); n != nil && n.from != nil {
		if ex := in.latest(); ex != nil {
			c.change(n.from, n.build, s.phase).kinds |= ex.kinds
		}
	}
	pin := in.pin()
	if pin == nil {
		c.hit(pointUnpinnedStart)
		return
	}
	if f := call.request.Filter; f != nil && len(f.SupportedVersions) > 0 {
		if f.SupportedVersions[0].Max.Compare(*pin) == 0 {
			c.hit(pointPinAtMax)
		}
		if f.SupportedVersions[0].Min.Compare(*pin) == 0 {
			c.hit(pointPinAtMin)
		}
	}
}

func (c *coverage) onCommitted(number uint32, d *delivery, no engine.InstanceNo, ack *engine.OrchestrationAck) {
	for i := range ack.HistoryDelta {
		switch ack.HistoryDelta[i].Data.(type) {
		case engine.SubOrchestrationCompleted:
			c.hit(pointChildCompleted)
		case engine.ExternalEvent2:
			c.hit(pointExternalEvent2)
		case engine.OrchestrationCancelRequested:
			c.hit(pointCancelArrived)
		case engine.ActivityScheduled:
			for _, a := range ack.CancelledActivities {
				if a.ActivityID == ack.HistoryDelta[i].EventID && a.ExecutionID == ack.ExecutionID {
					c.hit(pointScheduleAndCancel)
				}
			}
		}
	}
	n := c.live.node(number)
	if n == nil || d == nil || d.incarnation != n.incarnation || d.decision != node.DecideTurn || len(ack.HistoryDelta) == 0 {
		return
	}
	pin := c.m.store.instance(no).pin()
	if pin != nil && pin.Compare(n.build.Version) != 0 {
		c.hit(pointMixedServed)
	}
	if d.turn.First && !n.filter.Admits(&n.build.Version) {
		c.hit(pointStrandedStart)
	}
	if d.start == startStart && d.turn.First {
		in := c.m.store.instance(no)
		if latest, ok := n.registry.ResolveStart(in.orchestration, ""); ok && latest.String() != d.turn.Handler {
			c.hit(pointOlderHandler)
		}
	}
	if d.start == startCan && d.pin != nil {
		switch n.build.Version.Compare(*d.pin) {
		case 1:
			c.hit(pointCanOnNewer)
		case -1:
			c.hit(pointCanOnOlder)
		}
	}
}

// notePoint is the point that a decision is, points for none.
func notePoint(d node.Decision) point {
	switch d {
	case node.DecideHistoryError:
		return pointHistoryError
	case node.DecideIncompatible:
		return pointIncompatible
	case node.DecideWaitForStart:
		return pointWaitForStart
	case node.DecideNoHandler, node.DecideWorkNoHandler:
		return pointNoHandler
	case node.DecideAckFailed:
		return pointAckFailed
	case node.DecideDropTerminal:
		return pointDropTerminal
	case node.DecideWorkLost:
		return pointWorkLost
	case node.DecidePoison:
		return pointPoison
	case node.DecideWorkPoison:
		return pointWorkPoison
	}
	return points
}

func (c *coverage) onNoted(n *liveNode, d *delivery, note *node.Note) {
	if note.Decision == node.DecideTurn && note.AttemptCount == n.options.MaxAttempts {
		c.hit(pointLastAttempt)
	}
	if p := notePoint(note.Decision); p != points {
		c.hit(p)
	}
	if note.Decision == node.DecidePoison && d.historyError {
		c.hit(pointPoisonHistoryError)
	}
	if note.Decision == node.DecidePoison {
		for _, no := range d.messages {
			if c.live.row(no).before == node.DecideNoHandler {
				c.hit(pointPoisonNoHandler)
				break
			}
		}
	}
	for _, dropped := range note.Dropped {
		if dropped.Rule == replay.DropStaleExecution {
			c.hit(pointStaleDropped)
		}
	}
}

func (c *coverage) onStarted(n *liveNode) {
	s := c.live
	kinds := 0
	for i := range s.nodes {
		a := &s.nodes[i]
		if !a.up {
			continue
		}
		first := true
		for j := range i {
			first = first && !(s.nodes[j].up && s.nodes[j].build == a.build)
		}
		if first {
			kinds++
		}
	}
	if kinds >= 2 {
		c.hit(pointTwoBuilds)
	}
	if kinds >= 3 {
		c.hit(pointThreeBuilds)
	}
	if n.build.Version.Pre != "" {
		c.hit(pointPreRelease)
	}
	own := n.build.Version
	if !n.filter.Admits(&own) {
		c.hit(pointSelfStranded)
	}
	if n.previous == nil || n.previous == n.build {
		return
	}
	n.from = n.previous
	c.change(n.from, n.build, s.phase).count++
	loaded, newer := false, false
	for no := 1; no <= c.m.store.instanceCount(); no++ {
		in := c.m.store.instance(engine.InstanceNo(no))
		loaded = loaded || len(in.queue) > 0
		if pin := in.pin(); pin != nil && in.status() == engine.StatusRunning && pin.Compare(own) > 0 {
			newer = true
		}
	}
	if loaded {
		c.hit(pointUpgradeUnderLoad)
	}
	if newer && own.Compare(n.previous.Version) < 0 {
		c.hit(pointRollbackNewerPins)
	}
}

// onHandlers sees whether a handler was withdrawn that something runs.
func (c *coverage) onHandlers(r *cluster.Record) {
	handler, gone := strings.CutSuffix(r.Text, " is deregistered")
	for no := 1; gone && no <= c.m.store.instanceCount(); no++ {
		in := c.m.store.instance(engine.InstanceNo(no))
		if in.status() == engine.StatusRunning && in.orchestration+"@"+in.version == handler {
			c.hit(pointHandlerWithdrawn)
			return
		}
	}
}

func (c *coverage) onCrashed(n *liveNode) {
	for _, list := range [2][]liveSlot{n.turns, n.activities} {
		for i := range list {
			d := &list[i].recent[list[i].last]
			if d.token == "" || d.incarnation != n.incarnation {
				continue
			}
			if d.held {
				c.hit(pointCrashHolding)
			}
			if d.committed && !d.answered {
				c.hit(pointCrashAfterCommit)
			}
		}
	}
}
