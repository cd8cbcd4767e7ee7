package coverage

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// Matrix counts how often each kind of fault hit each feature of orchestrations. A fault hits a feature if it hits an
// instance that uses the feature: in the history of its current execution, in the affected ack, or in a message that is
// pending for the instance or is itself affected. The features of single activities (activities, retries, sessions,
// tags, system calls) are counted only for faults that hit the start, lock or completion of such an activity. A fault
// that hits a turn counts for all features of the execution.
//
// A fault in a call hits the delivery that the call is about; if the call is a fetch, the fault hits the work that the
// fetch then delivers. A crash or a pause hits everything that the node holds. A slow turn or activity is hit itself,
// and so is a message that a client sends. A wrong clock hits everything that the incarnation fetches.
type Matrix struct {
	check.Base
	track.NopListener
	live      *track.State
	kinds     []faults.Info
	counts    [][]uint64          // indexed like kinds, and like Features
	used      []use               // by instance
	calls     map[uint64]*metCall // keyed by the world's number for the call
	executing *metCall            // the call that the store is executing at this instant
	starting  []int               // faults that hit the next activity to start, as indices into kinds
	skewed    map[observe.Caller]bool
}

// use records which features an instance's current execution has used.
type use struct {
	execution uint64
	set       features
	failed    []eventdata.ActivityScheduled // activities that have failed
	scheduled map[uint64]eventdata.ActivityScheduled
	retried   []uint64 // event ids of the schedules that are retries
}

// metCall is a call in flight. It holds the work that the call is about. For a fetch, it holds the faults that hit the
// call before it found work.
type metCall struct {
	fetch    bool
	hit      hit
	awaiting []int
}

// hit describes what a fault hits.
type hit struct {
	instance observe.InstanceNo
	extra    features // features of the affected ack or message
	activity features // features of the affected activity, or 0
}

func NewMatrix(m *check.Run, s *track.State) *Matrix {
	kinds := faults.Kinds()
	x := &Matrix{
		Base: check.Base{Run: m, OnRecord: check.SetOf(record.Fault, record.CallSent, record.CallExecuting, record.Answered, record.ActivityStarted)},
		live: s, kinds: kinds, counts: make([][]uint64, len(kinds)),
		calls: map[uint64]*metCall{}, skewed: map[observe.Caller]bool{},
	}
	for i := range x.counts {
		x.counts[i] = make([]uint64, len(Features))
	}
	s.Subscribe(x)
	return x
}

// Points returns the cells that were reached, in no particular order.
func (x *Matrix) Points() []cluster.Point {
	var list []cluster.Point
	for i, f := range x.kinds {
		for n, count := range x.counts[i] {
			if count > 0 {
				list = append(list, cluster.Point{Name: Met(string(f.Kind), Features[n].Name), Count: count})
			}
		}
	}
	return list
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

// sent returns an entry for a call with the work that the call is about.
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

// delivery returns the instance and the activity that a fault in the delivery hits.
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
		set |= only(featureRetries)
	}
	return set
}

func (x *Matrix) fault(kind int, r *cluster.Record) {
	switch c := x.calls[r.Call]; {
	case r.Call != 0 && c == nil: // the node gave up on the call long ago
	case r.Call != 0 && c.fetch && c.hit.instance == 0:
		c.awaiting = append(c.awaiting, kind)
	case r.Call != 0:
		x.count(kind, c.hit)
	case r.Fault == faults.LateActivity, r.Fault == faults.ActivityPanic:
		x.starting = append(x.starting, kind)
	case r.Instance != "":
		x.count(kind, hit{instance: x.Run.Model.Number(r.Instance), extra: itemFeatures(r.Item)})
	case r.Fault == faults.ClockSkew:
		x.skewed[observe.Caller{Node: r.Node, Incarnation: r.Incarnation}] = true
	default:
		x.held(kind, r)
	}
}

// held counts a fault that hits everything a node holds.
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
	for f := range Features {
		if set&only(feature(f)) != 0 {
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
		x.count(slices.IndexFunc(x.kinds, func(f faults.Info) bool { return f.Kind == faults.ClockSkew }), c.hit)
	}
}

func (x *Matrix) OnCommitted(_ uint32, d *track.Delivery, no observe.InstanceNo, c *model.Call) {
	ack := c.Request.Ack
	u := x.use(no)
	if u.execution != ack.ExecutionID {
		*u = use{execution: ack.ExecutionID, set: u.set & lasting, scheduled: map[uint64]eventdata.ActivityScheduled{}}
		if ack.ExecutionID > 1 {
			u.set |= only(featureContinueAsNew)
		}
	}
	if d != nil {
		u.set |= x.delivery(d).extra & only(featureVersions)
	}
	u.set |= ackFeatures(ack)
	for i := range ack.HistoryDelta {
		u.note(&ack.HistoryDelta[i])
	}
}

// note records which activities have failed and which have been retried.
func (u *use) note(e *engine.Event) {
	switch d := e.Data.(type) {
	case eventdata.ActivityScheduled:
		if slices.Contains(u.failed, d) {
			u.set |= only(featureRetries)
			u.retried = append(u.retried, e.EventID)
		}
		u.scheduled[e.EventID] = d
	case eventdata.ActivityFailed:
		if a, ok := u.scheduled[e.SourceEventID]; ok {
			u.failed = append(u.failed, a)
		}
	}
}

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
