package upgrade

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/plan"
)

// Hazard is an instance in the store that, after some step, no node admits or a node that admits it cannot read. It stands
// for as many as Alike says.
type Hazard struct {
	Instance      string `json:"instance"`
	Alike         int    `json:"alike"`
	Orchestration string `json:"orchestration"`
	Pin           string `json:"pin"`
	// Kind is the event kind that cannot be read. If no node admits the instance's pin, Kind is empty. Began is the version
	// in its history if the range of a node that takes its pin, or that it has none, excludes that.
	Kind  string `json:"kind"`
	Began string `json:"began,omitempty"`
	// Step is the number of steps taken before the hazard appears; 0 means that it exists in the present cluster. After
	// is the last of those steps.
	Step  int    `json:"step"`
	After string `json:"after"`
	// Until is the first step after which the hazard is gone, or -1 if it lasts to the end.
	Until int `json:"until"`
	// Poisoned is set if a node admits the instance but cannot read it, so that the instance ends as poison. If not
	// set, the instance waits.
	Poisoned bool `json:"poisoned"`
	// Needs names the builds that could run the instance.
	Needs string `json:"needs"`

	loops   bool // it goes on until it is cancelled
	damaged bool // its history is not what any build writes
}

// text describes the hazard in one line. who lists the affected instances.
func (h *Hazard) text(who string) string {
	what := "waits: no node admits it"
	if h.Poisoned {
		what = "would be poisoned: a node admits it and " + h.fails()
	} else if h.Began != "" {
		what = "waits: a node admits it and gives it back, since it " + h.fails()
	} else if h.Kind != "" {
		what = fmt.Sprintf("waits: who reads %s does not admit it", h.Kind)
	}
	from := "from the beginning"
	if h.Step > 0 {
		from = fmt.Sprintf("from step %d, %s,", h.Step, h.After)
	}
	until := " to the end"
	if h.Until >= 0 {
		until = fmt.Sprintf(" to step %d", h.Until)
	}
	return fmt.Sprintf("%s %s%s %s; needs %s", who, from, until, what, h.Needs)
}

// fails says why a node that admits the instance poisons it.
func (h *Hazard) fails() string {
	if h.Began != "" {
		return "does not replay what " + h.Began + " began"
	}
	return "does not read " + h.Kind
}

// same reports whether h and o are equal except for their instance.
func (h *Hazard) same(o *Hazard) bool {
	return h.Pin == o.Pin && h.Kind == o.Kind && h.Began == o.Began && h.Step == o.Step && h.Until == o.Until && h.Poisoned == o.Poisoned && h.Needs == o.Needs
}

// preflight finds, after each step, the running instances in the store that no node can run.
func preflight(p *plan.Plan, builds []*engine.Build, store *Snapshot) []Hazard {
	if p.Contents == nil {
		return nil
	}
	all := Steps(p)
	var states []state
	for n := 0; n <= len(all); n++ {
		states = append(states, stateAfter(p, all[:n], builds))
	}
	var named []string
	for _, st := range slices.Concat(states...) {
		named = append(named, st.build)
	}
	for i := range p.Builds {
		named = append(named, p.Builds[i].Name)
	}
	var found []Hazard
	for i := range p.Contents.Instances {
		in := &p.Contents.Instances[i]
		var open *Hazard
		for n, st := range states {
			h := hazard(in, st, builds, named)
			if open != nil && (h == nil || h.Kind != open.Kind || h.Poisoned != open.Poisoned) {
				open.Until = n
				found = append(found, *open)
				open = nil
			}
			if h != nil && open == nil {
				open, h.Step, h.Until, h.Alike = h, n, -1, store.Weight(h.Instance)
				h.loops = store != nil && store.ends[h.Instance] == plan.EndEternal
				if n > 0 {
					h.After = all[n-1].String()
				}
			}
		}
		if open != nil {
			found = append(found, *open)
		}
	}
	rank := func(h Hazard) int { // lost work comes before waiting work, and what lasts before what does not
		switch {
		case h.Poisoned:
			return 0
		case h.Until < 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(found, func(a, b Hazard) int { return rank(a) - rank(b) })
	return found
}

// hazard explains why no node in state st can run instance in. It returns nil if a node can.
func hazard(in *memprovider.PreloadedInstance, st state, builds []*engine.Build, named []string) *Hazard {
	x := Current(in)
	h := &Hazard{Instance: in.Instance, Orchestration: in.Orchestration, Pin: PinText(x.Pin)}
	for _, n := range st {
		if !n.up || n.runs == nil || x.Pin != nil && !n.admits.Contains(*x.Pin) {
			continue
		}
		if kind := unread(x, n.runs); kind != "" {
			h.Poisoned, h.Kind = true, kind
			continue
		}
		if v := stampOf(x, n.runs); v != nil && !n.admits.Contains(*v) {
			h.Poisoned, h.Began = h.Poisoned || x.Pin == nil, v.String()
			continue
		}
		return nil
	}
	h.Needs = needs(x, builds, named)
	if h.damaged = slices.ContainsFunc(x.Events, func(e memprovider.PreloadedEvent) bool { return e.Damaged }); h.damaged {
		h.Needs = "a repair of its history, which no build reads"
	}
	return h
}

// stampOf returns the version in x's history, which a node of build b compares with its range (docs/contract/runtime.md#r5.1),
// or nil. Only in a store that was repaired by hand is the pin another.
func stampOf(x *memprovider.PreloadedExecution, b *engine.Build) *engine.Version {
	if len(x.Events) == 0 {
		return nil
	}
	first, err := b.Codec.DecodeEvent(x.Events[0].Data)
	v, err2 := engine.ParseVersion(first.DuroxideVersion)
	if errors.Join(err, err2) != nil {
		return nil
	}
	v = v.Triple()
	return &v
}

// unread returns the first event kind in x's history that b cannot read, or "" if b can read them all.
func unread(x *memprovider.PreloadedExecution, b *engine.Build) string {
	for _, e := range x.Events {
		if _, err := b.Codec.DecodeEvent(e.Data); err != nil {
			if e.Kind != "" && !b.Codec.Kinds().Has(e.Kind) {
				return string(e.Kind)
			}
			return fmt.Sprintf("event %d", e.ID)
		}
	}
	return ""
}

// needs lists the named builds that, by default, admit and read x.
func needs(x *memprovider.PreloadedExecution, builds []*engine.Build, named []string) string {
	var names []string
	for _, b := range builds {
		admits := func(v *engine.Version) bool { return v == nil || b.DefaultRange.Contains(*v) }
		if slices.Contains(named, b.Name()) && admits(x.Pin) && admits(stampOf(x, b)) && unread(x, b) == "" {
			names = append(names, b.Name())
		}
	}
	if len(names) == 0 {
		return "a build that this plan does not name"
	}
	return "a node that runs " + strings.Join(names, " or ")
}
