package safety

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// stateChecker checks rule S17: key-value state and custom status follow their model. It derives each
// instance's state from the events in acks that took effect (docs/contract/provider.md#p6.8 and #p6.9). It compares
// that state with the store's rows after each call that changes them or should have changed them, with the snapshot in
// each delivery, and with what clients read. Queue messages are a clause of the specification of a turn.
type stateChecker struct {
	check.Base
	states   []*instanceData // indexed by instance number; nil while nothing is known
	due      observe.InstanceNo
	begun    bool          // see begins
	changing model.KindSet // the kinds of events that change keys or the custom status
}

// instanceData is the state that an instance is expected to have.
type instanceData struct {
	store, delta []model.KeyValue // sorted by key; in the delta, a row without a value is a tombstone
	status       *string
	version      uint64
}

func newStateChecker(m *check.Run) check.Checker {
	return &stateChecker{Base: check.Base{Run: m}, changing: m.Model.Kinds.Keys | m.Model.Kinds.SetOf(eventdata.KindCustomStatusUpdated)}
}

func (*stateChecker) Observes() check.Set[observe.Kind] {
	return check.SetOf(
		observe.KVSet, observe.KVRemoved, observe.CustomStatusSet, observe.InstanceRemoved,
	)
}

func (*stateChecker) Ends() check.Ends { return check.Ends{Any: check.AnyCall} }

// of returns an instance's entry. If there is none and wanted is true, it creates one.
func (k *stateChecker) of(no observe.InstanceNo, wanted bool) *instanceData {
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

func (k *stateChecker) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.KVSet, observe.KVRemoved, observe.CustomStatusSet:
		k.due = o.Instance
	case observe.InstanceRemoved:
		if !o.Undo && int(o.Instance) < len(k.states) {
			k.states[o.Instance] = nil
			k.due = o.Instance
		}
	}
}

func (k *stateChecker) Ended(c *model.Call, o *observe.Observation) {
	if !k.begun {
		k.begins()
	}
	if o.Outcome == observe.OutcomeOK || o.Outcome == observe.OutcomeNothing {
		switch c.Kind {
		case observe.CallAckOrchestrationItem:
			k.acked(c, o.Instance)
		case observe.CallFetchOrchestrationItem:
			k.delivered(c, o)
		case observe.CallGetKVValue, observe.CallGetCustomStatus:
			k.read(c, o)
		}
	}
	if k.due != 0 {
		k.compare(c, k.due)
		k.due = 0
	}
}

// acked applies the events in an ack that took effect.
func (k *stateChecker) acked(c *model.Call, no observe.InstanceNo) {
	ack := c.Request.Ack
	if ack == nil {
		return
	}
	if in := model.HeldBy(c); in != nil {
		no = in.No
	}
	if no == 0 {
		return // reported under S05
	}
	k.carries(c)
	d := k.of(no, c.Delta&k.changing != 0)
	if d == nil {
		return
	}
	updates := false
	for i := range ack.HistoryDelta {
		switch e := ack.HistoryDelta[i].Data.(type) {
		case eventdata.KeyValueSet:
			value := e.Value
			d.change(e.Key, &value, e.LastUpdatedAtMs)
		case eventdata.KeyValueCleared:
			d.change(e.Key, nil, 0)
		case eventdata.KeyValuesCleared:
			for _, r := range slices.Concat(d.store, d.delta) {
				d.change(r.Key, nil, 0)
			}
		case eventdata.CustomStatusUpdated:
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
}

// carries notices queue messages that cross a continue-as-new. The specification of a turn judges which.
func (k *stateChecker) carries(c *model.Call) {
	for _, w := range c.Request.Ack.OrchestratorItems {
		next, ok := w.(engine.ContinueAsNewItem)
		if !ok || c.Caller.Node == 0 || len(next.CarryForwardEvents) == 0 {
			continue
		}
		k.Run.Happened(check.FactCarried)
		if inc := k.Run.Model.Incarnation(c.Caller); inc != nil && len(next.CarryForwardEvents) == inc.Build.Bounds().CarriedEvents {
			k.Run.Happened(check.FactCarryLimit)
		}
	}
}

// change writes a row of the delta. A row without a value is a tombstone.
func (d *instanceData) change(key string, value *string, atMs uint64) {
	d.delta = putKV(d.delta, model.KeyValue{Key: key, Value: value, UpdatedMs: atMs})
}

func findKV(list []model.KeyValue, key string) (int, bool) {
	return slices.BinarySearchFunc(list, key, func(r model.KeyValue, key string) int { return cmp.Compare(r.Key, key) })
}

func putKV(list []model.KeyValue, r model.KeyValue) []model.KeyValue {
	i, had := findKV(list, r.Key)
	if had {
		list[i] = r
		return list
	}
	return slices.Insert(list, i, r)
}

// merge merges the delta into the stored keys, as happens at the end of an execution.
func (k *stateChecker) merge(d *instanceData) {
	k.Run.Happened(check.FactKVMerged)
	for _, r := range d.delta {
		if r.Value != nil {
			d.store = putKV(d.store, r)
			continue
		}
		if i, had := findKV(d.store, r.Key); had {
			k.Run.Happened(check.FactTombstoneMerged)
			d.store = slices.Delete(d.store, i, i+1)
		}
	}
	d.delta = nil
}

// view returns a key's value as clients see it.
func (d *instanceData) view(key string) *string {
	if d == nil {
		return nil
	}
	if i, had := findKV(d.delta, key); had {
		return d.delta[i].Value
	}
	if i, had := findKV(d.store, key); had {
		return d.store[i].Value
	}
	return nil
}

// delivered compares a delivery's snapshot with the state at the start of the execution, without the execution's own
// changes. If history_error is set, the snapshot may hold anything (F13).
func (k *stateChecker) delivered(c *model.Call, o *observe.Observation) {
	if o.Fetched == nil || o.Fetched.Item.HistoryError != "" {
		return
	}
	var want []model.KeyValue
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
		if !had || *want[i].Value != e.Value || want[i].UpdatedMs != e.LastUpdatedAtMs {
			k.report(c, o.Instance, fmt.Sprintf("handed out a snapshot with key %q = %q, expected what the last execution boundary left", e.Key, e.Value))
			return
		}
	}
}

// read compares a client's answer with the expected state.
func (k *stateChecker) read(c *model.Call, o *observe.Observation) {
	no := k.Run.Model.Number(c.Request.Instance)
	d := k.of(no, false)
	if c.Kind == observe.CallGetKVValue {
		if want := d.view(c.Request.Key); !model.SameText(o.Value, want) {
			k.report(c, no, fmt.Sprintf("returned key %q = %s, expected %s", c.Request.Key, model.TextOf(o.Value), model.TextOf(want)))
		}
		return
	}
	if o.Outcome != observe.OutcomeOK {
		return // it is unknown which version the caller has seen
	}
	if d == nil {
		d = &instanceData{}
	}
	if !model.SameText(o.Value, d.status) || o.Version != d.version {
		k.report(c, no, fmt.Sprintf("returned custom status %s, version %d, expected %s, version %d", model.TextOf(o.Value), o.Version, model.TextOf(d.status), d.version))
	}
}

// compare compares an instance's rows after a call with the expected ones. It reports each difference only once.
func (k *stateChecker) compare(c *model.Call, no observe.InstanceNo) {
	if seen := k.settle(no); seen != "" {
		k.report(c, no, "left "+seen)
	}
}

// settle describes how the rows of an instance differ from the expected ones, empty if they do not. From then on, it
// expects what they are.
func (k *stateChecker) settle(no observe.InstanceNo) (seen string) {
	have, d := &k.Run.Model.Instance(no).Values, k.of(no, false)
	if d == nil {
		if have.Empty() && have.CustomStatus == nil && have.CustomVersion == 0 {
			return ""
		}
		d = k.of(no, true)
	}
	switch {
	case !model.SameText(have.CustomStatus, d.status) || have.CustomVersion != d.version:
		seen = fmt.Sprintf("custom status %s, version %d, expected %s, version %d",
			model.TextOf(have.CustomStatus), have.CustomVersion, model.TextOf(d.status), d.version)
	case rowsDiffer(have.Delta, d.delta, false) != "":
		seen = "the key-value changes of the running execution wrong: " + rowsDiffer(have.Delta, d.delta, false)
	case rowsDiffer(have.Store, d.store, true) != "":
		seen = "the key-value state of the last execution boundary wrong: " + rowsDiffer(have.Store, d.store, true)
	default:
		return ""
	}
	d.status, d.version = have.CustomStatus, have.CustomVersion
	d.store, d.delta = slices.Clone(have.Store), slices.Clone(have.Delta)
	return seen
}

// rowsDiffer describes the first difference between two tables, or returns "" if there is none. A tombstone may have
// any time (F19).
func rowsDiffer(have, want []model.KeyValue, times bool) string {
	for _, w := range want {
		i, had := findKV(have, w.Key)
		switch {
		case !had:
			return fmt.Sprintf("key %q is missing, expected %s", w.Key, model.TextOf(w.Value))
		case !model.SameText(have[i].Value, w.Value):
			return fmt.Sprintf("key %q is %s, expected %s", w.Key, model.TextOf(have[i].Value), model.TextOf(w.Value))
		case (times || w.Value != nil) && have[i].UpdatedMs != w.UpdatedMs:
			return fmt.Sprintf("key %q has time %d, expected %d", w.Key, have[i].UpdatedMs, w.UpdatedMs)
		}
	}
	for _, h := range have {
		if _, had := findKV(want, h.Key); !had {
			return fmt.Sprintf("key %q is %s, expected no such row", h.Key, model.TextOf(h.Value))
		}
	}
	return ""
}

func (k *stateChecker) report(c *model.Call, no observe.InstanceNo, seen string) {
	k.Run.Safety("S17", c.Caller.Node, no, "%s by %s %s", c.Kind, k.Run.Who(c.Caller), seen)
}
