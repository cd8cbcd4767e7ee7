package timeline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Timeline shows a run over virtual time. Times are in milliseconds since the start of the run.
type Timeline struct {
	Scenario  string     `json:"scenario"`
	Seed      string     `json:"seed"`
	EndMs     int64      `json:"end"`
	Builds    []string   `json:"builds"`
	Nodes     []Node     `json:"nodes"`
	Marks     []Mark     `json:"marks"`
	Instances []Instance `json:"instances"`
	Story     []Line     `json:"story"`
	// States are what the tracks refer to: what a node or a slot does, or for an instance the rule that applies, that in
	// words, and pairs of name and value, as `simrun why` shows them.
	States [][]string `json:"states"`
	// StatesToMs is when the changes of state became too many for a page, or 0. LeftOut counts the instances whose events
	// a page has no room for.
	StatesToMs int64 `json:"statesTo,omitempty"`
	LeftOut    int   `json:"leftOut,omitempty"`
}

// Node is a node, the spans during which it was up, and what it and its slots do.
type Node struct {
	Name  string `json:"name"`
	Spans []Span `json:"spans"`
	Track Track  `json:"track,omitempty"`
	Slots []Slot `json:"slots,omitempty"`
}

// Span is a period during which a node was up, draining or frozen. Build is an index into Timeline.Builds.
type Span struct {
	FromMs int64     `json:"from"`
	ToMs   int64     `json:"to"`
	Build  int       `json:"build"`
	State  NodeState `json:"state"`
	Step   uint64    `json:"step"`
}

// NodeState is a node's state during a span.
type NodeState string

// The states of a node that is not down.
const (
	Up       NodeState = "up"
	Draining NodeState = "draining"
	Frozen   NodeState = "frozen"
)

// Mark is a moment in the run. Node is -1 if the mark does not concern a node.
type Mark struct {
	Ms       int64  `json:"ms"`
	Step     uint64 `json:"step"`
	Kind     string `json:"kind"` // one of step, part, phase, crash, fault and violation
	Node     int    `json:"node"`
	Instance string `json:"instance,omitempty"`
	Text     string `json:"text"`
	Evidence string `json:"evidence,omitempty"`
}

// Instance records the history of one instance in the run.
type Instance struct {
	ID            string  `json:"id"`
	Orchestration string  `json:"orchestration"`
	Pin           string  `json:"pin,omitempty"`
	End           string  `json:"end"`
	Cause         string  `json:"cause,omitempty"`
	Owes          string  `json:"owes,omitempty"`
	Expected      bool    `json:"expected"`
	FromMs        int64   `json:"from"`
	ToMs          int64   `json:"to"`
	Bars          []Bar   `json:"bars,omitempty"`
	History       []Event `json:"history,omitempty"`
	Track         Track   `json:"track,omitempty"`
	removedMs     int64   // time at which its row was removed, or 0 if it still exists
}

// Bar is an interval in an instance's life: a turn, an activity, a wait for a build, poison, or abandoned work. If it
// ends when it begins, it is displayed as a moment. Node and Build are -1 if there is none.
type Bar struct {
	Kind   string `json:"kind"` // one of turn, activity, wait, poison and back
	FromMs int64  `json:"from"`
	ToMs   int64  `json:"to"`
	Node   int    `json:"node"`
	Build  int    `json:"build"`
	Step   uint64 `json:"step"`
	Text   string `json:"text,omitempty"`
}

// Event is a history event.
type Event struct {
	Ms        int64  `json:"ms"`
	Step      uint64 `json:"step"`
	Execution uint64 `json:"x"`
	ID        uint64 `json:"id"`
	Kind      string `json:"kind"`
	Node      int    `json:"node"`
}

// Line is one line of the story, with the indexes of the instances that it mentions.
type Line struct {
	Ms        int64  `json:"ms"`
	Step      uint64 `json:"step"`
	Who       string `json:"who"`
	Text      string `json:"text"`
	Important bool   `json:"important,omitempty"`
	About     []int  `json:"about,omitempty"`
}

// Collector records a single run.
type Collector struct {
	t       Timeline
	plan    *plan.Plan
	w       *cluster.World
	byName  map[string]int
	builds  map[string]int
	numbers []int          // instance indexes by store number; -1 means none
	open    map[int]int    // open span of each node
	acts    map[string]int // open bar of each running activity
	caller  int            // the node making the current call, or -1
	ends    int64
	states  states
}

// New returns a collector for a run of plan p.
func New(p *plan.Plan) *Collector {
	c := &Collector{plan: p, caller: -1, byName: map[string]int{}, builds: map[string]int{}, open: map[int]int{}, acts: map[string]int{}, states: states{numbers: map[string]int64{}}}
	c.stateNumber(nil)
	for _, n := range p.Nodes {
		c.t.Nodes = append(c.t.Nodes, Node{Name: n.Name})
	}
	for i := range p.Instances {
		in := &p.Instances[i]
		k := c.instance(in.ID)
		c.t.Instances[k].Orchestration, c.t.Instances[k].FromMs = in.Orchestration, in.StartAt.Milliseconds()
	}
	for i := range p.Histories {
		c.instance(p.Histories[i].Instance)
	}
	return c
}

// instance returns the index of instance id, adding the instance if it is new.
func (c *Collector) instance(id string) int {
	i, ok := c.byName[id]
	if !ok {
		i = len(c.t.Instances)
		c.byName[id] = i
		c.t.Instances = append(c.t.Instances, Instance{ID: id, FromMs: c.nowMs(), Expected: true})
	}
	return i
}

func (c *Collector) build(name string) int {
	i, ok := c.builds[name]
	if !ok {
		i = len(c.t.Builds)
		c.builds[name] = i
		c.t.Builds = append(c.t.Builds, name)
	}
	return i
}

func (c *Collector) nowMs() int64 {
	if c.w == nil {
		return 0
	}
	return c.w.NowMs() - c.w.StartMs()
}

// Timeline returns the run's timeline. It must be called once, after the run. If the run crashed, result may be nil.
func (c *Collector) Timeline(seed string, result *cluster.Result) *Timeline {
	t := &c.t
	t.Scenario, t.Seed = c.plan.Name, seed
	t.EndMs = max(c.ends, 1)
	if result != nil {
		t.EndMs = max(result.Virtual, c.ends)
	}
	for n := range t.Nodes {
		if spans := t.Nodes[n].Spans; len(spans) > 0 && spans[len(spans)-1].ToMs < 0 {
			spans[len(spans)-1].ToMs = t.EndMs
		}
	}
	for i := range t.Instances {
		in := &t.Instances[i]
		for k := range in.Bars {
			if in.Bars[k].ToMs < 0 {
				in.Bars[k].ToMs = in.Bars[k].FromMs // it never finished because its node went down
			}
		}
		in.endAsRecorded(t.EndMs)
	}
	if result != nil {
		c.fates(result)
	}
	t.sortBuilds()
	c.leaveOut()
	return t
}

// sortBuilds numbers the builds in ascending version order, so that their colors distinguish old builds from new ones.
func (t *Timeline) sortBuilds() {
	sorted := slices.SortedFunc(slices.Values(t.Builds), func(a, b string) int {
		va, errA := engine.ParseVersion(a)
		vb, errB := engine.ParseVersion(b)
		if errA != nil || errB != nil {
			return strings.Compare(a, b)
		}
		return cmp.Or(va.Compare(vb), strings.Compare(a, b))
	})
	place := func(b int) int {
		if b < 0 {
			return b
		}
		return slices.Index(sorted, t.Builds[b])
	}
	for n := range t.Nodes {
		for i := range t.Nodes[n].Spans {
			t.Nodes[n].Spans[i].Build = place(t.Nodes[n].Spans[i].Build)
		}
	}
	for n := range t.Instances {
		for i := range t.Instances[n].Bars {
			t.Instances[n].Bars[i].Build = place(t.Instances[n].Bars[i].Build)
		}
	}
	t.Builds = sorted
}

// fates adds the data available only at the end of the run.
func (c *Collector) fates(r *cluster.Result) {
	for i := range r.Fates {
		f := &r.Fates[i]
		in := &c.t.Instances[c.instance(f.Instance)]
		in.End, in.Cause, in.Owes, in.Expected = string(f.End), f.Cause, f.Owes, f.AsExpected
		if f.EndedMs > 0 {
			in.ToMs = f.EndedMs
		}
	}
	for i := range r.FinalStates {
		o := &r.FinalStates[i]
		in := &c.t.Instances[c.instance(o.Instance)]
		if o.Pin != nil {
			in.Pin = o.Pin.String()
		}
		if in.End == "running" && (o.Status == engine.StatusFailed || o.Status == engine.StatusCompleted) {
			in.End = strings.ToLower(string(o.Status))
		}
	}
	for i := range c.t.Instances {
		in := &c.t.Instances[i]
		if in.End == "failed" && slices.ContainsFunc(in.Bars, func(b Bar) bool { return b.Kind == "poison" }) {
			in.End = "poisoned" // children and preloaded histories have no fates
		}
	}
	for _, w := range r.Waits {
		in := &c.t.Instances[c.instance(w.Instance)]
		in.Bars = append(in.Bars, Bar{Kind: "wait", FromMs: w.FromMs, ToMs: w.FromMs + w.ForMs, Node: -1, Build: -1,
			Text: "no live node admits pin " + w.Pin + ", for " + pretty.Duration(w.ForMs)})
	}
	for _, v := range r.Violations {
		c.t.Marks = append(c.t.Marks, Mark{Ms: v.VirtualMs, Step: v.Step, Kind: "violation", Node: slices.IndexFunc(c.t.Nodes, func(n Node) bool { return n.Name == v.Node }), Instance: v.Instance, Text: v.Property, Evidence: v.Message})
	}
}

// endAsRecorded derives an instance's end from its history. For the plan's own instances, the fates may later replace
// it with a more precise end.
func (in *Instance) endAsRecorded(endMs int64) {
	in.End = "running"
	if n := len(in.History); n > 0 {
		switch last := in.History[n-1]; engine.EventKind(last.Kind) {
		case eventdata.KindOrchestrationCompleted:
			in.End, in.ToMs = "completed", last.Ms
		case eventdata.KindOrchestrationFailed:
			in.End, in.ToMs = "failed", last.Ms
		}
	}
	if in.End == "running" && in.removedMs > 0 {
		in.End, in.ToMs = "deleted", in.removedMs
	}
	if in.ToMs == 0 {
		in.ToMs = endMs
	}
}
