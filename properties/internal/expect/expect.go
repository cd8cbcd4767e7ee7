package expect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/facts"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/internal/slab"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// ID is the property that expectations are reported under.
const ID = "expect"

// Checker checks a run against the expectations of its scenario. Package track reports facts to it as they happen.
type Checker struct {
	check.Base
	track.Deaf
	live  *track.State
	items []expectItem
	part  string
	// active holds the expectations of the present part, by event.
	active  []activeItems
	numbers *slab.Slab[int]
	event   event // reused
	pins    map[engine.Version]string
	builds  []namedBuild
	// upDue is set until the facts "up" and "node" of the part have been emitted, which happens once the nodes that
	// its first steps touch have settled.
	upDue   bool
	upAtMs  int64
	upWaits []uint32 // nodes that have to settle first; upVerbs holds the verbs of the steps
	upVerbs []plan.Verb
}

// expectItem is one expectation with its state so far.
type expectItem struct {
	plan.Expectation
	where []condition
	seen  uint64
}

// condition is an attribute that selects facts; exact means that only the text itself matches.
type condition struct {
	plan.Attr
	exact bool
	at    int    // the position of the attribute in the previous fact
	last  string // the previous value and its answer: most facts repeat the value before
	allow bool
}

func (c *condition) allows(value string) bool {
	if c.exact {
		return value == c.Value
	}
	if value != c.last {
		c.last, c.allow = value, c.Match(value)
	}
	return c.allow
}

// of returns the attribute of a fact to which the condition applies.
func (c *condition) of(f *event) string {
	if c.at < len(f.attrs) && f.attrs[c.at].Name == c.Name {
		return f.attrs[c.at].Value
	}
	for i := range f.attrs {
		if f.attrs[i].Name == c.Name {
			c.at = i
			return f.attrs[i].Value
		}
	}
	return f.absent()
}

type namedBuild struct {
	build *engine.Build
	name  string
}

// activeItems are the expectations about one event, by index, in order.
type activeItems struct {
	event string
	items []int
}

// event is something that happened, with the attributes of its event (internal/facts). node is the number of its
// node, or 0.
type event struct {
	name  string
	attrs []plan.Attr
	node  uint32
	no    observe.InstanceNo
}

func (f *event) get(name string) string {
	for i := range f.attrs {
		if f.attrs[i].Name == name {
			return f.attrs[i].Value
		}
	}
	return f.absent()
}

// absent returns the value of an attribute that the fact lacks.
func (f *event) absent() string {
	switch f.name {
	case facts.Up:
		return "0"
	case facts.Node:
		return yesNo(false)
	}
	return ""
}

func (f *event) String() string {
	var b strings.Builder
	b.WriteString(f.name)
	for _, a := range f.attrs {
		if f.name == facts.Node && strings.Contains(a.Name, "@") {
			continue // too many; the relevant one has an attribute of its own
		}
		b.WriteString(" " + a.String())
	}
	return b.String()
}

func New(m *check.Run, s *track.State, list []plan.Expectation) *Checker {
	c := &Checker{Base: check.Base{Run: m}, live: s, items: slab.Of[expectItem](m.Slabs).Make(len(list)), pins: make(map[engine.Version]string), numbers: slab.Of[int](m.Slabs)}
	conditions := slab.Of[condition](m.Slabs)
	for _, e := range list {
		item := expectItem{Expectation: e, where: conditions.Make(len(e.Where))}
		for _, a := range e.Where {
			item.where = append(item.where, condition{
				Attr: a, exact: !strings.Contains(a.Value, "|") && !strings.HasSuffix(a.Value, ".x"), allow: a.Match(""),
			})
		}
		c.items = append(c.items, item)
	}
	c.activate()
	s.Subscribe(c)
	return c
}

func (c *Checker) Observes() check.Set[observe.Kind] {
	kinds := check.SetOf(observe.StatusSet)
	if c.ever(facts.Lock) {
		kinds |= check.SetOf(observe.LockTaken)
	}
	if c.ever(facts.Decode) {
		kinds |= check.SetOf(observe.EventDecoded)
	}
	return kinds
}

func (c *Checker) Records() check.Set[record.Kind] {
	return check.SetOf(record.Scheduled, record.PhaseBegan)
}

// ever reports whether any part has an expectation about an event.
func (c *Checker) ever(event string) bool {
	return slices.ContainsFunc(c.items, func(e expectItem) bool { return e.Event == event })
}

// wants reports whether the present part has an expectation about an event.
func (c *Checker) wants(event string) bool { return len(c.activeOf(event)) > 0 }

func (c *Checker) activeOf(event string) []int {
	for i := range c.active {
		if c.active[i].event == event {
			return c.active[i].items
		}
	}
	return nil
}

// concerns reports whether any active expectation may concern an event with that attribute. Frequent facts are built
// only if one does.
func (c *Checker) concerns(event, attr, value string) bool {
next:
	for _, i := range c.activeOf(event) {
		for k := range c.items[i].where {
			if w := &c.items[i].where[k]; w.Name == attr && !w.allows(value) {
				continue next
			}
		}
		return true
	}
	return false
}

// activate finds the expectations of the present part.
func (c *Checker) activate() {
	for i := range c.active {
		c.active[i].items = c.active[i].items[:0]
	}
	for i := range c.items {
		e := &c.items[i]
		if e.In != "" && e.In != c.part {
			continue
		}
		at := 0
		for at < len(c.active) && c.active[at].event != e.Event {
			at++
		}
		if at == len(c.active) {
			c.active = append(c.active, activeItems{event: e.Event})
		}
		c.active[at].items = c.numbers.Append(c.active[at].items, i)
	}
}

// begin starts a fact about that event; emit judges it.
func (c *Checker) begin(event string, node uint32, no observe.InstanceNo) *event {
	c.event.name, c.event.node, c.event.no = event, node, no
	c.event.attrs = c.event.attrs[:0]
	return &c.event
}

func (f *event) add(name, value string) {
	f.attrs = append(f.attrs, plan.Attr{Name: name, Value: value})
}

func (c *Checker) emit() {
	f := &c.event
	for _, i := range c.activeOf(f.name) {
		e := &c.items[i]
		if !matches(f, e.where) {
			continue
		}
		e.seen++
		switch e.Mode {
		case planterm.ModeNever:
			c.report(e, f, "it must never happen")
		case planterm.ModeAlways:
			for _, a := range e.Has {
				if !a.Match(f.get(a.Name)) {
					c.report(e, f, fmt.Sprintf("expected %s, but it is %s", a, f.get(a.Name)))
					break
				}
			}
		}
	}
}

func matches(f *event, where []condition) bool {
	for i := range where {
		if w := &where[i]; !w.allows(w.of(f)) {
			return false
		}
	}
	return true
}

func (c *Checker) report(e *expectItem, f *event, why string) {
	part := ""
	if c.part != "" {
		part = fmt.Sprintf(" in part %q", c.part)
	}
	c.Run.Violate(check.Breach{
		Property: ID, Class: cluster.ClassSafety, Node: f.node, Instance: f.no, Expectation: e.Text,
		Message: fmt.Sprintf("scenario line %d, %q: %s. Seen%s: %s", e.Line, e.Text, why, part, f),
	})
}

// Points returns each sometimes that was fulfilled.
func (c *Checker) Points() []cluster.Point {
	var list []cluster.Point
	for i := range c.items {
		if e := &c.items[i]; e.Mode == planterm.ModeSometimes && e.seen > 0 {
			list = append(list, cluster.Point{Name: e.PointName(), Count: e.seen})
		}
	}
	return list
}

func (c *Checker) Record(r *cluster.Record) {
	if r.Kind == record.PhaseBegan {
		if r.Phase == cluster.PhaseTurbulence {
			c.beginPart("", r.AtMs)
		}
		return
	}
	step := r.Schedule
	if step == nil {
		return
	}
	if step.Mark != "" {
		c.beginPart(step.Mark, r.AtMs)
	}
	if c.upDue && r.AtMs == c.upAtMs && r.Node != 0 {
		c.upWaits = append(c.upWaits, r.Node)
		c.upVerbs = append(c.upVerbs, step.Verb)
	}
}

// beginPart begins a part of the story. Its facts "up" and "node" are emitted once the nodes that its first steps
// touch have settled.
func (c *Checker) beginPart(part string, atMs int64) {
	if c.upDue {
		c.up()
	}
	c.part = part
	c.activate()
	c.upDue, c.upAtMs = c.wants(facts.Up) || c.wants(facts.Node), atMs
	c.upWaits, c.upVerbs = c.upWaits[:0], c.upVerbs[:0]
	if part == "" { // the run begins: every node that is neither absent nor started later comes up
		for i := range c.live.Plan.Nodes {
			if !c.live.Plan.Nodes[i].Absent && !c.startsLater(c.live.Plan.Nodes[i].Name) {
				c.upWaits = append(c.upWaits, uint32(i+1))
				c.upVerbs = append(c.upVerbs, plan.VerbStart)
			}
		}
	}
}

func (c *Checker) startsLater(name string) bool {
	for i := range c.live.Plan.Schedule {
		if s := &c.live.Plan.Schedule[i]; s.Node == name {
			return s.Verb == plan.VerbStart || s.Verb == plan.VerbAdd
		}
	}
	return false
}

func (c *Checker) AfterStep() {
	if !c.upDue {
		return
	}
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

// up emits the facts "up" and "node": how many nodes of each build are up, and the state of each node.
func (c *Checker) up() {
	c.upDue = false
	c.eachNode()
	f := c.begin(facts.Up, 0, 0)
	total := 0
	for _, b := range c.Run.World.Builds() {
		count := 0
		for i := range c.live.Nodes {
			if n := &c.live.Nodes[i]; n.Up && !n.Draining && n.Build == b {
				count++
			}
		}
		total += count
		f.add(b.Name(), strconv.Itoa(count))
	}
	f.add("total", strconv.Itoa(total))
	c.emit()
}
