package coverage

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// Counter counts which points a run reaches.
type Counter struct {
	check.Base
	track.NopListener
	live     *track.State
	counted  model.KindSet // the kinds of committed events that have a point
	counts   []uint64      // indexed like Points
	faults   []uint64      // indexed like kinds
	kinds    []faults.Info
	changes  []buildChange // in the order in which they first occurred
	filtered uint64        // fetches whose filter may have made them skip work
	// dead has the tokens that were handed out for instances that are deleted since. It is only used for lookups.
	dead map[string]bool
	// keys is the last call that has changed keys, and keysRemoved how many stored ones it has removed.
	keys, keysRemoved uint64
}

func New(m *check.Run, s *track.State) *Counter {
	kinds := faults.Kinds()
	c := &Counter{live: s, kinds: kinds, counts: make([]uint64, len(Points)), faults: make([]uint64, len(kinds)), Base: check.Base{
		Run: m, OnObserve: check.SetOf(observe.KVSet, observe.KVRemoved),
		OnRecord: check.SetOf(record.Parked, record.Woken, record.Fault, record.PhaseBegan, record.NodeDraining),
		OnEnd: check.Ends{
			Any: check.SetOf(observe.CallAdmin, observe.CallAckOrchestrationItem, observe.CallAckWorkItem),
			OK:  check.SetOf(observe.CallFetchWorkItem),
		},
	}}
	c.counted = m.Model.Kinds.SetOf(eventdata.KindSubOrchestrationCompleted, eventdata.KindExternalEvent2, eventdata.KindOrchestrationCancelRequested)
	s.Subscribe(c)
	m.OnFact(func(f check.Fact) { c.hit(factPoints[f]) })
	return c
}

func (c *Counter) hit(p point) { c.counts[p]++ }

// Points returns the points that were reached, in no particular order.
func (c *Counter) Points() []cluster.Point {
	var list []cluster.Point
	for p, count := range c.counts {
		if count > 0 {
			list = append(list, cluster.Point{Name: Points[p].Name, Count: count})
		}
	}
	for i, f := range c.kinds {
		if c.faults[i] > 0 {
			list = append(list, cluster.Point{Name: "fault " + string(f.Kind), Count: c.faults[i]})
		}
	}
	for i := range c.changes {
		list = c.changes[i].points(list, &c.Run.Model.Kinds)
	}
	return list
}

// factPoints maps each fact to its point.
var factPoints = [check.Facts]point{
	check.FactAckAfterExpiry:  pointAckAfterExpiry,
	check.FactAnswerLost:      pointAnswerLostAfterCommit,
	check.FactActivityRetaken: pointActivityRetaken,
	check.FactTakenOver:       pointTakenOver,
	check.FactWaitOver:        pointWaitOver,
	check.FactHealthyPoisoned: pointHealthyPoisoned,
}

func (c *Counter) OnWaits(*model.Instance, int64) { c.hit(pointNobodyAdmits) }

// Passes asks for the instances that filters exclude until the point for them is reached. It asks only at some fetches.
func (c *Counter) Passes() track.Passing {
	c.filtered++
	if c.counts[pointFilteredOut] > 0 || c.filtered%8 != 0 || c.filtered > 1024 && c.filtered%256 != 0 {
		return track.PassNone
	}
	return track.PassFirst
}

func (c *Counter) OnPassed(observe.Caller, *model.Instance) { c.hit(pointFilteredOut) }

func (c *Counter) OnAccepted(o *observe.Observation) {
	in := c.Run.Model.Instance(o.Instance)
	if !in.Locked(o.AtMs) {
		return
	}
	if call := c.Run.Model.Call(o.Call); call != nil && call.Kind == observe.CallAckOrchestrationItem && call.Request.Ack != nil &&
		call.Request.Ack.LockToken == in.Lock.Token {
		return // the turn that holds the lock sent the message itself
	}
	c.hit(pointDuringLock)
}

func (c *Counter) OnDelivered(o *observe.Observation) {
	s := c.live
	if o.NewCount > 1 {
		c.hit(pointAttemptAboveOne)
	}
	call := c.Run.Model.Call(o.Call)
	if o.CallKind != observe.CallFetchOrchestrationItem || call == nil || o.Caller.Node == 0 {
		return
	}
	in := c.Run.Model.Instance(o.Instance)
	if n := s.Node(o.Caller.Node); n != nil && n.From != nil {
		if ex := in.Latest(); ex != nil {
			c.change(n.From, n.Build, s.Phase).kinds |= ex.Kinds
		}
	}
	pin := in.Pin()
	if pin == nil {
		c.hit(pointUnpinnedStart)
		return
	}
	if f := call.Request.Filter; f != nil && len(f.SupportedVersions) > 0 {
		if f.SupportedVersions[0].Max.Compare(*pin) == 0 {
			c.hit(pointPinAtMax)
		}
		if f.SupportedVersions[0].Min.Compare(*pin) == 0 {
			c.hit(pointPinAtMin)
		}
	}
}

func (c *Counter) OnCommitted(number uint32, d *track.Delivery, no observe.InstanceNo, call *model.Call) {
	ack := call.Request.Ack
	if call.Delta&c.counted != 0 || len(ack.CancelledActivities) > 0 {
		c.count(ack)
	}
	n := c.live.Node(number)
	if n == nil || d == nil || d.Incarnation != n.Incarnation || d.Decision != machine.DecideTurn || len(ack.HistoryDelta) == 0 {
		return
	}
	pin := c.Run.Model.Instance(no).Pin()
	if pin != nil && pin.Compare(n.Build.Version) != 0 {
		c.hit(pointMixedServed)
	}
	if d.Turn.First && !model.Admits(n.Filter, &n.Build.Version) {
		c.hit(pointStrandedStart)
	}
	if d.Start == track.StartStart && d.Turn.First {
		in := c.Run.Model.Instance(no)
		if latest, ok := n.Registry.ResolveStart(in.Orchestration, ""); ok && latest.String() != d.Turn.Handler {
			c.hit(pointOlderHandler)
		}
	}
	if d.Start == track.StartCan && d.Pin != nil {
		switch n.Build.Version.Compare(*d.Pin) {
		case 1:
			c.hit(pointCanOnNewer)
		case -1:
			c.hit(pointCanOnOlder)
		}
	}
}

// count counts the points that an ack's events reach.
func (c *Counter) count(ack *engine.OrchestrationAck) {
	for i := range ack.HistoryDelta {
		switch ack.HistoryDelta[i].Data.(type) {
		case eventdata.SubOrchestrationCompleted:
			c.hit(pointChildCompleted)
		case eventdata.ExternalEvent2:
			c.hit(pointExternalEvent2)
		case eventdata.OrchestrationCancelRequested:
			c.hit(pointCancelArrived)
		case eventdata.ActivityScheduled:
			for _, a := range ack.CancelledActivities {
				if a.ActivityID == ack.HistoryDelta[i].EventID && a.ExecutionID == ack.ExecutionID {
					c.hit(pointScheduleAndCancel)
				}
			}
		}
	}
}

// notePoints has the points for decisions. It is never iterated over.
var notePoints = map[machine.Decision]point{
	machine.DecideHistoryError: pointHistoryError, machine.DecideIncompatible: pointIncompatible, machine.DecideWaitForStart: pointWaitForStart,
	machine.DecideNoHandler: pointNoHandler, machine.DecideWorkNoHandler: pointNoHandler, machine.DecideAckFailed: pointAckFailed,
	machine.DecideDropTerminal: pointDropTerminal, machine.DecideWorkLost: pointWorkLost, machine.DecidePoison: pointPoison,
	machine.DecideWorkPoison: pointWorkPoison,
}

func (c *Counter) OnNoted(n *track.Node, d *track.Delivery, note *machine.Note) {
	if note.Decision == machine.DecideTurn && note.AttemptCount == n.Options.MaxAttempts {
		c.hit(pointLastAttempt)
	}
	if p, ok := notePoints[note.Decision]; ok {
		c.hit(p)
	}
	if note.Decision == machine.DecidePoison && d.HistoryError {
		c.hit(pointPoisonHistoryError)
	}
	if note.Decision == machine.DecidePoison {
		for _, no := range d.Messages {
			if c.live.Row(no).Before == machine.DecideNoHandler {
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

func (c *Counter) OnStarted(n *track.Node) {
	s := c.live
	var builds []*engine.Build
	for i := range s.Nodes {
		if a := &s.Nodes[i]; a.Up && !slices.Contains(builds, a.Build) {
			builds = append(builds, a.Build)
		}
	}
	if len(builds) >= 2 {
		c.hit(pointTwoBuilds)
	}
	if len(builds) >= 3 {
		c.hit(pointThreeBuilds)
	}
	if n.Build.Version.Pre != "" {
		c.hit(pointPreRelease)
	}
	own := n.Build.Version
	if !model.Admits(n.Filter, &own) {
		c.hit(pointSelfStranded)
	}
	if n.Previous == nil || n.Previous == n.Build {
		return
	}
	n.From = n.Previous
	c.change(n.From, n.Build, s.Phase).count++
	loaded, newer := false, false
	for _, in := range c.Run.Model.Instances[1:] {
		loaded = loaded || len(in.Queue) > 0
		if pin := in.Pin(); pin != nil && in.Status() == engine.StatusRunning && pin.Compare(own) > 0 {
			newer = true
		}
	}
	if loaded {
		c.hit(pointUpgradeUnderLoad)
	}
	if newer && own.Compare(n.Previous.Version) < 0 {
		c.hit(pointRollbackNewerPins)
	}
}

// OnHandlers counts handlers that are withdrawn while a running execution uses them.
func (c *Counter) OnHandlers(r *cluster.Record) {
	handler, gone := strings.CutSuffix(r.Text, " is deregistered")
	uses := func(in *model.Instance) bool {
		return in.Status() == engine.StatusRunning && in.Orchestration+"@"+in.Version == handler
	}
	if gone && slices.ContainsFunc(c.Run.Model.Instances[1:], uses) {
		c.hit(pointHandlerWithdrawn)
	}
}

func (c *Counter) OnCrashed(n *track.Node) {
	for _, list := range [2][]track.Slot{n.Turns, n.Activities} {
		for i := range list {
			d := &list[i].Recent[list[i].Last]
			if d.Incarnation != n.Incarnation {
				continue
			}
			if d.Held {
				c.hit(pointCrashHolding)
			}
			if d.Committed && !d.Answered {
				c.hit(pointCrashAfterCommit)
			}
		}
	}
}
