package coverage

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/faultkind"
	"github.com/durosim/durosim/internal/feature"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
)

// Matrix counts which kinds of faults met which features of orchestrations. A fault meets a feature if it hits an
// instance that uses it: in the history of the current execution, in the ack that is hit, or in a message that waits
// for the instance or is hit itself. Features of single activities (activities, retries, sessions, tags, system
// calls) are met by a fault that hits such an activity: its start, its lock, its completion. A fault that hits a turn
// meets the features of the whole execution.
//
// A fault in a call hits the delivery that the call is about, or for a fetch, the work that the fetch then delivers.
// A crash or freeze hits everything that the node holds. A late turn or activity is hit itself, and so is the message
// that a client sends. A wrong clock hits everything that the incarnation fetches.
type Matrix struct {
	check.Base
	track.Deaf
	live      *track.State
	kinds     []faults.Info
	counts    [][feature.Count]uint64 // by index in kinds
	used      []use                   // by instance
	calls     map[uint64]*metCall     // by the world's number
	executing *metCall                // the call whose atomic instant is being executed
	starting  []int                   // faults that hit the next activity to start, by index in kinds
	skewed    map[observe.Caller]bool
}

// use holds the features that the current execution of an instance has used.
type use struct {
	execution uint64
	set       features
	failed    []eventdata.ActivityScheduled // activities that failed
	scheduled map[uint64]eventdata.ActivityScheduled
	retried   []uint64 // the schedules of the retries
}

// metCall is a call in flight: the work that it is about, and for a fetch the faults that hit it before it found
// work.
type metCall struct {
	fetch    bool
	hit      hit
	awaiting []int
}

// hit is the target of a fault.
type hit struct {
	instance observe.InstanceNo
	extra    features // of the ack or message that is hit
	activity features // of the activity that is hit, 0 for none
}

func NewMatrix(m *check.Run, s *track.State) *Matrix {
	kinds := faults.Kinds()
	x := &Matrix{
		Base: check.Base{Run: m}, live: s, kinds: kinds, counts: make([][feature.Count]uint64, len(kinds)),
		calls: map[uint64]*metCall{}, skewed: map[observe.Caller]bool{},
	}
	s.Subscribe(x)
	return x
}

// Points returns the cells that were reached, in no order.
func (x *Matrix) Points() []cluster.Point {
	var list []cluster.Point
	for i, f := range x.kinds {
		for n, count := range x.counts[i] {
			if count > 0 {
				list = append(list, cluster.Point{Name: feature.Met(string(f.Kind), feature.All[n].Name), Count: count})
			}
		}
	}
	return list
}

func (*Matrix) Records() check.Set[record.Kind] {
	return check.SetOf(record.Fault, record.CallSent, record.CallExecuting, record.Answered, record.ActivityStarted)
}

func (x *Matrix) Record(r *cluster.Record) {
	switch r.Kind {
	case record.CallSent:
		x.calls[r.Call] = x.sent(r)
	case record.CallExecuting:
		x.executing = x.calls[r.Call]
	case record.Answered:
		delete(x.calls, r.Call)
	case record.ActivityStarted:
		for _, kind := range x.starting {
			x.count(kind, hit{instance: x.Run.Model.Number(r.Activity.Item.Instance), activity: x.activity(r.Activity.Item)})
		}
		x.starting = x.starting[:0]
	case record.Fault:
		kind := slices.IndexFunc(x.kinds, func(f faults.Info) bool { return f.Kind == r.Fault })
		if kind >= 0 {
			x.fault(kind, r)
		}
	}
}

// sent returns the work that a call is about.
func (x *Matrix) sent(r *cluster.Record) *metCall {
	extra := features(0)
	switch c := r.Request.(type) {
	case call.FetchOrchestrationItem, call.FetchWorkItem:
		return &metCall{fetch: true}
	case call.AckOrchestrationItem:
		extra = ackFeatures((*engine.OrchestrationAck)(&c))
	}
	d := x.live.Find(r.Node, call.LockToken(r.Request))
	if d == nil {
		return &metCall{}
	}
	h := x.delivery(d)
	h.extra |= extra
	return &metCall{hit: h}
}

// delivery returns the instance and the activity that a fault in a delivery hits.
func (x *Matrix) delivery(d *track.Delivery) hit {
	h := hit{instance: d.Instance}
	for _, no := range d.Messages {
		item := x.Run.Model.Row(no).Item
		if a, ok := item.(engine.ActivityExecuteItem); ok {
			h.activity = x.activity(a)
		} else {
			h.extra |= itemFeatures(item)
		}
	}
	return h
}

func (x *Matrix) activity(item engine.ActivityExecuteItem) features {
	set := itemFeatures(item)
	if u := x.use(x.Run.Model.Number(item.Instance)); u.execution == item.ExecutionID && slices.Contains(u.retried, item.ID) {
		set |= only(feature.Retries)
	}
	return set
}

// fault counts the features that a fault meets.
func (x *Matrix) fault(kind int, r *cluster.Record) {
	switch c := x.calls[r.Call]; {
	case r.Call != 0 && c == nil: // the call was given up long ago
	case r.Call != 0 && c.fetch && c.hit.instance == 0:
		c.awaiting = append(c.awaiting, kind)
	case r.Call != 0:
		x.count(kind, c.hit)
	case r.Fault == faultkind.LateActivity, r.Fault == faultkind.ActivityPanic:
		x.starting = append(x.starting, kind)
	case r.Instance != "":
		x.count(kind, hit{instance: x.Run.Model.Number(r.Instance), extra: itemFeatures(r.Item)})
	case r.Fault == faultkind.ClockSkew:
		x.skewed[observe.Caller{Node: r.Node, Incarnation: r.Incarnation}] = true
	default:
		x.held(kind, r)
	}
}

// held counts a fault that hits everything that a node holds.
func (x *Matrix) held(kind int, r *cluster.Record) {
	n := x.live.Node(r.Node)
	if n == nil {
		return
	}
	for _, list := range [2][]track.Slot{n.Turns, n.Activities} {
		for i := range list {
			d := &list[i].Recent[list[i].Last]
			if d.Incarnation == r.Incarnation && (d.Held || d.Committed && !d.Answered) {
				x.count(kind, x.delivery(d))
			}
		}
	}
}

// count counts a fault that hit a target.
func (x *Matrix) count(kind int, h hit) {
	set := h.extra
	if h.instance != 0 {
		set |= x.use(h.instance).set
		for _, row := range x.Run.Model.Instance(h.instance).Queue {
			set |= itemFeatures(row.Item)
		}
	}
	if h.activity != 0 {
		set = set&^ofActivities | h.activity
	}
	for f := range feature.Count {
		if set&only(f) != 0 {
			x.counts[kind][f]++
		}
	}
}

// OnDelivered applies the faults that hit a fetch to the work that it delivered.
func (x *Matrix) OnDelivered(o *observe.Observation) {
	c := x.executing
	if c == nil || o.Caller.Node == 0 {
		return
	}
	c.hit = x.delivery(&track.Delivery{Instance: o.Instance, Messages: o.Messages})
	for _, kind := range c.awaiting {
		x.count(kind, c.hit)
	}
	if x.skewed[o.Caller] {
		x.count(slices.IndexFunc(x.kinds, func(f faults.Info) bool { return f.Kind == faultkind.ClockSkew }), c.hit)
	}
}

func (x *Matrix) OnCommitted(_ uint32, d *track.Delivery, no observe.InstanceNo, ack *engine.OrchestrationAck) {
	u := x.use(no)
	if u.execution != ack.ExecutionID {
		*u = use{execution: ack.ExecutionID, set: u.set & lasting, scheduled: map[uint64]eventdata.ActivityScheduled{}}
		if ack.ExecutionID > 1 {
			u.set |= only(feature.ContinueAsNew)
		}
	}
	if d != nil {
		u.set |= x.delivery(d).extra & only(feature.Versions)
	}
	u.set |= ackFeatures(ack)
	for i := range ack.HistoryDelta {
		u.note(&ack.HistoryDelta[i])
	}
}

// note remembers which activities failed, and which were retried.
func (u *use) note(e *engine.Event) {
	switch d := e.Data.(type) {
	case eventdata.ActivityScheduled:
		if slices.Contains(u.failed, d) {
			u.set |= only(feature.Retries)
			u.retried = append(u.retried, e.EventID)
		}
		u.scheduled[e.EventID] = d
	case eventdata.ActivityFailed:
		if a, ok := u.scheduled[e.SourceEventID]; ok {
			u.failed = append(u.failed, a)
		}
	}
}

// ackFeatures returns the features that an ack shows.
func ackFeatures(ack *engine.OrchestrationAck) features {
	var set features
	for i := range ack.HistoryDelta {
		set |= eventFeatures(&ack.HistoryDelta[i])
	}
	for _, item := range ack.OrchestratorItems {
		if start, ok := item.(engine.StartItem); ok {
			set |= itemFeatures(start)
		}
	}
	return set
}

func (x *Matrix) use(no observe.InstanceNo) *use {
	for len(x.used) <= int(no) {
		x.used = append(x.used, use{})
	}
	return &x.used[no]
}
