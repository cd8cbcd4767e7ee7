package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// filterChecker asks that the capability filter comes first: S01, S02, S03. It goes by the pin that the model knows, so
// it holds whatever a provider believes of pins.
type filterChecker struct {
	base
	// The last verdict, since a fetch asks for one instance many times.
	call     uint64
	instance engine.InstanceNo
	admits   bool
	// What was reported of the running call, so that one wrong fetch is one finding of each property.
	reported [4]uint64
}

func newFilterChecker(m *run) checker { return &filterChecker{base: base{m}} }

func (*filterChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{
		engine.ObsLockTaken, engine.ObsMessageMarked, engine.ObsCountChanged, engine.ObsEventDecoded, engine.ObsCallEnd,
	}
}

func (*filterChecker) records() []cluster.RecordKind { return nil }

func (f *filterChecker) observe(o *engine.Observation) {
	c := &f.m.store.current
	if c.id != o.Call || c.kind != engine.CallFetchOrchestrationItem || o.Call == 0 {
		return
	}
	if o.Kind == engine.ObsCallEnd {
		if o.Outcome == engine.OutcomeNothing {
			f.checkOffered(c, o.AtMs)
		}
		return
	}
	if f.call != o.Call || f.instance != o.Instance {
		f.call, f.instance = o.Call, o.Instance
		f.admits = c.request.Filter.Admits(f.m.store.instance(o.Instance).pin())
	}
	if !f.admits && !o.Undo {
		f.report(c, o)
	}
}

func (f *filterChecker) report(c *callState, o *engine.Observation) {
	pin := f.m.store.instance(o.Instance).pin()
	filter := c.request.Filter
	switch {
	case o.Kind == engine.ObsEventDecoded && f.once(2, o.Call):
		f.m.safety("S02", c.caller.Node, o.Instance,
			"%s fetched with the filter %s, and event %d of execution %d was decoded, although the pin is %s: expected the filter before any decoding",
			f.m.who(c.caller), filter, o.EventID, o.Execution, pinText(pin))
	case o.Kind == engine.ObsEventDecoded:
	case pin == nil && f.once(3, o.Call):
		f.m.safety("S03", c.caller.Node, o.Instance,
			"%s fetched with the empty filter, and the unpinned instance was touched (%s): expected nothing at all",
			f.m.who(c.caller), f.touched(o))
	case pin != nil && f.once(1, o.Call):
		f.m.safety("S01", c.caller.Node, o.Instance,
			"%s fetched with the filter %s, and %s, although the pin is %s: expected the instance to be left alone",
			f.m.who(c.caller), filter, f.touched(o), pinText(pin))
	}
}

// once is true at the first finding of a kind in a call.
func (f *filterChecker) once(kind int, call uint64) bool {
	if f.reported[kind] == call {
		return false
	}
	f.reported[kind] = call
	return true
}

func (f *filterChecker) touched(o *engine.Observation) string {
	switch o.Kind {
	case engine.ObsLockTaken:
		return "the lock was taken (token " + o.Token + ")"
	case engine.ObsMessageMarked:
		return "the " + itemText(f.m.store.row(o.Message)) + " was marked"
	}
	return "the " + itemText(f.m.store.row(o.Message)) + " was counted"
}

// checkOffered asks, when a fetch found nothing, that no unpinned work was ready. A fetch that dropped orphans or took
// something back may end with nothing (docs/contract/provider.md#f4).
func (f *filterChecker) checkOffered(c *callState, nowMs int64) {
	filter := c.request.Filter
	if filter != nil && len(filter.SupportedVersions) == 0 || c.undone || c.orphans > 0 {
		return
	}
	for _, in := range f.m.store.bare {
		if in.lock.live(nowMs) || !in.visible(nowMs) || !f.certain(in, nowMs) {
			continue
		}
		f.m.safety("S03", c.caller.Node, in.no,
			"%s fetched with the filter %s and got nothing, although the instance is unpinned and unlocked and has work queued (%d in all, the first %s): expected unpinned work to be offered",
			f.m.who(c.caller), filter, len(in.queue), itemText(in.queue[0]))
		return
	}
}

// certain says whether the contract leaves no doubt that the instance can be delivered: its context is known, not from
// damaged bytes, and not from a history whose execution has a pin.
func (f *filterChecker) certain(in *instanceState, nowMs int64) bool {
	if in.created {
		return true
	}
	if ex := in.latest(); ex != nil && ex.pin != nil {
		return false
	}
	for _, r := range in.queue {
		if r.damaged {
			return false
		}
	}
	return in.hasContext(f.m.store, nowMs)
}
