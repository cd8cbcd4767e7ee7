package track

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// This file evaluates the relations admits, reads and runs (docs/architecture.md#relations) on the current state. It
// also records which instances wait because of them.

// AfterStep updates the waiting instances.
func (s *State) AfterStep() {
	s.nodesChanged = false
	s.lookAll(s.Run.World.NowMs())
}

func (s *State) lookAll(at int64) {
	s.dueMs = model.NeverMs
	for _, in := range s.Run.Model.Instances[1:] {
		s.look(in.No, at)
	}
}

// pass detects what began to wait because time has passed, each at its time. It comes before the next change: a node that
// starts late does not hide that nobody admitted the work until then.
func (s *State) pass() {
	for now := s.Run.World.NowMs(); s.dueMs < now; {
		s.lookAll(s.dueMs)
	}
}

// look detects when an instance's eligible work starts or stops waiting for a live node that admits it.
func (s *State) look(no observe.InstanceNo, now int64) {
	in := s.Instance(no)
	state := s.Run.Model.Instance(no)
	if len(state.Queue) == 0 {
		s.waited(in, state)
		in.ReleasedMs = 0
		return
	}
	eligible, dueMs := s.Run.Model.Eligible(state, nil, now)
	if !eligible && dueMs >= s.dueMs {
		return
	}
	anyLive := false
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !n.Live() || n.Options.OrchestrationConcurrency == 0 {
			continue
		}
		anyLive = true
		if model.Admits(n.Filter, state.Pin()) {
			if eligible && in.waitingMs != 0 {
				s.waited(in, state)
				in.ReleasedMs = now
			}
			return
		}
	}
	switch {
	case !eligible && anyLive && in.waitingMs == 0:
		s.dueMs = dueMs
	case eligible:
		in.ReleasedMs = 0
		if in.waitingMs == 0 && anyLive {
			in.waitingMs = now
		}
		if in.waitingMs != 0 && !in.waitTold && !state.Leftover() {
			in.waitTold = true
			for _, l := range s.listeners {
				l.OnWaits(state, now)
			}
		}
	}
}

func (s *State) waited(in *Instance, state *model.Instance) {
	if in.waitingMs == 0 {
		return
	}
	in.waitingMs = 0
	if !in.waitTold {
		return
	}
	in.waitTold = false
	for _, l := range s.listeners {
		l.OnWaited(state)
	}
}

// onlyLooks reports whether a lock was taken by a strategy that inspects work that its caller cannot run. Such work
// goes on waiting.
func (s *State) onlyLooks(o *observe.Observation) bool {
	if s.Plan.Strategy.Filters() {
		return false
	}
	c := s.Run.Model.Call(o.Call)
	if c == nil {
		return false
	}
	n := s.Node(c.Caller.Node)
	return n == nil || !s.Admits(n, s.Run.Model.Instance(o.Instance))
}

// Admits reports whether a node is live and admits an instance now.
func (s *State) Admits(n *Node, in *model.Instance) bool {
	return n.Live() && n.Options.OrchestrationConcurrency > 0 && model.Admits(n.Filter, in.Pin())
}

// Replays reports whether an instance passes the test that a node makes itself, after the store's filter.
func (s *State) Replays(n *Node, in *model.Instance) bool {
	return model.Admits(n.Filter, s.Run.Model.Tested(in))
}

// Contested reports whether, under the strategy stall, a live node may fetch an instance again and again that it must give
// back. Who fetches it first is chance, so that nobody can say when a node gets it that runs it.
func (s *State) Contested(in *model.Instance) bool {
	if s.Plan.Strategy != plan.StrategyStall {
		return false
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Live() && n.Options.OrchestrationConcurrency > 0 && !s.Replays(n, in) {
			return true
		}
	}
	return false
}

// Admitted reports whether any live node admits an instance, and returns when the oldest of these nodes started.
func (s *State) Admitted(in *model.Instance) (ok bool, sinceMs int64) {
	sinceMs = model.NeverMs
	for i := range s.Nodes {
		if n := &s.Nodes[i]; s.Admits(n, in) {
			ok, sinceMs = true, min(sinceMs, n.LiveSinceMs)
		}
	}
	return ok, sinceMs
}

// Reads reports whether a node's build decodes an instance's current history and queued messages.
func (s *State) Reads(n *Node, in *model.Instance) bool {
	if ex := in.Latest(); ex != nil && ex.Kinds&^n.reads != 0 {
		return false
	}
	for _, r := range in.Queue {
		if !s.readsItem(n, r) {
			return false
		}
	}
	return true
}

var itemKinds1x = engine.WorkItemKinds1x()

func (s *State) readsItem(n *Node, r *model.Row) bool {
	if !r.Damaged && itemKinds1x.Has(r.Kind) {
		return true
	}
	_, err := n.Build.Codec.DecodeWorkItem(r.Bytes)
	return err == nil
}

// missing returns the handler that the instance's next turn needs and the node lacks, or "" if the node lacks none.
func (s *State) missing(n *Node, in *model.Instance) string {
	status := in.Status()
	if status == engine.StatusRunning {
		if _, ok := n.Registry.ResolveStarted(in.Orchestration, in.Version); !ok {
			return in.Orchestration + "@" + in.Version
		}
		return ""
	}
	for _, r := range in.Queue {
		name, version := "", ""
		switch w := r.Item.(type) {
		case engine.StartItem:
			name, version = w.Orchestration, w.Version
		case engine.ContinueAsNewItem:
			name, version = w.Orchestration, w.Version
		default:
			continue
		}
		if _, ok := n.Registry.ResolveStart(name, version); !ok {
			if version == "" {
				version = "any version"
			}
			return name + "@" + version
		}
		return ""
	}
	return ""
}

// Runs reports whether a node is live, admits an instance, by the pin in its history if the store has none, reads it, and
// has its handler. This is the third relation in docs/architecture.md#relations.
func (s *State) Runs(n *Node, in *model.Instance) bool {
	return s.Admits(n, in) && s.Replays(n, in) && s.Reads(n, in) && s.missing(n, in) == ""
}

// AnyRuns reports whether any live node runs the instance.
func (s *State) AnyRuns(in *model.Instance) bool {
	for i := range s.Nodes {
		if s.Runs(&s.Nodes[i], in) {
			return true
		}
	}
	return false
}

// Takes reports whether a node is live and takes an activity, and whether it has the activity's code. Who takes one of a
// session depends on who owns the session, so of no node is that known.
func (s *State) Takes(n *Node, r *model.Row) (takes, has bool) {
	if w, ok := r.Item.(engine.ActivityExecuteItem); ok && w.SessionID != "" {
		return false, false
	}
	return s.Serves(n, r)
}

// Serves is like Takes, but leaves sessions out of account.
func (s *State) Serves(n *Node, r *model.Row) (takes, has bool) {
	if !n.Live() || n.Options.WorkerConcurrency == 0 {
		return false, false
	}
	w, ok := r.Item.(engine.ActivityExecuteItem)
	if !ok {
		return true, false
	}
	if !n.Options.WorkerTagFilter.Matches(w.Tag) {
		return false, false
	}
	_, has = n.Registry.Activity(w.Name)
	return true, has
}

// Unserved describes an activity whose tag no live node serves, and lists the tags that live nodes do serve. It returns
// "" if a node serves the tag or if no node is up.
func (s *State) Unserved(r *model.Row) string {
	w, ok := r.Item.(engine.ActivityExecuteItem)
	if !ok {
		return ""
	}
	var live []*cluster.NodeInfo
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Live() && n.Options.WorkerConcurrency > 0 {
			live = append(live, s.Run.World.Node(n.Number))
		}
	}
	lacks := cluster.Unserved(w.Tag, live)
	if lacks == "" {
		return ""
	}
	return fmt.Sprintf("activity %s (event %d)%s", w.Name, w.ID, lacks)
}

// onDeleted resets the state of a deleted instance. It no longer has obligations, no parent waits for it, and those of
// its children that have not begun no longer have a parent. If an instance is started later under its name, it is a
// different instance.
func (s *State) onDeleted(no observe.InstanceNo) {
	in := s.Instance(no)
	s.waited(in, s.Run.Model.Instance(no))
	if in.Parent != 0 && !in.Ended {
		s.instances[in.Parent].Children--
	}
	for i := range s.instances {
		if s.instances[i].Parent == no {
			s.instances[i].Parent, s.instances[i].Alone = 0, true
		}
	}
	*in = Instance{Deleted: true, Turns: in.Turns, OutsideMs: in.OutsideMs}
}

// WhyNot says for each live node whether it runs an instance and, if it does not, why.
func (s *State) WhyNot(in *model.Instance) string {
	var parts []string
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !n.Live() {
			continue
		}
		why := "runs it"
		switch {
		case n.Options.OrchestrationConcurrency == 0:
			why = "has no slot for orchestrations"
		case !model.Admits(n.Filter, in.Pin()):
			why = fmt.Sprintf("range %s%s excludes pin %s", n.Filter, s.Run.Since(n.Number), model.PinText(in.Pin()))
		case !s.Replays(n, in):
			why = fmt.Sprintf("range %s%s excludes version %s in its history, and it has no pin", n.Filter, s.Run.Since(n.Number), s.Run.Model.Tested(in))
		case !s.Reads(n, in):
			why = "cannot read its history or a message"
		case s.missing(n, in) != "":
			why = "has no handler " + s.missing(n, in)
		}
		parts = append(parts, fmt.Sprintf("%s (%s) %s", s.Run.NodeName(n.Number), n.Build.Name(), why))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, "; ")
}
