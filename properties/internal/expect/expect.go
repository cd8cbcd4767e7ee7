package expect

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/arena"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// ID is the property id for reporting violated expectations.
const ID = "expect"

// Checker checks a run against its scenario's expectations. Package track reports facts to it as they happen.
type Checker struct {
	check.Base
	track.NopListener
	live  *track.State
	items []expectItem
	part  string
	// active holds the indices of the current part's expectations, in order, for each event.
	active  [events][]int
	asked   [events]attrSet // the attributes that these ask for
	numbers *arena.Of[int]
	// kindsAsked holds the kinds of events that the current part's expectations can apply to, as far as kindsKnown says
	// that this has been found out.
	kindsKnown, kindsAsked model.KindSet
	fact                   fact // reused
	pins                   []known[engine.Version]
	builds                 []known[engine.Build]
	// upDue is set until the facts "up" and "node" have been emitted for the current part. That happens once the nodes
	// affected by the part's first steps have settled.
	upDue   bool
	upAtMs  int64
	upWaits []uint32 // the nodes that must settle first; upVerbs has the verbs of their steps
	upVerbs []plan.Verb
}

// expectItem is an expectation and its state so far.
type expectItem struct {
	plan.Expectation
	where, has []condition
	seen       uint64
}

func New(m *check.Run, s *track.State, list []plan.Expectation) *Checker {
	c := &Checker{Base: check.Base{Run: m}, live: s, items: arena.From[expectItem](m.Arena).Make(len(list)), numbers: arena.From[int](m.Arena)}
	memory := arena.From[condition](m.Arena)
	conditions := func(attrs []plan.Attr) []condition {
		made := memory.Make(len(attrs))
		for _, a := range attrs {
			made = append(made, newCondition(a))
		}
		return made
	}
	for _, e := range list {
		c.items = append(c.items, expectItem{Expectation: e, where: conditions(e.Where), has: conditions(e.Has)})
	}
	c.OnRecord, c.OnObserve, c.Due = check.SetOf(record.Scheduled, record.PhaseBegan), check.SetOf(observe.StatusSet), &c.upDue
	if c.ever(eventLock) {
		c.OnObserve |= check.SetOf(observe.LockTaken)
	}
	if c.ever(eventDecode) {
		c.OnObserve |= check.SetOf(observe.EventDecoded)
	}
	c.activate()
	s.Subscribe(c)
	return c
}

// ever reports whether any part has an expectation about the event.
func (c *Checker) ever(e event) bool {
	return slices.ContainsFunc(c.items, func(item expectItem) bool { return item.Event == eventNames[e] })
}

// wants reports whether the current part has an expectation about the event.
func (c *Checker) wants(e event) bool { return len(c.active[e]) > 0 }

// concerned returns the kinds of events in a set that any active expectation can apply to. Other events need no fact.
func (c *Checker) concerned(kinds model.KindSet) model.KindSet {
	for rest := kinds &^ c.kindsKnown; rest != 0; rest &= rest - 1 {
		no := model.KindNo(bits.TrailingZeros64(uint64(rest)))
		c.kindsKnown |= model.MaskOf(no)
		if c.anyConcerns(c.kind(no)) {
			c.kindsAsked |= model.MaskOf(no)
		}
	}
	return kinds & c.kindsAsked
}

func (c *Checker) anyConcerns(kind value) bool {
next:
	for _, i := range c.active[eventEvent] {
		for k := range c.items[i].where {
			if w := &c.items[i].where[k]; w.attr == attrKind && !w.allows(kind) {
				continue next
			}
		}
		return true
	}
	return false
}

// activate finds the current part's expectations.
func (c *Checker) activate() {
	c.kindsKnown, c.kindsAsked = 0, 0
	for i := range c.active {
		c.active[i], c.asked[i] = c.active[i][:0], 0
	}
	for i := range c.items {
		item := &c.items[i]
		if item.In != "" && item.In != c.part {
			continue
		}
		e := slices.Index(eventNames[:], item.Event)
		c.active[e] = c.numbers.Append(c.active[e], i)
		for k := range item.where {
			c.asked[e] |= 1 << item.where[k].attr
		}
		for k := range item.has {
			c.asked[e] |= 1 << item.has[k].attr
		}
	}
}

// begin starts building a fact about an event of a node, or of none. emit then judges the fact.
func (c *Checker) begin(e event, node uint32) *fact {
	f := &c.fact
	f.event, f.node, f.no, f.atMs, f.has, f.open, f.named, f.detail = e, node, 0, 0, 0, 0, f.named[:0], ""
	return f
}

func (c *Checker) emit() {
	f := &c.fact
	asked := c.asked[f.event]
	c.derive(f, asked&f.open)
	for rest := asked &^ f.has; rest != 0; rest &= rest - 1 {
		f.values[bits.TrailingZeros32(uint32(rest))] = value{} // does not apply to this fact
	}
next:
	for _, i := range c.active[f.event] {
		e := &c.items[i]
		for k := range e.where {
			if !e.where[k].holds(f) {
				continue next
			}
		}
		e.seen++
		switch e.Mode {
		case plan.ModeNever:
			c.report(e, f, "it must never happen")
		case plan.ModeAlways:
			for k := range e.has {
				if h := &e.has[k]; !h.holds(f) {
					c.report(e, f, fmt.Sprintf("expected %s, but it is %s", h.Attr, h.of(f).text))
					break
				}
			}
		}
	}
}

func (c *Checker) report(e *expectItem, f *fact, why string) {
	part := ""
	if c.part != "" {
		part = fmt.Sprintf(" in part %q", c.part)
	}
	c.Run.Violate(check.Breach{
		Property: ID, Class: cluster.ClassPlan, Node: f.node, Instance: f.no, AtMs: f.atMs, Expectation: e.Text,
		Message: fmt.Sprintf("scenario line %d, %q: %s. Seen%s: %s", e.Line, e.Text, why, part, c.text(f)),
	})
}

// Points returns a point for each sometimes that was fulfilled, and each always that something matched.
func (c *Checker) Points() []cluster.Point {
	var list []cluster.Point
	for i := range c.items {
		if e := &c.items[i]; e.Mode != plan.ModeNever && e.seen > 0 {
			list = append(list, cluster.Point{Name: e.PointName(), Count: e.seen})
		}
	}
	return list
}

func (c *Checker) Record(r *cluster.Record) {
	if r.Kind == record.PhaseBegan {
		if r.Phase == cluster.PhaseFaults {
			c.beginPart("", r.AtMs)
		}
		return
	}
	step := r.Schedule
	if step.Mark != "" {
		c.beginPart(step.Mark, r.AtMs)
	}
	if c.upDue && r.AtMs == c.upAtMs && r.Node != 0 {
		c.upWaits = append(c.upWaits, r.Node)
		c.upVerbs = append(c.upVerbs, step.Verb)
	}
}

// beginPart begins a part of the story. The part's facts "up" and "node" are emitted once the nodes affected by its
// first steps have settled.
func (c *Checker) beginPart(part string, atMs int64) {
	if c.upDue {
		c.up()
	}
	c.part = part
	c.activate()
	c.upDue, c.upAtMs = c.wants(eventUp) || c.wants(eventNode), atMs
	c.upWaits, c.upVerbs = c.upWaits[:0], c.upVerbs[:0]
	if part == "" { // at the start of the run, every node comes up unless it is absent or starts later
		for i := range c.live.Plan.Nodes {
			if !c.live.Plan.Nodes[i].Absent && !c.live.Plan.StartsLater(c.live.Plan.Nodes[i].Name) {
				c.upWaits = append(c.upWaits, uint32(i+1))
				c.upVerbs = append(c.upVerbs, plan.VerbStart)
			}
		}
	}
}

// AfterStep emits the facts "up" and "node" once the nodes have settled.
func (c *Checker) AfterStep() {
	for i, number := range c.upWaits {
		n := c.live.Node(number)
		if n == nil {
			continue
		}
		settled := true
		switch c.upVerbs[i] {
		case plan.VerbStop, plan.VerbRemove, plan.VerbCrash:
			settled = !n.Up
		case plan.VerbStart, plan.VerbAdd, plan.VerbUpgrade, plan.VerbRollback, plan.VerbWiden, plan.VerbNarrow:
			settled = n.Up && !n.Draining && n.StartedMs >= c.upAtMs
		}
		if !settled {
			return
		}
	}
	c.up()
}

func (c *Checker) Finish() {
	if c.upDue {
		c.up()
	}
}

// up emits the facts "up", with the number of nodes that are up per build, and "node", with the state of each node.
func (c *Checker) up() {
	c.upDue = false
	c.eachNode()
	f := c.begin(eventUp, 0)
	total := 0
	for _, b := range c.Run.World.Builds() {
		count := 0
		for i := range c.live.Nodes {
			if n := &c.live.Nodes[i]; n.Up && !n.Draining && n.Build == b {
				count++
			}
		}
		total += count
		f.addNamed(b.Name(), value{text: strconv.Itoa(count)})
	}
	f.addNamed("total", value{text: strconv.Itoa(total)})
	c.emit()
}
