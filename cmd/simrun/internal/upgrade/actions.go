package upgrade

import (
	"fmt"
	"slices"
	"strings"
)

// Action is something that the operator should do.
type Action struct {
	// Step is the step before which to do it, counted from 1. It is one more than the number of steps if it is to be done
	// after all, and 0 if it is to be done in any case.
	Step int    `json:"step"`
	Do   string `json:"do"`
	// Instances lists the instances of the store that it is about.
	Instances []string `json:"instances,omitempty"`
}

// Actions lists what to do, in the order of the steps, so that the plan loses and strands nothing: from the hazards, which
// are about the store, and from the runs. It is empty if each step can be taken and taken back as the plan stands.
func (r *Report) Actions() []Action {
	var list []Action
	add := func(step int, about []Hazard, format string, args ...any) {
		a := Action{Step: step, Do: fmt.Sprintf(format, args...)}
		for i := range about {
			a.Instances = append(a.Instances, about[i].Instance)
		}
		list = append(list, a)
	}
	for _, g := range grouped(r.Hazards) {
		h := &g[0]
		names := fmt.Sprintf("%s: %s", instances(uint64(len(g))), who(g))
		switch {
		case h.Poisoned:
			add(h.Step, g, "wait until it has ended, or cancel it; a node would take it, fail to read %s, and poison it. %s", h.Kind, names)
		case h.Until < 0 && h.Step == 0:
			add(0, g, "start %s, or cancel what no node takes now. %s", h.Needs, names)
		case h.Until < 0:
			add(h.Step, g, "wait until it has ended, or cancel it, or keep %s up until then. %s", h.Needs, names)
		}
	}
	example := func(c Count) string {
		return fmt.Sprintf("up to %s, such as %s (pin %s, seed %d)", instances(c.Most), c.Example, c.Pin, c.ExampleSeed)
	}
	if !r.Tried() {
		return list
	}
	last := len(r.Steps)
	if c := r.End.Lost; c.Total > 0 {
		add(0, nil, "change the plan: it loses %s: %s", example(c), c.Why)
	}
	switch c := r.Stops[0].Stranded; {
	case c.Total == 0:
	case c.Total > r.Stops[last].Stranded.Total:
		add(0, nil, "do not put the plan off: until it is carried out nothing takes %s", example(c))
	default:
		add(0, nil, "start a node that takes pin %s: nothing takes %s, whatever the plan does", c.Pin, example(c))
	}
	if k := r.NoReturn; k > 0 {
		back := r.Backs[k]
		what, way := "loses "+example(back.Lost), ""
		if c := back.Stranded; c.Total > r.Stops[0].Stranded.Total {
			what, way = "strands "+example(c), fmt.Sprintf("; to go back all the same, keep a node that takes pin %s up until such work has ended", c.Pin)
		}
		add(k, nil, "decide whether to go on: going back after it %s%s", what, way)
	}
	if len(r.Stops) > last && last > 0 {
		for k := 1; k < last; k++ {
			if c := r.Stops[k].Stranded; c.Total > r.Stops[0].Stranded.Total && c.Total > r.Stops[last].Stranded.Total {
				add(k+1, nil, "do not stop here: without this step %s would wait for ever", example(c))
			}
		}
		if c := r.Stops[last].Stranded; c.Total > 0 && len(r.Hazards) == 0 {
			add(last+1, nil, "keep a node that takes pin %s up until such work has ended: the plan strands %s", c.Pin, example(c))
		}
	}
	slices.SortStableFunc(list, func(a, b Action) int { return a.Step - b.Step })
	return list
}

// actions writes the list of what to do.
func (r *Report) actions(b *strings.Builder) {
	if len(r.Steps) == 0 || !r.Tried() {
		return
	}
	b.WriteString("\nwhat to do:\n")
	list := r.Actions()
	if len(list) == 0 {
		b.WriteString("  take the steps; each can be taken back\n")
	}
	for _, a := range list {
		when := "first"
		switch {
		case a.Step > len(r.Steps):
			when = "after the last step"
		case a.Step > 0:
			when = fmt.Sprintf("before %d %s", a.Step, r.Steps[a.Step-1].String())
		}
		fmt.Fprintf(b, "  %s: %s\n", when, a.Do)
	}
}
