package upgrade

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/timeline"
)

// Action is something that the operator should do.
type Action struct {
	// Step is the step before which to do it, counted from 1. It is one more than the number of steps if it is to be done
	// after all, and 0 if it is to be done in any case.
	Step int    `json:"step"`
	Do   string `json:"do"`
	// Instances lists all instances of the store that it is about.
	Instances []string `json:"instances,omitempty"`
}

// Actions lists what to do, in the order of the steps, so that the plan loses and strands nothing: from the hazards, which
// are about the store, and from the runs. It is empty if each step can be taken and taken back as the plan stands.
func (r *Report) Actions() []Action {
	var list []Action
	var add adding = func(step int, stored []string, format string, args ...any) {
		list = append(list, Action{step, fmt.Sprintf(format, args...), r.Store.Alike(stored)})
	}
	r.avoid(add)
	example := func(c Count) string {
		text := c.upTo()
		if all := r.Store.Alike(c.stored); len(all) > 0 {
			text += fmt.Sprintf("; of the store in any run %s: %s", instances(uint64(len(all))), names(all, len(all)))
		}
		return text
	}
	if !r.Tried() {
		return list
	}
	last := len(r.Steps)
	for _, p := range r.Whole.Properties {
		if p.Class != cluster.ClassPlan && (r.Store == nil || len(r.Store.Problems) == 0) {
			add(0, nil, "change the plan or its builds: its run with seed %d violates %s", p.First.Seed, p.Property)
		}
		if what := p.First.Expectation; what != "" {
			add(0, nil, "change the plan, or what it expects: %q is not met in %d of %s", what, p.Seeds, pretty.Plural(r.End.Seeds, "seed", "seeds"))
		}
	}
	for _, g := range r.Whole.Fate.Remarks {
		if at := slices.IndexFunc(r.Steps, func(s plan.Step) bool { return s.Verb == plan.VerbActivate }); g.Kind == cluster.RemarkActivation && at >= 0 {
			add(at+1, nil, "see that every node is ready: the activation never takes place in %d of %s (%s)", g.Count, pretty.Plural(r.End.Seeds, "seed", "seeds"), g.About)
		}
	}
	lost, why := r.End.fresh.Lost, []string(nil)
	if r.Down {
		why = append(why, "no node is up after its last step, and all that has not ended by then waits until somebody starts one")
	}
	if lost.Total > 0 {
		why = append(why, "it loses "+example(lost))
		if !r.Down {
			why[0] += ". The reason: " + lost.Why
		}
	}
	if len(why) > 0 {
		add(0, lost.stored, "change the plan: %s", strings.Join(why, "; "))
	}
	switch c := r.Stops[0].Stranded; {
	case c.Total == 0:
	case slices.ContainsFunc(r.Stops, func(e Effect) bool { return e.Stranded.Total < c.Total }):
		add(0, c.stored, "do not put the plan off: until it is carried out nothing takes %s", example(c))
	default:
		add(0, c.stored, "start a node that takes pin %s: whatever the plan does, nothing takes %s", c.Pin, example(c))
	}
	if k := r.NoReturn; k > 0 {
		c, what := r.Backs[k].fresh.worst()
		way := ""
		if what == "strands" && !r.Schemas {
			way = fmt.Sprintf(". To go back all the same, keep a node that takes pin %s up until such work has ended", c.Pin)
		}
		var why []string
		if r.Barred != "" {
			why, way = append(why, r.Barred), ""
		}
		if c.Total > 0 {
			why = append(why, fmt.Sprintf("that %s %s%s", what, example(c), way))
		}
		far := ""
		if r.Kept > 0 {
			far = " further than to " + r.keptText()
		}
		add(k, c.stored, "decide whether to go on, and do not go back%s after it: %s", far, strings.Join(why, "; "))
		if s := r.Sooner; s != nil {
			c, what := s.Back.fresh.worst()
			add(s.Step, c.stored, "decide as well: going back %s after it %s %s", pretty.Duration(s.StayMs), what, example(c))
		}
	}
	if len(r.Stops) > last && last > 0 {
		for k := 1; k < last; k++ {
			stop, end := &r.Stops[k].fresh, &r.Stops[last].fresh
			if c := stop.Stranded; c.Total > end.Stranded.Total {
				add(k+1, c.stored, "do not stop here: without this step %s would wait for ever", example(c))
			}
			if c := stop.Lost; c.Total > end.Lost.Total {
				add(k+1, c.stored, "do not stop here: without this step %s would be lost: %s", example(c), c.Why)
			}
		}
		left := func(k int) Count { return r.Stops[k].fresh.Stranded }
		if left(last).Total == 0 { // what a step frees, a later one can strand again
			left = func(k int) Count { return r.Stops[k].Stranded }
		}
		k := last
		for k > 0 && left(k-1).Total > 0 {
			k--
		}
		if c := left(last); c.Total > 0 && k > 0 && (len(r.Hazards) == 0 || uint64(len(c.stored)) < c.Most) {
			c.stored = slices.DeleteFunc(slices.Clone(c.stored), func(id string) bool { // what has an advice of its own
				return slices.ContainsFunc(r.Hazards, func(h Hazard) bool { return h.Instance == id })
			})
			do := fmt.Sprintf("keep a node that takes pin %s up until such work has ended", c.Pin)
			if r.ends(k) {
				do = "wait until such work has ended, or cancel it"
			}
			add(k, c.stored, "%s: from this step on the plan strands %s", do, example(c))
		}
	}
	slices.SortStableFunc(list, func(a, b Action) int { return a.Step - b.Step })
	return list
}

// ends reports whether no node that a step ends can start again after it.
func (r *Report) ends(step int) bool { return r.Barred != "" && step == r.NoReturn }

// adding adds an action before a step, about instances of the store.
type adding func(step int, stored []string, format string, args ...any)

// avoid adds what keeps the hazards away, the same for several of them once.
func (r *Report) avoid(add adding) {
	type advice struct {
		step  int
		do    string
		ids   []string
		about []string
	}
	var all []advice
	for _, g := range grouped(r.Hazards) {
		h := &g[0]
		var finite, endless []string
		for i := range g {
			if g[i].loops {
				endless = append(endless, g[i].Instance)
			} else {
				finite = append(finite, g[i].Instance)
			}
		}
		say := func(ids []string, format string, args ...any) {
			if len(ids) == 0 {
				return
			}
			do, alike := fmt.Sprintf(format, args...), r.Store.Alike(ids)
			a := entry(&all, func(a advice) bool { return a.step == h.Step && a.do == do }, advice{step: h.Step, do: do})
			a.ids = append(a.ids, ids...)
			a.about = append(a.about, fmt.Sprintf("%s (pin %s): %s", instances(uint64(len(alike))), h.Pin, names(alike, len(alike))))
		}
		bad, keep := "", ", or keep "+h.Needs+" up until then"
		if h.Poisoned {
			bad, keep = fmt.Sprintf("; a node takes them, %s, and poisons them", h.fails()), ""
		} else if r.ends(h.Step) {
			keep = ""
		}
		switch both := append(finite, endless...); {
		case h.damaged:
			if h.Step == 0 {
				say(both, "repair the histories of these, or delete them: no build reads them, and a node that takes them poisons them")
			}
		case h.Until < 0 && h.Step == 0 && !h.Poisoned:
			say(both, "start %s, or delete what no node takes now", h.Needs)
		case h.Poisoned && h.Step == 0:
			say(both, "keep these from a node that %s and poisons them: start %s instead, or delete them", h.fails(), h.Needs)
		case h.Until < 0 || h.Poisoned:
			say(finite, "wait until these have ended, or cancel them%s%s", keep, bad)
			say(endless, "cancel or finish these, which go on for ever%s%s", keep, bad)
		}
	}
	for _, a := range all {
		add(a.step, a.ids, "%s. %s", a.do, strings.Join(a.about, "; "))
	}
}

// WriteActions writes what to do, one line for each instance: the step before which to do it, what, and the instance, or
// nothing if it is about none of the store, separated by tabs.
func (r *Report) WriteActions(w io.Writer) error {
	for _, a := range r.Actions() {
		about := a.Instances
		if len(about) == 0 {
			about = []string{""}
		}
		for _, in := range about {
			if _, err := fmt.Fprintf(w, "%d\t%s\t%s\n", a.Step, pretty.Escaped(a.Do), pretty.Escaped(in)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ActionTable returns the list of what to do.
func (r *Report) ActionTable() timeline.Table {
	t := timeline.Table{Title: "What to do", Open: true}
	if len(r.Steps) == 0 || !r.Tried() {
		return t
	}
	for _, a := range r.Actions() {
		when := "first"
		switch {
		case a.Step > len(r.Steps):
			when = "after the last step"
		case a.Step > 0:
			when = fmt.Sprintf("before %d %s", a.Step, r.Steps[a.Step-1].String())
		}
		t.Row(false, when, a.Do)
	}
	switch {
	case len(t.Rows) > 0:
	case r.Store != nil && len(r.Store.Problems) > 0:
		t.Row(false, "first", "repair what standard error names, and plan again: for the rest, each step can be taken, and taken back")
	default:
		t.Row(false, "take the steps; each can be taken back")
	}
	return t
}
