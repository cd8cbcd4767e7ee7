package track

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
)

func (s *State) onPin(o *observe.Observation) {
	s.allAdmitted = s.allAdmitted[:0]
	if o.Pin != nil && !slices.ContainsFunc(s.pins, func(p *engine.Version) bool { return *p == *o.Pin }) {
		s.pins = append(s.pins, o.Pin)
	}
}

// passedOver reports, at the end of a node's fetch, the instances that the fetch's filter excluded, if a listener asks
// for them. It is cheap as long as the filter admits every known pin.
func (s *State) passedOver(call *model.Call, o *observe.Observation) {
	if o.Caller.Node == 0 || s.admitsAll(call.Request.Filter) {
		return
	}
	most := PassNone
	for _, l := range s.listeners {
		most = max(most, l.Passes())
	}
	if most == PassNone {
		return
	}
	for _, in := range s.Run.Model.Instances[1:] {
		if len(in.Queue) == 0 || in.Locked(o.AtMs) {
			continue
		}
		if pin := in.Pin(); pin == nil || model.Admits(call.Request.Filter, pin) || !in.Visible(o.AtMs) {
			continue
		}
		for _, l := range s.listeners {
			l.OnPassed(o.Caller, in)
		}
		if most == PassFirst {
			return
		}
	}
}

// admitsAll reports whether a filter admits every pin that has ever been set.
func (s *State) admitsAll(f *engine.CapabilityFilter) bool {
	for i := range s.allAdmitted {
		if s.allAdmitted[i].filter == f {
			return s.allAdmitted[i].all
		}
	}
	all := !slices.ContainsFunc(s.pins, func(p *engine.Version) bool { return !model.Admits(f, p) })
	if len(s.allAdmitted) < admittedMost {
		s.allAdmitted = append(s.allAdmitted, admitted{f, all})
	}
	return all
}

// admitted says whether a filter admits every pin so far. Nodes use the same filter for all their fetches.
type admitted struct {
	filter *engine.CapabilityFilter
	all    bool
}

// admittedMost limits how many filters are remembered; a search through more would cost as much as it saves.
const admittedMost = 8
