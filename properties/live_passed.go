package properties

import (
	"slices"

	"github.com/durosim/durosim/engine"
)

// onPin remembers a pin.
func (s *liveState) onPin(o *engine.Observation) {
	if o.Pin != nil && !slices.ContainsFunc(s.pins, func(p *engine.Version) bool { return *p == *o.Pin }) {
		s.pins = append(s.pins, o.Pin)
	}
}

// passedOver tells, at the end of a node's fetch, what its filter passed over, as far as anybody asks. It is cheap while
// the filter admits every pin that there is.
func (s *liveState) passedOver(o *engine.Observation) {
	if o.CallKind != engine.CallFetchOrchestrationItem || o.Outcome > engine.OutcomeNothing || o.Caller.Node == 0 {
		return
	}
	call := s.m.store.call(o.Call)
	if call == nil || s.admitsAll(call.request.Filter) {
		return
	}
	most := passNone
	for _, l := range s.listeners {
		most = max(most, l.passes())
	}
	if most == passNone {
		return
	}
	for no := 1; no <= s.m.store.instanceCount(); no++ {
		in := s.m.store.instance(engine.InstanceNo(no))
		if len(in.queue) == 0 || in.pin() == nil || call.request.Filter.Admits(in.pin()) || in.locked(o.AtMs) || !in.visible(o.AtMs) {
			continue
		}
		for _, l := range s.listeners {
			l.onPassed(o.Caller, in)
		}
		if most == passFirst {
			return
		}
	}
}

// admitsAll says whether a filter admits every pin that was seen.
func (s *liveState) admitsAll(f *engine.CapabilityFilter) bool {
	for _, p := range s.pins {
		if !f.Admits(p) {
			return false
		}
	}
	return true
}
