package timeline

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// Watch returns a monitor that forwards everything to m and records what the timeline needs.
func (c *Collector) Watch(w *cluster.World, m cluster.Monitor) cluster.Monitor {
	c.w = w
	return &watcher{Monitor: m, c: c}
}

// watcher forwards everything to both a monitor and a collector.
type watcher struct {
	cluster.Monitor
	c *Collector
}

func (m *watcher) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	return cluster.WatchHandle(m.Monitor, p, codec)
}

// Told implements cluster.FateTeller by forwarding to the monitor if it can.
func (m *watcher) Told() (told cluster.Told) {
	if teller, ok := m.Monitor.(cluster.FateTeller); ok {
		told = teller.Told()
	}
	return told
}

func (m *watcher) Observe(o *observe.Observation) {
	m.Monitor.Observe(o)
	m.c.observe(o)
}

func (m *watcher) Record(r *cluster.Record) {
	m.Monitor.Record(r)
	m.c.record(r)
}

func (m *watcher) AfterStep() {
	m.Monitor.AfterStep()
	m.c.afterStep()
}

// Tell records a line of the story. It can be used as a cluster.Config.Narrator.
func (c *Collector) Tell(l cluster.Line) {
	who := l.Node
	if l.Build != "" {
		who += " " + l.Build
	}
	c.t.Story = append(c.t.Story, Line{Ms: l.Ms, Step: l.Step, Who: who, Text: l.Text, Important: l.Important, About: c.about(l.Text)})
}

// about returns the indexes of the instances mentioned in text, without duplicates.
func (c *Collector) about(text string) []int {
	var found []int
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_:.", r)
	}) {
		i, ok := c.byName[strings.TrimRight(word, ":.")]
		if ok && (len(found) == 0 || found[len(found)-1] != i) {
			found = append(found, i)
		}
	}
	return found
}

// observe records history events, and which instances change.
func (c *Collector) observe(o *observe.Observation) {
	if i := int(o.Instance); i > 0 && i < len(c.numbers) && c.numbers[i] >= 0 {
		c.touch(c.numbers[i])
	}
	switch o.Kind {
	case observe.CallBegin:
		c.caller = int(o.Caller.Node) - 1
	case observe.CallEnd:
		c.caller = -1
	case observe.InstanceNamed:
		for len(c.numbers) <= int(o.Instance) {
			c.numbers = append(c.numbers, -1)
		}
		c.numbers[o.Instance] = c.instance(o.Name)
	case observe.InstanceRemoved:
		if in := c.numbered(o); in != nil {
			in.removedMs = c.nowMs()
		}
	case observe.EventAppended:
		in := c.numbered(o)
		if in == nil {
			return
		}
		in.removedMs = 0
		in.History = append(in.History, Event{Ms: c.nowMs(), Step: c.step(), Execution: o.Execution, ID: o.EventID, Kind: kindIn(o.Bytes), Node: c.caller})
	}
}

// numbered returns the instance to which observation o belongs. It returns nil if the instance has no name yet or o
// undoes a change.
func (c *Collector) numbered(o *observe.Observation) *Instance {
	if o.Undo || int(o.Instance) >= len(c.numbers) || c.numbers[o.Instance] < 0 {
		return nil
	}
	return &c.t.Instances[c.numbers[o.Instance]]
}

func (c *Collector) step() uint64 {
	if c.w == nil {
		return 0
	}
	return c.w.Step()
}

func kindIn(data []byte) string {
	const field = `"type":"`
	_, rest, ok := strings.Cut(string(data), field)
	if !ok {
		return "unreadable"
	}
	kind, _, _ := strings.Cut(rest, `"`)
	return kind
}

// record records an event outside the store.
func (c *Collector) record(r *cluster.Record) {
	ms := r.AtMs - c.w.StartMs()
	n := int(r.Node) - 1
	c.slots(r)
	switch r.Kind {
	case record.NodeStarted, record.NodeResumed:
		c.span(n, ms, r.Step, Up)
	case record.NodeDraining:
		c.span(n, ms, r.Step, Draining)
	case record.NodePaused:
		c.span(n, ms, r.Step, Frozen)
	case record.NodeStopped:
		c.closeAt(n, ms)
	case record.NodeCrashed:
		c.closeAt(n, ms)
		text := "crash " + c.t.Nodes[n].Name
		if r.Text != "" {
			text += ", " + r.Text
		}
		c.mark(ms, r.Step, "crash", n, "", text)
	case record.Scheduled:
		kind := "step"
		if n < 0 {
			kind = "part"
		}
		c.mark(ms, r.Step, kind, n, "", r.Schedule.String())
	case record.PhaseBegan:
		c.mark(ms, r.Step, "phase", -1, "", r.Phase.String())
		if r.Step == 0 {
			for i := range c.t.Instances {
				c.touch(i)
				c.follow(i, ms)
			}
		}
	case record.Fault:
		c.mark(ms, r.Step, "fault", n, r.Instance, string(r.Fault))
	case record.ActivityStarted:
		c.bar(r.Activity.Item.Instance, Bar{Kind: "activity", FromMs: ms, ToMs: -1, Node: n, Build: c.buildOf(n), Step: r.Step, Text: r.Activity.Item.Name})
		c.acts[activityKey(r)] = len(c.t.Instances[c.byName[r.Activity.Item.Instance]].Bars) - 1
	case record.ActivityFinished:
		in := &c.t.Instances[c.instance(r.Activity.Item.Instance)]
		if i, ok := c.acts[activityKey(r)]; ok && i < len(in.Bars) {
			in.Bars[i].ToMs = ms
		}
	case record.Note:
		c.note(r, ms, n)
	case record.DeadLetter:
		c.bar(r.Instance, Bar{Kind: "poison", FromMs: ms, ToMs: ms, Node: -1, Step: r.Step, Text: r.Text})
	}
	c.ends = max(c.ends, ms)
}

func activityKey(r *cluster.Record) string {
	a := r.Activity.Item
	return fmt.Sprintf("%s/%d/%d/%d/%d", a.Instance, a.ExecutionID, a.ID, r.Node, r.Incarnation)
}

func (c *Collector) note(r *cluster.Record, ms int64, n int) {
	b := Bar{FromMs: ms, ToMs: ms, Node: n, Build: c.buildOf(n), Step: r.Step, Text: r.Note.Cause}
	switch r.Note.Decision {
	case machine.DecideTurn:
		b.Kind = "turn"
		if t := r.Note.Turn; t != nil {
			b.Text = fmt.Sprintf("%s: %s, %d events", t.Handler, t.Result, t.Events)
		}
	case machine.DecidePoison, machine.DecideWorkPoison, machine.DecideSwept:
		b.Kind = "poison"
	case machine.DecideHistoryError, machine.DecideIncompatible, machine.DecideNoHandler, machine.DecideAckFailed, machine.DecideWorkNoHandler, machine.DecideWorkLost:
		b.Kind = "back"
		b.Text = r.Note.Decision.String() + " " + b.Text
	default:
		return
	}
	if r.Note.Instance != "" {
		c.bar(r.Note.Instance, b)
	}
}

func (c *Collector) bar(instance string, b Bar) {
	i := c.instance(instance)
	c.t.Instances[i].Bars = append(c.t.Instances[i].Bars, b)
}

func (c *Collector) mark(ms int64, step uint64, kind string, node int, instance, text string) {
	c.t.Marks = append(c.t.Marks, Mark{Ms: ms, Step: step, Kind: kind, Node: node, Instance: instance, Text: text})
}

func (c *Collector) buildOf(n int) int {
	if n < 0 {
		return -1
	}
	if b := c.w.Node(uint32(n + 1)).Build; b != nil {
		return c.build(b.Name())
	}
	return -1
}

// span ends node n's open span and begins a new one in state s.
func (c *Collector) span(n int, ms int64, step uint64, s NodeState) {
	c.closeAt(n, ms)
	c.t.Nodes[n].Spans = append(c.t.Nodes[n].Spans, Span{FromMs: ms, ToMs: -1, Build: c.buildOf(n), State: s, Step: step})
	c.open[n] = len(c.t.Nodes[n].Spans)
}

func (c *Collector) closeAt(n int, ms int64) {
	if i := c.open[n]; i > 0 {
		c.t.Nodes[n].Spans[i-1].ToMs = ms
	}
	c.open[n] = 0
}
