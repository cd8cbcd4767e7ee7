package properties

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// stateChecker asks that key-value state, custom status and queue messages follow their model: S17. It works out what
// each instance must have from the events of the acks that took effect (docs/contract/provider.md#p6.8 and #p6.9) and
// compares that with the store's rows after each call that changes them or should, with the snapshot of each delivery,
// and with what clients read. The queue messages are in safe_queue.go.
type stateChecker struct {
	base
	states []*instanceData // by instance number; nil while there is nothing to know
	due    engine.InstanceNo
}

// instanceData is what an instance must have.
type instanceData struct {
	store, delta []kvState // in order of key; a row of the delta without a value is a tombstone
	status       *string
	version      uint64
	queue        queueData
}

func newStateChecker(m *run) checker { return &stateChecker{base: base{m}} }

func (*stateChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{
		engine.ObsCallEnd, engine.ObsKVSet, engine.ObsKVRemoved, engine.ObsCustomStatusSet, engine.ObsInstanceRemoved,
	}
}

func (*stateChecker) records() []cluster.RecordKind { return nil }

// of is the entry of an instance, made if it is wanted.
func (k *stateChecker) of(no engine.InstanceNo, wanted bool) *instanceData {
	if int(no) >= len(k.states) {
		if !wanted {
			return nil
		}
		k.states = append(k.states, make([]*instanceData, int(no)+1-len(k.states))...)
	}
	if k.states[no] == nil && wanted {
		k.states[no] = &instanceData{}
	}
	return k.states[no]
}

func (k *stateChecker) observe(o *engine.Observation) {
	switch o.Kind {
	case engine.ObsKVSet, engine.ObsKVRemoved, engine.ObsCustomStatusSet:
		k.due = o.Instance
		return
	case engine.ObsInstanceRemoved:
		if !o.Undo && int(o.Instance) < len(k.states) {
			k.states[o.Instance] = nil
			k.due = o.Instance
		}
		return
	}
	c := k.m.store.call(o.Call)
	if c == nil {
		return
	}
	if o.Outcome == engine.OutcomeOK || o.Outcome == engine.OutcomeNothing {
		switch c.kind {
		case engine.CallAckOrchestrationItem:
			k.acked(c, o.Instance)
		case engine.CallFetchOrchestrationItem:
			k.delivered(c, o)
		case engine.CallGetKVValue, engine.CallGetCustomStatus:
			k.read(c, o)
		}
	}
	if k.due != 0 {
		k.compare(c, k.due)
		k.due = 0
	}
}

// acked applies the events of an ack that took effect.
func (k *stateChecker) acked(c *callState, no engine.InstanceNo) {
	ack := c.request.Ack
	if ack == nil {
		return
	}
	if in := heldBy(c); in != nil {
		no = in.no
	}
	if no == 0 {
		return // S05 has that case
	}
	d := k.of(no, false)
	for i := range ack.HistoryDelta {
		if changesState(ack.HistoryDelta[i].Data) {
			d = k.of(no, true)
			break
		}
	}
	if d == nil {
		return
	}
	k.queued(c, no, d)
	updates := false
	for i := range ack.HistoryDelta {
		switch e := ack.HistoryDelta[i].Data.(type) {
		case engine.KeyValueSet:
			value := e.Value
			d.change(e.Key, &value, e.LastUpdatedAtMs)
		case engine.KeyValueCleared:
			d.change(e.Key, nil, 0)
		case engine.KeyValuesCleared:
			for _, r := range slices.Concat(d.store, d.delta) {
				d.change(r.key, nil, 0)
			}
		case engine.CustomStatusUpdated:
			updates, d.status = true, e.Status
		default:
			continue
		}
		k.due = no
	}
	if updates {
		d.version++
	}
	switch ack.Metadata.Status {
	case engine.StatusCompleted, engine.StatusFailed, engine.StatusContinuedAsNew:
		if len(d.delta) > 0 {
			k.due = no
			k.merge(d)
		}
	}
	k.carried(c, no, d)
}

// changesState says whether an event is of those that this property follows.
func changesState(e engine.EventData) bool {
	switch e := e.(type) {
	case engine.KeyValueSet, engine.KeyValueCleared, engine.KeyValuesCleared, engine.CustomStatusUpdated, engine.QueueEventDelivered,
		engine.QueueSubscribed:
		return true
	case engine.OrchestrationStarted:
		return len(e.CarryForwardEvents) > 0
	}
	return false
}

// change writes a row of the delta; without a value it is a tombstone.
func (d *instanceData) change(key string, value *string, atMs uint64) {
	d.delta = putKV(d.delta, kvState{key: key, value: value, updatedMs: atMs})
}

func findKV(list []kvState, key string) (int, bool) {
	return slices.BinarySearchFunc(list, key, func(r kvState, key string) int { return cmp.Compare(r.key, key) })
}

func putKV(list []kvState, r kvState) []kvState {
	i, had := findKV(list, r.key)
	if had {
		list[i] = r
		return list
	}
	return slices.Insert(list, i, r)
}

// merge is the boundary of an execution: the delta goes into the store.
func (k *stateChecker) merge(d *instanceData) {
	k.m.happened(factKVMerged)
	for _, r := range d.delta {
		if r.value != nil {
			d.store = putKV(d.store, r)
			continue
		}
		if i, had := findKV(d.store, r.key); had {
			k.m.happened(factTombstoneMerged)
			d.store = slices.Delete(d.store, i, i+1)
		}
	}
	d.delta = nil
}

// view is what a client sees of a key.
func (d *instanceData) view(key string) *string {
	if d == nil {
		return nil
	}
	if i, had := findKV(d.delta, key); had {
		return d.delta[i].value
	}
	if i, had := findKV(d.store, key); had {
		return d.store[i].value
	}
	return nil
}

// delivered compares a delivery's snapshot: the state at the last boundary, without this execution's changes. With a
// history_error it may hold anything (F13).
func (k *stateChecker) delivered(c *callState, o *engine.Observation) {
	if o.Fetched == nil || o.Fetched.Item.HistoryError != "" {
		return
	}
	var want []kvState
	if d := k.of(o.Instance, false); d != nil {
		want = d.store
	}
	have := o.Fetched.Item.KVSnapshot
	if len(have) != len(want) {
		k.report(c, o.Instance, fmt.Sprintf("handed out a snapshot of %d keys, expected the %d of the last execution boundary", len(have), len(want)))
		return
	}
	for _, e := range have {
		i, had := findKV(want, e.Key)
		if !had || *want[i].value != e.Value || want[i].updatedMs != e.LastUpdatedAtMs {
			k.report(c, o.Instance, fmt.Sprintf("handed out a snapshot with key %q = %q, expected what the last execution boundary left", e.Key, e.Value))
			return
		}
	}
}

// read compares what a client is told.
func (k *stateChecker) read(c *callState, o *engine.Observation) {
	no := k.m.store.number(c.request.Instance)
	d := k.of(no, false)
	if c.kind == engine.CallGetKVValue {
		if want := d.view(c.request.Key); !sameText(o.Value, want) {
			k.report(c, no, fmt.Sprintf("told key %q = %s, expected %s", c.request.Key, textOf(o.Value), textOf(want)))
		}
		return
	}
	if o.Outcome != engine.OutcomeOK {
		return // it is not told what the caller has seen
	}
	if d == nil {
		d = &instanceData{}
	}
	if !sameText(o.Value, d.status) || o.Version != d.version {
		k.report(c, no, fmt.Sprintf("told custom status %s, version %d, expected %s, version %d", textOf(o.Value), o.Version, textOf(d.status), d.version))
	}
}

// compare compares the rows of an instance with what they must be. What differs is told once.
func (k *stateChecker) compare(c *callState, no engine.InstanceNo) {
	have, d := &k.m.store.instance(no).kept, k.of(no, false)
	if d == nil {
		if have.empty() && have.customStatus == nil && have.customVersion == 0 {
			return
		}
		d = k.of(no, true)
	}
	seen := ""
	switch {
	case !sameText(have.customStatus, d.status) || have.customVersion != d.version:
		seen = fmt.Sprintf("left custom status %s, version %d, expected %s, version %d: each ack that brings one raises the version by one",
			textOf(have.customStatus), have.customVersion, textOf(d.status), d.version)
	case rowsDiffer(have.delta, d.delta, false) != "":
		seen = "left the key-value changes of the running execution wrong: " + rowsDiffer(have.delta, d.delta, false)
	case rowsDiffer(have.store, d.store, true) != "":
		seen = "left the key-value state of the last execution boundary wrong: " + rowsDiffer(have.store, d.store, true)
	default:
		return
	}
	k.report(c, no, seen)
	d.status, d.version = have.customStatus, have.customVersion
	d.store, d.delta = slices.Clone(have.store), slices.Clone(have.delta)
}

// rowsDiffer is the first difference between two tables, empty if there is none. A tombstone's time is free (F19).
func rowsDiffer(have, want []kvState, times bool) string {
	for _, w := range want {
		i, had := findKV(have, w.key)
		switch {
		case !had:
			return fmt.Sprintf("key %q is not there, expected %s", w.key, textOf(w.value))
		case !sameText(have[i].value, w.value):
			return fmt.Sprintf("key %q is %s, expected %s", w.key, textOf(have[i].value), textOf(w.value))
		case (times || w.value != nil) && have[i].updatedMs != w.updatedMs:
			return fmt.Sprintf("key %q has time %d, expected %d", w.key, have[i].updatedMs, w.updatedMs)
		}
	}
	for _, h := range have {
		if _, had := findKV(want, h.key); !had {
			return fmt.Sprintf("key %q is %s, expected no such row", h.key, textOf(h.value))
		}
	}
	return ""
}

func (k *stateChecker) report(c *callState, no engine.InstanceNo, seen string) {
	k.m.safety("S17", c.caller.Node, no, "%s by %s %s", c.kind, k.m.who(c.caller), seen)
}
