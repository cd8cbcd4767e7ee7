package safety

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// filterChecker checks rules S01, S02 and S03: the capability filter comes first. It uses the model's pins, so it does
// not depend on what the provider believes them to be.
type filterChecker struct {
	check.Base
	// The most recent verdict, cached because a fetch touches the same instance many times.
	call     uint64
	instance observe.InstanceNo
	admits   bool
	// The calls in which each property was last reported, so that a call is reported only once per property.
	reported [4]uint64
}

func newFilterChecker(m *check.Run) check.Checker {
	return &filterChecker{Base: check.Base{
		Run: m, OnObserve: check.SetOf(observe.LockTaken, observe.MessageMarked, observe.CountChanged, observe.EventDecoded),
		OnEnd: check.Ends{Nothing: check.SetOf(observe.CallFetchOrchestrationItem)},
	}}
}

func (f *filterChecker) Observe(o *observe.Observation) {
	c := &f.Run.Model.Current
	if c.ID != o.Call || c.Kind != observe.CallFetchOrchestrationItem {
		return
	}
	if f.call != o.Call || f.instance != o.Instance {
		f.call, f.instance = o.Call, o.Instance
		f.admits = model.Admits(c.Request.Filter, f.Run.Model.Instance(o.Instance).Pin())
	}
	if !f.admits && !o.Undo {
		f.report(c, o)
	}
}

func (f *filterChecker) report(c *model.Call, o *observe.Observation) {
	pin := f.Run.Model.Instance(o.Instance).Pin()
	filter := c.Request.Filter
	switch {
	case o.Kind == observe.EventDecoded && f.once(2, o.Call):
		f.Run.Safety("S02", c.Caller.Node, o.Instance,
			"%s fetched with the filter %s, and the store decoded event %d of execution %d, although the pin is %s%s: expected the filter before any decoding",
			f.Run.Who(c.Caller), filter, o.EventID, o.Execution, model.PinText(pin), firstCounts(filter))
	case o.Kind == observe.EventDecoded:
	case pin == nil && f.once(3, o.Call):
		f.Run.Safety("S03", c.Caller.Node, o.Instance,
			"%s fetched with the empty filter, and the unpinned instance was touched (%s): expected the store to touch nothing",
			f.Run.Who(c.Caller), f.touched(o))
	case pin != nil && f.once(1, o.Call):
		f.Run.Safety("S01", c.Caller.Node, o.Instance,
			"%s fetched with the filter %s, and %s, although the pin is %s%s: expected the instance to be left alone",
			f.Run.Who(c.Caller), filter, f.touched(o), model.PinText(pin), firstCounts(filter))
	}
}

// firstCounts says which of a filter's ranges is compared with a pin, if there are several.
func firstCounts(filter *engine.CapabilityFilter) string {
	if filter == nil || len(filter.SupportedVersions) < 2 {
		return ""
	}
	return " (of several ranges only the first counts)"
}

// once returns true the first time that it is called for this kind of violation in this call.
func (f *filterChecker) once(kind int, call uint64) bool {
	if f.reported[kind] == call {
		return false
	}
	f.reported[kind] = call
	return true
}

func (f *filterChecker) touched(o *observe.Observation) string {
	switch o.Kind {
	case observe.LockTaken:
		return "the lock was taken (token " + o.Token + ")"
	case observe.MessageMarked:
		return "the " + model.ItemText(f.Run.Model.Row(o.Message)) + " was marked"
	}
	return "the " + model.ItemText(f.Run.Model.Row(o.Message)) + " was counted"
}

// Ended checks that if a fetch found nothing, no unpinned work was ready. A fetch that dropped orphans or undid
// something may return nothing (docs/contract/provider.md#f4).
func (f *filterChecker) Ended(c *model.Call, o *observe.Observation) {
	nowMs := o.AtMs
	filter := c.Request.Filter
	if filter != nil && len(filter.SupportedVersions) == 0 || c.Undone || c.Orphans > 0 {
		return
	}
	for _, in := range f.Run.Model.Bare {
		if in.Lock.Live(nowMs) || !in.Visible(nowMs) || !f.certain(in, nowMs) {
			continue
		}
		f.Run.Safety("S03", c.Caller.Node, in.No,
			"%s fetched with the filter %s and got nothing, although the instance is unpinned and unlocked and has work queued (%d in all, the first %s): expected unpinned work to be offered",
			f.Run.Who(c.Caller), filter, len(in.Queue), model.ItemText(in.Queue[0]))
		return
	}
}

// certain reports whether the contract requires the instance to be deliverable. It requires that only if the context
// comes neither from damaged bytes nor from a history whose execution has a pin.
func (f *filterChecker) certain(in *model.Instance, nowMs int64) bool {
	if in.Created {
		return true
	}
	if ex := in.Latest(); ex != nil && ex.Pin != nil {
		return false
	}
	for _, r := range in.Queue {
		if r.Damaged {
			return false
		}
	}
	return in.HasContext(f.Run.Model, nowMs)
}
