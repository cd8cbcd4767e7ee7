package timeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// Track is how the state of one subject changes: triples of milliseconds, step and an index into Timeline.States, in
// order of time. The state at a time is that of the last triple up to it; before the first one there is none. State 0
// is empty.
type Track []int64

// Slot is one of a node's loops, and what it does.
type Slot struct {
	Name  string `json:"name"`
	Track Track  `json:"track"`
}

// maxChanges is the maximum number of changes of state that a timeline holds, and maxEvents of bars, history events and
// lines of the story. A page with as many opens within two seconds.
const (
	maxChanges = 150_000
	maxEvents  = 200_000
)

// states follows what nodes, slots and instances are doing.
type states struct {
	numbers map[string]int64 // of Timeline.States, by content
	slots   []map[machine.Slot]int
	held    []map[machine.Slot]string // what a slot holds, by node
	nodes   bool                      // whether a node has changed since the last step
	touched []int                     // instances that have changed since the last step
	is      []follow                  // by instance
	changes int
}

// follow is what is known about an instance that is followed.
type follow struct {
	touched bool
	queued  bool // what it waits for depends on the nodes
}

func (c *Collector) stateNumber(state []string) int64 {
	key := strings.Join(state, "\x00")
	n, ok := c.states.numbers[key]
	if !ok {
		n = int64(len(c.t.States))
		c.states.numbers[key] = n
		c.t.States = append(c.t.States, state)
	}
	return n
}

// set says that a track has a state from a time on, whatever was expected of it from then on.
func (c *Collector) set(t *Track, ms int64, state []string) {
	for n := len(*t); n > 0 && (*t)[n-3] > ms; n = len(*t) {
		*t = (*t)[:n-3]
	}
	number, n := c.stateNumber(state), len(*t)
	step := int64(c.step())
	switch {
	case n == 0 && number == 0 || n > 0 && (*t)[n-1] == number:
	case n > 0 && (*t)[n-3] == ms && (*t)[n-2] == step:
		(*t)[n-1] = number
	default:
		*t = append(*t, ms, step, number)
		c.states.changes++
	}
}

// touch marks an instance as changed.
func (c *Collector) touch(i int) {
	for len(c.states.is) <= i {
		c.states.is = append(c.states.is, follow{})
	}
	if f := &c.states.is[i]; !f.touched {
		f.touched = true
		c.states.touched = append(c.states.touched, i)
	}
}

func (c *Collector) afterStep() {
	s, now := &c.states, c.nowMs()
	if s.nodes {
		for n := range c.t.Nodes {
			c.set(&c.t.Nodes[n].Track, now, []string{c.w.NodeState(uint32(n + 1))})
		}
		for i := range s.is {
			if s.is[i].queued {
				c.touch(i)
			}
		}
		s.nodes = false
	}
	slices.Sort(s.touched)
	for _, i := range s.touched {
		s.is[i].touched = false
		c.follow(i, now)
	}
	s.touched = s.touched[:0]
	if s.changes >= maxChanges && c.t.StatesToMs == 0 {
		c.t.StatesToMs = max(now, 1)
	}
}

// follow records what an instance waits for, and what it will wait for as time passes.
func (c *Collector) follow(i int, now int64) {
	if c.t.StatesToMs > 0 {
		return
	}
	in := &c.t.Instances[i]
	all := c.w.Outlook(in.ID)
	if len(all) == 0 {
		c.set(&in.Track, now, nil)
	}
	c.states.is[i].queued = false
	for k, x := range all {
		state := []string{x.Rule, x.Text}
		for _, d := range x.Details {
			if d.Name != "time" && !strings.HasPrefix(d.Name, "node ") {
				state = append(state, d.Name, d.Value)
			}
		}
		at := now
		if k > 0 {
			at = x.FromMs
		}
		c.set(&in.Track, at, state)
		if slices.Contains([]string{"not-admitted", "no-slot", "frozen", "ready", "delayed", "activity", "locked"}, x.Rule) {
			c.states.is[i].queued = true
		}
	}
}

// slot says what a node's slot does.
func (c *Collector) slot(r *cluster.Record, format string, args ...any) {
	n := int(r.Node) - 1
	for len(c.states.slots) <= n {
		c.states.slots = append(c.states.slots, map[machine.Slot]int{})
		c.states.held = append(c.states.held, map[machine.Slot]string{})
	}
	slots := &c.t.Nodes[n].Slots
	k, ok := c.states.slots[n][r.Slot]
	if !ok {
		k = len(*slots)
		c.states.slots[n][r.Slot] = k
		*slots = append(*slots, Slot{Name: r.Slot.String()})
	}
	if c.t.StatesToMs == 0 {
		c.set(&(*slots)[k].Track, c.nowMs(), []string{fmt.Sprintf(format, args...)})
	}
}

// slots records what a record says about a slot.
func (c *Collector) slots(r *cluster.Record) {
	n := int(r.Node) - 1
	held := func() string { return c.states.held[n][r.Slot] }
	switch r.Kind {
	case record.NodeStarted, record.NodeStopped, record.NodeCrashed:
		c.states.nodes = true
		for k := range c.t.Nodes[n].Slots {
			c.set(&c.t.Nodes[n].Slots[k].Track, c.nowMs(), nil)
		}
		if n < len(c.states.held) {
			clear(c.states.held[n])
		}
	case record.NodeDraining, record.NodePaused, record.NodeResumed, record.Scheduled:
		c.states.nodes = true
	case record.ClientSent:
		c.touch(c.instance(r.Instance))
	case record.Parked:
		c.slot(r, "waits for work")
	case record.CallSent:
		switch r.CallKind {
		case observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem:
			c.slot(r, "asks for work")
			c.states.held[n][r.Slot] = ""
		case observe.CallAckOrchestrationItem, observe.CallAckWorkItem:
			c.slot(r, "commits %s", held())
		case observe.CallAbandonOrchestrationItem, observe.CallAbandonWorkItem:
			c.slot(r, "gives %s back", held())
		}
	case record.Answered:
		switch {
		case r.Fetched != nil:
			c.slot(r, "holds %s", r.Fetched.Item.Instance)
			c.states.held[n][r.Slot] = r.Fetched.Item.Instance
		case r.Work != nil:
			c.slot(r, "holds an activity of %s", r.Work.Item.Target())
			c.states.held[n][r.Slot] = "an activity of " + r.Work.Item.Target()
		case r.Err != nil:
			c.slot(r, "%s fails: %v", r.CallKind, r.Err)
		case r.CallKind != observe.CallRenewOrchestrationItemLock && r.CallKind != observe.CallRenewWorkItemLock:
			c.slot(r, "is idle")
		}
	case record.ActivityStarted:
		text := fmt.Sprintf("activity %s#%d of %s", r.Activity.Item.Name, r.Activity.Item.ID, r.Activity.Item.Instance)
		c.slot(r, "runs %s", text)
		c.states.held[n][r.Slot] = text
	case record.Note:
		if r.Note.Turn != nil {
			c.slot(r, "has run a turn of %s", r.Note.Instance)
		}
	}
}

// Events returns how many bars, history events, lines of the story and changes of state the timeline has.
func (t *Timeline) Events() int {
	n := len(t.Story)
	for i := range t.Instances {
		in := &t.Instances[i]
		n += len(in.Bars) + len(in.History) + len(in.Track)/3
	}
	return n
}

// leaveOut keeps the events of as many instances as a page can show: first those with trouble, then those that began
// first.
func (c *Collector) leaveOut() {
	t := &c.t
	violated := map[string]bool{}
	for _, m := range t.Marks {
		if m.Kind == "violation" {
			violated[m.Instance] = true
		}
	}
	var order, rest []int
	for i := range t.Instances {
		if in := &t.Instances[i]; !in.Expected || in.End == "poisoned" || violated[in.ID] {
			order = append(order, i)
		} else {
			rest = append(rest, i)
		}
	}
	lines := make([]int, len(t.Instances))
	for _, l := range t.Story {
		for _, i := range l.About {
			lines[i]++
		}
	}
	left, events := make([]bool, len(t.Instances)), 0
	for _, i := range append(order, rest...) {
		in := &t.Instances[i]
		events += len(in.Bars) + len(in.History) + lines[i]
		if left[i] = events > maxEvents; left[i] {
			in.Bars, in.History = nil, nil
			t.LeftOut++
		}
	}
	if t.LeftOut > 0 {
		t.Story = slices.DeleteFunc(t.Story, func(l Line) bool {
			return len(l.About) == 0 || !slices.ContainsFunc(l.About, func(i int) bool { return !left[i] })
		})
	}
}
